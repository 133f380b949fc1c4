"""The available cores."""

from collections.abc import Callable

from amaranth.hdl import Signal
from amaranth.lib import wiring

from .picorv32 import PicoRv32
from .serv import Serv
from .vexriscv import VexRiscv

__all__ = ["make_core"]

_CORES: dict[str, Callable[..., wiring.Component]] = {
    "serv": Serv, "picorv32": PicoRv32, "vexriscv": VexRiscv,
}


def make_core(name: str, *, step: Signal | None = None) -> wiring.Component:
    """The core ``name`` of ``nic.processor``. Its members are those of :data:`types.CoreSide`;
    class attribute ``SPECULATES``: whether it fetches instructions, from anywhere, that are not
    executed. With ``step`` its clock is its domain's, and it sees the edges at the ends of cycles
    with ``edge`` and ``step``.

    Raises
    ------
    ValueError
        The core does not exist.
    """
    if name not in _CORES:
        raise ValueError(f"core must be 'serv', 'picorv32' or 'vexriscv', not {name!r}")
    return _CORES[name](step=step)
