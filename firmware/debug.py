"""Symbols and debug information of an ELF file, as far as reports of a place need them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Call", "Debug", "read_debug", "read_symbols"]

ASSEMBLER = 0x8001
"""DW_LANG_Mips_Assembler: DWARF's language code of all assembler."""


class Call(NamedTuple):
    """Instructions of an inlined function, the place of its call, and its name."""

    first: int
    end: int
    depth: int
    file: str
    line: int
    name: str


class Debug(NamedTuple):
    """Source lines of the instructions of an ELF file.

    Attributes
    ----------
    lines
        First address, file and line of each stretch of instructions, ordered by address. Line 0
        ends a stretch.
    calls
        Inlined functions.
    """

    lines: list[tuple[int, str, int]]
    calls: list[Call]


def read_symbols(elf: Path) -> list[tuple[str, int, int, bool]]:
    """Name, address and size of each symbol, and whether it is a function."""
    from elftools.elf.elffile import ELFFile
    with open(elf, "rb") as stream:
        file = ELFFile(stream)  # type: ignore[no-untyped-call]
        return [
            (one.name, one["st_value"], one["st_size"], one["st_info"]["type"] == "STT_FUNC")
            for one in file.get_section_by_name(".symtab").iter_symbols()
            if one.name and one["st_shndx"] != "SHN_UNDEF"
            and one["st_info"]["type"] in ("STT_FUNC", "STT_OBJECT", "STT_NOTYPE")
            and not one.name.startswith((".L", "$"))]


def read_debug(elf: Path) -> Debug:
    """Debug information of all code that the linker kept. Lines of dropped code are at address 0,
    where only the entry is, in assembler."""
    from elftools.elf.elffile import ELFFile
    lines: list[tuple[int, str, int]] = []
    calls: list[Call] = []
    with open(elf, "rb") as stream:
        file = ELFFile(stream)  # type: ignore[no-untyped-call]
        dwarf = file.get_dwarf_info()
        for unit in dwarf.iter_CUs():
            program = dwarf.line_program_for_CU(unit)
            if program is None:
                continue
            top = unit.get_top_DIE()
            files = _files(program)
            assembler = top.attributes["DW_AT_language"].value == ASSEMBLER
            lines += _lines(program, files, assembler)
            calls += _calls(dwarf, unit, top, files, 0)
    lines.sort(key=lambda line: (line[0], line[2] != 0))
    return Debug(lines, calls)


def _files(program: Any) -> dict[int, str]:
    """File names of a line table, by number. Folder 0 is the compiler's own before version 5, and
    numbers begin with 1."""
    old = program["version"] < 5
    folders = [entry.decode() for entry in program["include_directory"]]
    found = {}
    for number, entry in enumerate(program["file_entry"], 1 if old else 0):
        at = entry.dir_index - (1 if old else 0)
        folder = folders[at] if 0 <= at < len(folders) else ""
        name = entry.name.decode()
        found[number] = (name if name.startswith("/") or folder in ("", ".")
                         else f"{folder}/{name}")
    return found


def _lines(program: Any, files: dict[int, str], at_zero: bool) -> Iterator[tuple[int, str, int]]:
    """Lines by address. The compiler uses line 0 for code without a line: it is assigned to the
    line before."""
    sequence: list[tuple[int, str, int]] = []
    for entry in program.get_entries():
        state = entry.state
        if state is None or not state.line and not state.end_sequence:
            continue
        end = state.end_sequence
        sequence.append((state.address, "", 0) if end
                        else (state.address, files[state.file], state.line))
        if end:
            if at_zero or sequence[0][0]:
                yield from sequence
            sequence = []


def _calls(dwarf: Any, unit: Any, die: Any, files: dict[int, str], depth: int) -> Iterator[Call]:
    for child in die.iter_children():
        inlined = child.tag == "DW_TAG_inlined_subroutine"
        if inlined:
            attributes = child.attributes
            file = files[attributes["DW_AT_call_file"].value]
            line = attributes["DW_AT_call_line"].value
            origin = child.get_DIE_from_attribute("DW_AT_abstract_origin")
            name = origin.attributes["DW_AT_name"].value.decode()
            for first, end in _ranges(dwarf, unit, attributes):
                yield Call(first, end, depth, file, line, name)
        yield from _calls(dwarf, unit, child, files, depth + inlined)


def _ranges(dwarf: Any, unit: Any, attributes: Any) -> list[tuple[int, int]]:
    if "DW_AT_low_pc" in attributes:
        first = attributes["DW_AT_low_pc"].value
        size = attributes["DW_AT_high_pc"]
        end = size.value if size.form == "DW_FORM_addr" else first + size.value
        return [(first, end)] if first else []
    if "DW_AT_ranges" not in attributes:
        return []
    found = dwarf.range_lists().get_range_list_at_offset(attributes["DW_AT_ranges"].value, unit)
    return [(entry.begin_offset, entry.end_offset) for entry in found
            if hasattr(entry, "begin_offset") and entry.begin_offset < entry.end_offset]
