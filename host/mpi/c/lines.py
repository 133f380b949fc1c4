"""Where in a program's sources an address of its library is, by its debug information."""

import re
from pathlib import Path
from typing import Any

__all__ = ["line_of", "told"]

_PLACE = re.compile(r" \[(?P<library>[^\]]+)\+0x(?P<at>[0-9a-f]+)\]")


def line_of(library: Path, at: int) -> str | None:
    """``FILE:LINE`` of byte ``at`` of the library's memory; None where nothing says it."""
    from elftools.common.exceptions import DWARFError, ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with library.open("rb") as file:
            elf = ELFFile(file)
            if not elf.has_dwarf_info():
                return None
            dwarf = elf.get_dwarf_info()
            for unit in dwarf.iter_CUs():
                found = _in(dwarf.line_program_for_CU(unit), at)
                if found is not None:
                    return found
    except (OSError, ELFError, DWARFError):
        pass
    return None


def _in(lines: Any, at: int) -> str | None:
    before: Any = None
    if lines is None:
        return None
    for entry in lines.get_entries():
        state = entry.state
        if state is None:
            continue
        if before is not None and before.address <= at < state.address:
            first = 1 if lines.header.version < 5 else 0
            file = lines["file_entry"][before.file - first].name.decode(errors="replace")
            return f"{Path(file).name}:{before.line}"
        before = None if state.end_sequence else state
    return None


def told(line: str) -> str:
    """``line``, which the end of a process left (runtime.c), with the source's line in place of an
    address."""
    found = _PLACE.search(line)
    if found is None:
        return line
    place = line_of(Path(found["library"]), int(found["at"], 16))
    return line[:found.start()] + (f", at {place}" if place else "") + line[found.end():]
