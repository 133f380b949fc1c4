"""The cores to choose from."""

from collections.abc import Callable

from amaranth.lib import wiring

from .picorv32 import PicoRv32
from .serv import Serv
from .vexriscv import VexRiscv

__all__ = ["make_core"]

_CORES: dict[str, Callable[[], wiring.Component]] = {
    "serv": Serv, "picorv32": PicoRv32, "vexriscv": VexRiscv,
}


def make_core(name: str) -> wiring.Component:
    """The core ``name`` of ``nic.processor``. Its members are those of :data:`types.CoreSide`;
    class attribute ``SPECULATES``: whether it fetches instructions, from anywhere, that are not
    executed.

    Raises
    ------
    ValueError
        There is no such core.
    """
    if name not in _CORES:
        raise ValueError(f"core must be 'serv', 'picorv32' or 'vexriscv', not {name!r}")
    return _CORES[name]()
