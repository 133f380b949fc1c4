"""A built firmware: its bytes, its symbols, and the source line of a program counter."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from .debug import Debug, read_debug, read_symbols

__all__ = ["Image", "Line", "Symbol"]


class Symbol(NamedTuple):
    """Address and size (bytes) of a function or object in NIC memory."""

    address: int
    size: int


class Line(NamedTuple):
    """A source line, and the function that contains it."""

    function: str
    file: str
    number: int


@dataclass(frozen=True)
class Image:
    """Firmware ``name`` for a ``core`` with ``memory`` bytes of NIC memory.

    Attributes
    ----------
    code
        The bytes to load at address 0; their number is a multiple of 8.
    elf
        The ELF file with debug information.
    text, data, bss
        Bytes of instructions, of initialised data, and of memory that is cleared at start.
    """

    name: str
    core: str
    memory: int
    code: bytes = field(repr=False)
    elf: Path = field(repr=False)
    text: int
    data: int
    bss: int

    @property
    def stack(self) -> int:
        """Bytes left for the stack and for ``take_memory``."""
        return self.memory - self.symbols["__free"].address

    @cached_property
    def symbols(self) -> dict[str, Symbol]:
        """Functions, objects and the linker's symbols, by name."""
        return {name: Symbol(address, size) for name, address, size, _ in self._symbols}

    @property
    def parameters(self) -> dict[str, Symbol]:
        """The objects declared with PARAMETER, by name."""
        symbols = self.symbols
        first, end = symbols["__parameters"].address, symbols["__parameters_end"].address
        return {name: symbol for name, symbol in symbols.items()
                if first <= symbol.address < end and symbol.size}

    def with_parameters(self, values: Mapping[str, int | Sequence[int]]) -> bytes:
        """The bytes to load, with parameters set.

        Raises
        ------
        ValueError
            The parameter does not exist, or the value does not fit it.
        """
        code = bytearray(self.code)
        known = self.parameters
        for name, value in values.items():
            if name not in known:
                raise ValueError(f"firmware {self.name} has no parameter {name!r}; there are "
                                 f"{', '.join(sorted(known))}")
            words = [value] if isinstance(value, int) else list(value)
            address, size = known[name]
            if 8 * len(words) > size or not all(0 <= word < 1 << 64 for word in words):
                raise ValueError(f"parameter {name} of firmware {self.name} takes up to "
                                 f"{size // 8} numbers of 64 bits, not {value!r}")
            for at, word in enumerate(words):
                code[address + 8 * at:address + 8 * at + 8] = word.to_bytes(8, "little")
        return bytes(code)

    @cached_property
    def _symbols(self) -> list[tuple[str, int, int, bool]]:
        return read_symbols(self.elf)

    @cached_property
    def _debug(self) -> Debug:
        return read_debug(self.elf)

    @cached_property
    def _functions(self) -> tuple[list[int], list[tuple[str, Symbol]]]:
        found = sorted((Symbol(address, size), name)
                       for name, address, size, function in self._symbols if function)
        return [symbol.address for symbol, _ in found], [(name, symbol) for symbol, name in found]

    @cached_property
    def _addresses(self) -> list[int]:
        return [line[0] for line in self._debug.lines]

    def function(self, pc: int) -> tuple[str, int] | None:
        """The function that contains ``pc``, and the offset of ``pc`` in it."""
        addresses, functions = self._functions
        at = bisect_right(addresses, pc) - 1
        if at < 0:
            return None
        name, symbol = functions[at]
        return (name, pc - symbol.address) if pc < symbol.address + max(symbol.size, 4) else None

    def line(self, pc: int) -> Line | None:
        """The source line of ``pc``."""
        at = bisect_right(self._addresses, pc) - 1
        found = self.function(pc)
        if at < 0 or found is None:
            return None
        _, file, number = self._debug.lines[at]
        return Line(found[0], file, number) if number else None

    def own_line(self, pc: int) -> Line | None:
        """The source line of ``pc``; for inlined code, the line in its own function that calls
        it."""
        around = [call for call in self._debug.calls if call.first <= pc < call.end]
        found = self.line(pc)
        if found is None or not around:
            return found
        outermost = min(around, key=lambda call: call.depth)
        return Line(found.function, outermost.file, outermost.line)

    def owner(self, pc: int) -> Line | None:
        """The innermost function outside the runtime that contains ``pc``, inlined or not, and the
        line of it that ``pc`` belongs to: the line itself, or the line of the call."""
        found = self.line(pc)
        if found is None:
            return None
        calls = sorted((call for call in self._debug.calls if call.first <= pc < call.end),
                       key=lambda call: call.depth)
        names = [found.function, *(call.name for call in calls)]
        places = [*((call.file, call.line) for call in calls), (found.file, found.number)]
        own = [(name, *place) for name, place in zip(names, places, strict=True)
               if "runtime/" not in place[0]]
        return Line(*(own[-1] if own else (names[0], *places[0])))

    def lookup(self, pc: int) -> str:
        """``pc`` in words: ``main+0x14 (firmware/am/main.c:77)``; in inlined code ``main+0x14
        (firmware/am/main.c:77, firmware/runtime/nic.h:51)``."""
        found = self.function(pc)
        if found is None:
            inside = 0 <= pc < self.memory
            return "no function is there" if inside else "outside NIC memory"
        place = f"{found[0]}+{found[1]:#x}"
        line, own = self.line(pc), self.own_line(pc)
        if line is None or own is None:
            return place
        inner = f", {line.file}:{line.number}" if line != own else ""
        return f"{place} ({own.file}:{own.number}{inner})"
