"""A core of the NIC processor: what a user writes to plug one in."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amaranth.lib import wiring

__all__ = ["Core"]


@dataclass(frozen=True)
class Core:
    """A core of the NIC processor, by its name in ``nic.processor``.

    Attributes
    ----------
    name
        Small letters, digits, underscores.
    title
        One line for ``nicbed list``.
    isa
        Instruction set for which firmware is compiled: the compiler's ``-mcpu``.
    build
        Called with ``step``, gives the core: a component with the members of CoreSide (bus, irq,
        trap, sleep). Or "module:Class".
    files
        Called, gives the core's sources in Verilog.
    version
        Called, gives a text that changes where the core does.
    """

    name: str
    title: str
    isa: str
    build: "Callable[..., wiring.Component] | str"
    files: Callable[[], tuple[Path, ...]]
    version: Callable[[], str]
