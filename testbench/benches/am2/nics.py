"""Bandwidth by number of NICs over Active Messages II: a process for each NIC."""

from typing import Any

from ....host.endpoint import Exchange
from ....layouts.description import Description
from ...errors import UserError
from ...wording import counted
from ..benchmark import Tell
from ..common.processes import Processes
from ..common.programs import on, programs
from ..load.cells import count_of
from ..load.every_nic import SINK, SOURCE
from ..load.nics import Nics, NicsParameters
from ..load.traffic import Meeting, Times, sent_again, take_part

__all__ = ["Am2Nics"]


class Am2Nics(Nics):
    """Process k of node 0, whose NIC is NIC k, sends to process k of node 1."""

    def parameters(self, description: Description) -> NicsParameters:
        """The same, for as many NICs as there are processes."""
        found = super().parameters(description)
        most = min(description.node.nics, description.node.cpus)
        return NicsParameters(list(range(1, most + 1)), found.sizes, found.bytes)

    async def measure(self, lab: Any, layer: str, parameters: NicsParameters, tell: Tell
                      ) -> dict[str, Any]:
        """A run a size and number of NICs."""
        if lab.description.am2.protocol == "shared":
            raise UserError("nics is of messages between nodes: it needs am2.protocol = network or "
                            "both")
        steps = [(size, nics) for size in parameters.sizes for nics in parameters.nics]
        runs: dict[tuple[int, int], Any] = {}
        for index, (size, nics) in enumerate(steps):
            tell(f"{counted(nics, 'NIC')}, {size} bytes", index, len(steps))
            runs[size, nics] = await _measure(lab, layer, size, count_of(size, parameters.bytes),
                                              nics)
        return {"runs": runs}


async def _measure(lab: Any, layer: str, size: int, count: int, nics: int) -> dict[str, Any]:
    """As of :func:`..load.every_nic.measure_nics`."""
    seen = Processes(lab, [(node, cpu) for node in (SOURCE, SINK) for cpu in range(nics)])
    make = on(layer, Exchange(size, count, {nic: [nics + nic] for nic in range(nics)}))
    begin, end = Meeting(2 * nics), Meeting(2 * nics)

    async def program(node: Any) -> Any:
        side = make(node)
        times = Times(side)
        return await take_part(side, begin, end), times.arrived

    run = await seen.run(programs(seen, dict.fromkeys(range(2 * nics), program)), trace=True)
    return {"begin": {nic: run.results[nic][0][0] for nic in range(nics)},
            "arrived": {(nic, nic, 0): [one[0] for one in
                                        run.results[nics + nic][1][nic, nics + nic, 0]]
                        for nic in range(nics)},
            **sent_again(run), "events": seen.traced}
