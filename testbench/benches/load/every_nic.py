"""Traffic over several NICs of a node at once: a talker for each NIC, on the CPU that the NIC
interrupts."""

from collections.abc import Callable, Sequence
from typing import Any

from ....host.port.node import Node
from ..common.programs import programs
from .traffic import Flow, Meeting, Plan, Spin, Talker, sent_again, take_part, talker_on

__all__ = ["Several", "measure_nics"]

SOURCE, SINK = 0, 1
OPEN = 4
"""Most stores of Active Messages under way on a NIC. The layer sends what was begun before it looks
at anything else: with more, a CPU would serve one NIC after the other."""


class Several:
    """The talkers of a CPU with several NICs, as one: messages go over them in turn, and all are
    looked at in turn."""

    def __init__(self, talkers: Sequence[Talker]) -> None:
        self._talkers = talkers

    async def open(self) -> None:
        for talker in self._talkers:
            await talker.open()

    async def send(self, peer: int) -> None:
        for talker in self._talkers:
            await talker.send(peer)

    async def look(self) -> None:
        for talker in self._talkers:
            await talker.look()

    def over(self) -> bool:
        return all(talker.over() for talker in self._talkers)

    async def finish(self) -> None:
        await self._spin(self.over)

    async def idle(self, cycles: int) -> None:
        first, *others = self._talkers
        await first.idle(cycles)
        for talker in others:
            await talker.look()

    async def leave(self, spin: Spin) -> None:
        for talker in self._talkers:
            await talker.leave(spin)

    async def close(self, spin: Spin | None = None) -> None:
        await self.leave(self._spin)
        for talker in self._talkers:
            await talker.close(self._spin)

    async def _spin(self, condition: Callable[[], Any] | None = None) -> None:
        while True:
            await self.look()
            if condition is None or condition():
                return


async def measure_nics(lab: Any, layer: str, size: int, count: int, nics: int) -> dict[str, Any]:
    """``count`` messages of ``size`` bytes from node 0 to node 1 over each of the first ``nics``
    NICs, all at once, from reset, traced. As of :func:`.traffic.measure_traffic`, where flow
    (k, k, 0) is NIC k's."""
    description = lab.description
    every, cpus = description.node.nics, description.node.cpus
    plan = Plan(size, count, {SOURCE: [SINK]}, open=OPEN)
    users = min(cpus, nics)
    begin, end = Meeting(2 * users), Meeting(2 * users)

    async def program(cpu: Node) -> Any:
        mine = range(cpu.cpu, nics, cpus)
        talkers = [talker_on(layer, cpu.nic(nic, [nic, every + nic]), plan) for nic in mine]
        talker = talkers[0] if len(talkers) == 1 else Several(talkers)
        began = await take_part(talker, cpu, plan, begin, end)
        return began, {nic: one.arrived.get((SOURCE, SINK, 0), [])
                       for nic, one in zip(mine, talkers, strict=True)}

    each = [program] * users + [None] * (cpus - users)
    run = await lab.run(programs(description.fabric.nodes, {SOURCE: each, SINK: each}), trace=True)
    begins: dict[int, int] = {}
    arrived: dict[Flow, list[int]] = {}
    for cpu in range(users):
        (began, _), (_, times) = run.results[SOURCE][cpu], run.results[SINK][cpu]
        for nic, one in times.items():
            begins[nic] = began[0]
            arrived[nic, nic, 0] = [reading[0] for reading in one]
    return {"begin": begins, "arrived": arrived, **sent_again(run), "events": run.events}
