"""Many VIs at once, receives posted ahead, as a job for a lab of a NIC with a VI engine."""

from typing import Any

from nicbed.layouts.trace import Block, Kind

from tests.programs.via_ideal_jobs import READY, End

LIMIT = 4_000_000


async def many(lab: Any, *, runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Runs in one simulator, each of :func:`one`'s arguments."""
    return [await one(lab, **run) for run in runs]


async def one(lab: Any, *, vis: int, count: int, length: int, level: int, timeout: int,
              both: bool = False) -> dict[str, Any]:
    """``count`` messages of ``length`` bytes on each of ``vis`` VIs of node 0, or of both nodes:
    cycles from the first packet that lands on node 1 to the last, cycles up to each VI's last, the
    packets, and those that were sent again."""
    ends: dict[int, End] = {}

    async def program(node: Any) -> None:
        end = ends[node.number] = await End(node, vis, count, length, level).open()
        if both or node.number == 0:
            await end.ring_all()
        if both or node.number == 1:
            await end.received()

    run = await lab.run([program, program], trace=True, limit=READY + LIMIT,
                        settings={"via.retry_timeout": timeout})
    # A descriptor's trace number is its place in the order in which they were made.
    of = {number: place // count for place, number in enumerate(ends[0].numbers)}
    landed: dict[int, list[int]] = {vi: [] for vi in range(vis)}
    for event in run.events:
        if (event.block == Block.VI_RECEIVE and event.kind == Kind.END and event.node == 1
                and event.cycle > READY and event.number in of):
            landed[of[event.number]].append(event.cycle)
    every = sorted(cycle for cycles in landed.values() for cycle in cycles)
    return {"cycles": every[-1] - every[0], "packets": len(every),
            "ends": [cycles[-1] - every[0] for cycles in landed.values()],
            "again": run.again.total()}
