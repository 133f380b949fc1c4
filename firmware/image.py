"""Firmware that has been built: its bytes, its symbols, where a program counter is in its source.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

__all__ = ["Image", "Line", "Symbol"]


ASSEMBLER = 0x8001
"""DW_LANG_Mips_Assembler: what DWARF calls all assembler."""


class Symbol(NamedTuple):
    """Where a function or object is in NIC memory, and its size in bytes."""

    address: int
    size: int


class Line(NamedTuple):
    """A line of the source, and the function that it belongs to."""

    function: str
    file: str
    number: int


@dataclass(frozen=True)
class Image:
    """Firmware ``name`` for a ``core`` with ``memory`` bytes of NIC memory.

    Attributes
    ----------
    code
        What is loaded at address 0: a multiple of 8 bytes.
    elf
        The ELF file with debug information.
    text, data, bss
        Bytes of instructions, of initialised data, and of what is cleared at start.
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
        """Bytes that are left for the stack and for ``take_memory``."""
        return self.memory - self.symbols["__free"].address

    @cached_property
    def symbols(self) -> dict[str, Symbol]:
        """Functions, objects and the linker's symbols, by name."""
        return {name: symbol for name, symbol, _ in self._read[0]}

    @property
    def parameters(self) -> dict[str, Symbol]:
        """What PARAMETER declared, by name."""
        symbols = self.symbols
        first, end = symbols["__parameters"].address, symbols["__parameters_end"].address
        return {name: symbol for name, symbol in symbols.items()
                if first <= symbol.address < end and symbol.size}

    def with_parameters(self, values: Mapping[str, int | Sequence[int]]) -> bytes:
        """The bytes to load, with parameters set.

        Raises
        ------
        ValueError
            There is no such parameter, or the value does not fit it.
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
    def _read(self) -> tuple[list[tuple[str, Symbol, bool]], list[tuple[int, str, int]]]:
        """Symbols (name, place, whether it is a function), and line table: where each line's
        instructions begin, by address; line 0 ends a sequence. Functions that the linker dropped
        have theirs at address 0, where there is nothing but the entry, in assembler."""
        from elftools.elf.elffile import ELFFile
        with open(self.elf, "rb") as stream:
            elf = ELFFile(stream)  # type: ignore[no-untyped-call]
            symbols = [
                (one.name, Symbol(one["st_value"], one["st_size"]),
                 one["st_info"]["type"] == "STT_FUNC")
                for one in elf.get_section_by_name(".symtab").iter_symbols()
                if one.name and one["st_shndx"] != "SHN_UNDEF"
                and one["st_info"]["type"] in ("STT_FUNC", "STT_OBJECT", "STT_NOTYPE")
                and not one.name.startswith((".L", "$"))]
            lines: list[tuple[int, str, int]] = []
            dwarf = elf.get_dwarf_info()
            for unit in dwarf.iter_CUs():
                program = dwarf.line_program_for_CU(unit)
                if program is None:
                    continue
                names = [entry.name.decode() for entry in program["file_entry"]]
                folders = [entry.decode() for entry in program["include_directory"]]
                paths = [_path(folders, entry.dir_index, name, program["version"])
                         for entry, name in zip(program["file_entry"], names, strict=True)]
                first = 0 if program["version"] >= 5 else 1
                assembler = unit.get_top_DIE().attributes["DW_AT_language"].value == ASSEMBLER
                sequence: list[tuple[int, str, int]] = []
                for entry in program.get_entries():
                    state = entry.state
                    if state is None:
                        continue
                    end = state.end_sequence
                    sequence.append((state.address, "" if end else paths[state.file - first],
                                     0 if end else state.line))
                    if end:
                        if assembler or sequence[0][0]:
                            lines += sequence
                        sequence = []
        lines.sort(key=lambda line: (line[0], line[2] != 0))
        return symbols, lines

    @cached_property
    def _functions(self) -> tuple[list[int], list[tuple[str, Symbol]]]:
        found = sorted(((symbol, name) for name, symbol, function in self._read[0] if function))
        return [symbol.address for symbol, _ in found], [(name, symbol) for symbol, name in found]

    @cached_property
    def _addresses(self) -> list[int]:
        return [line[0] for line in self._read[1]]

    def function(self, pc: int) -> tuple[str, int] | None:
        """The function that ``pc`` is in, and how far from its beginning."""
        addresses, functions = self._functions
        at = bisect_right(addresses, pc) - 1
        if at < 0:
            return None
        name, symbol = functions[at]
        return (name, pc - symbol.address) if pc < symbol.address + max(symbol.size, 4) else None

    def line(self, pc: int) -> Line | None:
        """The line of source that ``pc`` belongs to."""
        at = bisect_right(self._addresses, pc) - 1
        found = self.function(pc)
        if at < 0 or found is None:
            return None
        _, file, number = self._read[1][at]
        return Line(found[0], file, number) if number else None

    def lookup(self, pc: int) -> str:
        """``pc`` in words: ``main+0x14 (firmware/am/main.c:77)``."""
        found = self.function(pc)
        if found is None:
            inside = 0 <= pc < self.memory
            return "no function is there" if inside else "outside NIC memory"
        line = self.line(pc)
        place = f"{found[0]}+{found[1]:#x}"
        return f"{place} ({line.file}:{line.number})" if line else place


def _path(folders: list[str], index: int, name: str, version: int) -> str:
    """Of a line table's file; a folder of index 0 is the compiler's own before version 5."""
    if version < 5:
        if index == 0:
            return name
        index -= 1
    folder = folders[index] if index < len(folders) else ""
    return name if name.startswith("/") or folder in ("", ".") else f"{folder}/{name}"
