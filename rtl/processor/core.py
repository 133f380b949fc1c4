"""The cores to choose from."""

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .types import CoreBus

__all__ = ["CoreSide", "make_core"]

CoreSide = wiring.Signature({
    "clk": In(1),
    "edge": In(1),
    "reset": In(1),
    "bus": Out(CoreBus),
    "pc": Out(32),
    "trap": Out(1),
})
"""A core's members: its clock, which rises at the end of the cycles with ``edge``;
its reset, for as many edges as it likes; its bus; the address of the instruction in execution, as
well as it is known; whether it has stopped by itself. Outputs mean nothing until it was reset."""


def make_core(name: str) -> wiring.Component:
    """The core ``name`` of ``nic.processor``. Its members are those of :data:`CoreSide`; class
    attribute ``SPECULATES``: whether it fetches instructions, from anywhere, that are not executed.

    Raises
    ------
    ValueError
        There is no such core.
    """
    if name == "picorv32":
        from .picorv32 import PicoRv32
        return PicoRv32()
    if name == "serv":
        from .serv import Serv
        return Serv()
    if name == "vexriscv":
        from .vexriscv import VexRiscv
        return VexRiscv()
    raise ValueError(f"core must be 'serv', 'picorv32' or 'vexriscv', not {name!r}")
