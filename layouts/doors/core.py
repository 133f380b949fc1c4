"""A core of the NIC processor: what a user writes to plug one in."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amaranth.lib import wiring

__all__ = ["Core"]

_ISA = re.compile(r"generic_rv32(\+\w+)*")
_MODULE = re.compile(r"[A-Za-z_]\w*")
MOST_CYCLES = 1000


@dataclass(frozen=True)
class Core:
    """A core of the NIC processor, by its name in ``nic.processor``: a riscv32.

    Attributes
    ----------
    name
        Small letters, digits, underscores.
    title
        One line for ``nicbed list``.
    isa
        Instruction set for which firmware is compiled: the compiler's ``-mcpu``, "generic_rv32+m".
    module
        The module in Verilog that the component instantiates; by
        :func:`nicbed.rtl.processor.core.enabled_core.core_instance`, so that boards get the one
        with a clock enable, which is made of it.
    files
        Called, gives the core's sources in Verilog: the module and all below it.
    build
        Called with ``step``, gives the core: a component with the members of
        :data:`nicbed.rtl.processor.types.CoreSide`. Or "module:Class".
    text
        Called with the text of the files, gives what is compiled in their place: with an output for
        the program counter, say. None: the text is taken as it is.
    version
        Called, gives a text that changes where the core does. None: a hash of the files.
    traps
        It has machine-mode traps: firmware gets a trap handler, and the instructions for CSRs
        (zicsr), by which an exception is a crash that is told with its cause.
    speculates
        It may fetch instructions that it does not execute, from anywhere.
    cycles
        An instruction takes about so many: the functional target's rate.

    Raises
    ------
    ValueError
        ``isa``, ``module`` or ``cycles`` is wrong.
    """

    name: str
    title: str
    isa: str
    module: str
    files: Callable[[], tuple[Path, ...]]
    build: "Callable[..., wiring.Component] | str"
    text: Callable[[str], str] | None = None
    version: Callable[[], str] | None = None
    traps: bool = False
    speculates: bool = False
    cycles: int = 4

    def __post_init__(self) -> None:
        if not _ISA.fullmatch(str(self.isa)):
            raise ValueError(f"isa = {self.isa!r}: must be generic_rv32 with extensions, such as "
                             "generic_rv32+m")
        if not _MODULE.fullmatch(str(self.module)):
            raise ValueError(f"module = {self.module!r}: must be the name of a module in Verilog")
        if not isinstance(self.cycles, int) or not 1 <= self.cycles <= MOST_CYCLES:
            raise ValueError(f"cycles = {self.cycles!r}: must be 1 to {MOST_CYCLES}")

    @property
    def revision(self) -> str:
        """A text that changes where the core does.

        Raises
        ------
        OSError
            A file cannot be read.
        """
        if self.version is not None:
            return self.version()
        return hashlib.sha256(b"\0".join(file.read_bytes() for file in self.files())).hexdigest()
