"""Finds the line of a program's sources for an address of its library, by its debug information."""

import re
from pathlib import Path
from typing import Any

__all__ = ["line_of", "told"]

_PLACE = re.compile(r" \[(?P<library>[^\]]+?)(?P<places>(\+0x[0-9a-f]+)+)\]")
_HERE = Path(__file__).resolve().parent


def line_of(library: Path, *places: int) -> str | None:
    """``FILE:LINE`` of the first of ``places``, bytes of the library's memory, that is in the
    program's own sources; None where nothing says it."""
    from elftools.common.exceptions import DWARFError, ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with library.open("rb") as file:
            elf = ELFFile(file)
            if not elf.has_dwarf_info():
                return None
            dwarf = elf.get_dwarf_info()
            units = [dwarf.line_program_for_CU(unit) for unit in dwarf.iter_CUs()]
            for at in places:
                found = next(filter(None, (_in(unit, at) for unit in units)), None)
                if found is not None and not _beneath(found[0]):
                    return f"{found[0].name}:{found[1]}"
    except (OSError, ELFError, DWARFError):
        pass
    return None


def _in(lines: Any, at: int) -> tuple[Path, int] | None:
    before = None
    for entry in lines.get_entries() if lines is not None else ():
        state = entry.state
        if state is None:
            continue
        if before is not None and before.address <= at < state.address:
            return _file(lines, before.file), before.line
        before = None if state.end_sequence else state
    return None


def _file(lines: Any, number: int) -> Path:
    first = 1 if lines.header.version < 5 else 0
    entry = lines["file_entry"][number - first]
    folders = lines["include_directory"]
    folder = folders[entry.dir_index - first] if entry.dir_index >= first else b""
    return Path(folder.decode(errors="replace")) / entry.name.decode(errors="replace")


def _beneath(file: Path) -> bool:
    """Whether the file is beneath the program: nicbed's, or of the compiler's libraries."""
    return (file.resolve().parent == _HERE or "ziglang" in file.parts
            or file.with_name("nicbed_profiling.h").exists())


def told(line: str) -> str:
    """``line``, which the end of a process left (runtime.c), with the source's line in place of
    addresses."""
    found = _PLACE.search(line)
    if found is None:
        return line
    place = line_of(Path(found["library"]),
                    *(int(one, 16) for one in found["places"].split("+")[1:]))
    return line[:found.start()] + (f", at {place}" if place else "") + line[found.end():]
