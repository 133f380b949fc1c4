"""Traffic over several NICs of a node at once: an endpoint for each NIC, on the CPU that the NIC
interrupts."""

from collections.abc import Callable, Sequence
from typing import Any

from ....host.endpoint import Endpoint, Exchange, Flow, Spin
from ....host.port.node import Node
from ..common.programs import on, programs
from .traffic import Meeting, Times, sent_again, take_part

__all__ = ["Several", "measure_nics"]

SOURCE, SINK = 0, 1
OPEN = 4
"""Most stores of Active Messages under way on a NIC. The layer sends what was begun before it looks
at anything else: with more, a CPU would serve one NIC after the other."""


class Several(Endpoint):
    """The endpoints of a CPU with several NICs, as one: messages go over them in turn, and all are
    looked at in turn."""

    def __init__(self, sides: Sequence[Endpoint]) -> None:
        super().__init__(sides[0].node, sides[0].exchange)
        self._sides = sides

    async def open(self) -> None:
        for side in self._sides:
            await side.open()

    async def send(self, peer: int, stream: int = 0) -> None:
        for side in self._sides:
            await side.send(peer, stream)

    async def poll(self) -> None:
        for side in self._sides:
            await side.poll()

    def over(self) -> bool:
        return all(side.over() for side in self._sides)

    async def finish(self) -> None:
        await self._spin(self.over)

    async def idle(self, cycles: int) -> None:
        first, *others = self._sides
        await first.idle(cycles)
        for side in others:
            await side.poll()

    async def leave(self, spin: Spin) -> None:
        for side in self._sides:
            await side.leave(spin)

    async def close(self, spin: Spin | None = None) -> None:
        await self.leave(self._spin)
        for side in self._sides:
            await side.close(self._spin)

    async def _spin(self, condition: Callable[[], Any] | None = None) -> None:
        while True:
            await self.poll()
            if condition is None or condition():
                return


async def measure_nics(lab: Any, layer: str, size: int, count: int, nics: int) -> dict[str, Any]:
    """``count`` messages of ``size`` bytes from node 0 to node 1 over each of the first ``nics``
    NICs, all at once, from reset, traced. As of :func:`.traffic.measure_traffic`, where flow
    (k, k, 0) is NIC k's."""
    description = lab.description
    every, cpus = description.node.nics, description.node.cpus
    make = on(layer, Exchange(size, count, {SOURCE: [SINK]}, open=OPEN))
    users = min(cpus, nics)
    begin, end = Meeting(2 * users), Meeting(2 * users)

    async def program(cpu: Node) -> Any:
        mine = range(cpu.cpu, nics, cpus)
        sides = [make(cpu.nic(nic, [nic, every + nic])) for nic in mine]
        times = [Times(side) for side in sides]
        began = await take_part(sides[0] if len(sides) == 1 else Several(sides), begin, end)
        return began, {nic: one.arrived.get((SOURCE, SINK, 0), [])
                       for nic, one in zip(mine, times, strict=True)}

    each = [program] * users + [None] * (cpus - users)
    run = await lab.run(programs(lab, {SOURCE: each, SINK: each}), trace=True)
    begins: dict[int, int] = {}
    arrived: dict[Flow, list[int]] = {}
    for cpu in range(users):
        (began, _), (_, times) = run.results[SOURCE][cpu], run.results[SINK][cpu]
        for nic, one in times.items():
            begins[nic] = began[0]
            arrived[nic, nic, 0] = [reading[0] for reading in one]
    return {"begin": begins, "arrived": arrived, **sent_again(run), "events": run.events}
