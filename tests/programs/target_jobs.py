"""Jobs for the whole target: what back ends and options are held against each other with."""

import asyncio
from typing import Any

from nicbed.host.am.gam import Gam
from nicbed.testbench.lab import Lab, Run
from nicbed.testbench.speed.workloads import SETTINGS, WORKLOADS


def exchange(requests: int, words: int, step: int) -> Any:
    """Each node requests of its neighbour, computing in between; returns what its handlers saw."""
    async def program(node: Any) -> list[Any]:
        seen: list[Any] = []

        def on_reply(am: Any, source: int, *args: int) -> None:
            seen.append(("reply", source, args))

        async def on_request(am: Any, source: int, *args: int) -> None:
            seen.append(("request", source, args))
            await am.reply(1, *args)

        gam = Gam(node, [on_request, on_reply])
        await gam.enable()
        peer = node.number ^ 1
        for n in range(requests):
            await gam.request(peer, 0, *(n + w for w in range(words)))
            if step:
                await node.port.delay(step * (1 + (n + node.number) % 3))
        while len(seen) < 2 * requests:
            await gam.poll()
        await gam.disable()
        return [seen, await node.port.flush()]
    return program


def as_rows(run: Run) -> dict[str, Any]:
    """All of a run."""
    return {"cycles": run.cycles, "results": run.results, "events": run.events,
            "marks": run.marks, "wakes": run.wakes, "counters": run.counters}


async def exchanges(lab: Lab, requests: int = 10, words: int = 2, step: int = 50, runs: int = 1,
                    **options: Any) -> list[dict[str, Any]]:
    """The exchange, ``runs`` times over."""
    programs = [exchange(requests, words, step) for _ in range(lab.description.fabric.nodes)]
    return [as_rows(await lab.run(programs, **options)) for _ in range(runs)]


async def pairs_over_via(lab: Lab, until: int = 15_000) -> list[dict[str, Any]]:
    """8-byte messages on a VI between the nodes of each pair, to and fro, then one way; traced."""
    return [as_rows(await lab.run([WORKLOADS["via"][name](until)] * lab.description.fabric.nodes,
                                  settings=SETTINGS, trace=True))
            for name in ("ping-pong", "stream")]


async def foreign(lab: Lab) -> None:
    """Awaits what is no operation."""
    await asyncio.sleep(0)
