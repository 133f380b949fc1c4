"""Makes the core that ``nic.processor`` names."""

from collections.abc import Iterator

from amaranth.hdl import Signal
from amaranth.lib import wiring

from ....layouts.doors import CORES
from ....layouts.doors.lazy import resolved
from ....layouts.errors import UserError
from ...parts.verilog_modules import add_module
from ..types import CoreSide
from .enabled_core import SUFFIX, checked_step
from .verilog import core_verilog

__all__ = ["make_core"]


def make_core(name: str, *, step: Signal | None = None) -> wiring.Component:
    """The core ``name`` of ``nic.processor``. Its members are those of :data:`types.CoreSide`. With
    ``step`` its clock is its domain's, and it sees the edges at the ends of cycles with ``edge``
    and ``step``. Its Verilog is made known.

    Raises
    ------
    UserError
        There is no such core, it is no component with these members, or its Verilog is wrong.
    """
    core = CORES.get(name)
    checked_step(step)
    made = resolved(core.build)(step=step)
    if not isinstance(made, wiring.Component):
        raise UserError(f"core {core.name}: build gives {type(made).__name__}, no component")
    wrong = next(_differences(made.signature), None)
    if wrong:
        raise UserError(f"core {core.name}: {wrong} (rtl/processor/types.py, CoreSide)")
    add_module(core.module, core_verilog(core))
    if step is not None:
        add_module(core.module + SUFFIX, core_verilog(core, enabled=True))
    return made


def _differences(signature: wiring.Signature) -> Iterator[str]:
    """Lines on what the members of ``signature`` have not, or have too much, of CoreSide."""
    given, wanted = signature.members, CoreSide.members
    for name in wanted:
        if name not in given:
            yield f"the component has no member {name}"
        elif given[name] != wanted[name]:
            yield f"member {name} is {given[name]!r}: must be {wanted[name]!r}"
    for name in given:
        if name not in wanted:
            yield f"the component has a member {name}, which nothing drives or reads"
