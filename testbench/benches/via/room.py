"""Counts the VIs for which there is room: those of the description, or, where firmware keeps them,
as many as NIC memory holds."""

from collections.abc import Iterable
from typing import Any

from ....host.port.node import Node
from ....host.via.session import Session
from ..common.programs import programs

__all__ = ["fitting"]


async def fitting(lab: Any, levels: Iterable[int], what: str = "VIs") -> list[int]:
    """The numbers of VIs among ``levels`` that fit. A line on standard error says which do not.

    The firmware alone knows how many: it is asked in a run of its own, which is not measured.
    """
    wanted, description = list(levels), lab.description
    if description.via.design != "firmware":
        return wanted

    async def program(node: Node) -> int:
        party = Session(node)
        await party.open()
        return party.sound("VipQueryNic", await party.vipl.VipQueryNic(party.nic)).max_vis

    run = await lab.run(programs(lab, {0: program}))
    room = run.results[0]
    out = [count for count in wanted if count > room]
    if out:
        lab.say(f"the VIs of firmware via are in NIC memory: processor.memory = "
                f"{description.processor.memory} has room for {room} of them; left out: "
                f"{', '.join(map(str, out))} {what}")
    return [count for count in wanted if count <= room]
