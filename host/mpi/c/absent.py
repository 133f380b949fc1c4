"""Finds functions that a program calls and that no library has. A call of one ends the program with
the function's name; a linker would refuse the whole program, and the dynamic linker would end the
process."""

import ctypes
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["absent", "stubs"]


def absent(library: Path) -> tuple[list[str], list[str]]:
    """Functions that ``library`` calls, and other names that it wants, which neither it has nor the
    libraries that it needs. Where one of these cannot be loaded, nothing is known: none."""
    from elftools.elf.elffile import ELFFile

    with library.open("rb") as file:
        elf = ELFFile(file)
        symbols: Any = elf.get_section_by_name(".dynsym")
        called = _called(elf)
        dynamic: Any = elf.get_section_by_name(".dynamic")
        needed = [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")]
        wanted = {one.name for one in symbols.iter_symbols()
                  if one["st_shndx"] == "SHN_UNDEF" and one["st_info"]["bind"] == "STB_GLOBAL"
                  and one.name}
    try:
        there = [ctypes.CDLL(name) for name in needed]
    except OSError:
        return [], []
    missing = {name for name in wanted if not any(_has(one, name) for one in there)}
    return sorted(missing & called), sorted(missing - called)


def _has(library: ctypes.CDLL, name: str) -> bool:
    with suppress(AttributeError):
        library[name]
        return True
    return False


def _called(elf: Any) -> set[str]:
    """The names that are called by the table of procedure linkage."""
    table = elf.get_section_by_name(".rela.plt")
    if table is None:
        return set()
    symbols = elf.get_section(table["sh_link"])
    return {symbols.get_symbol(one["r_info_sym"]).name for one in table.iter_relocations()}


def stubs(names: list[str]) -> str:
    """C that has these functions."""
    return "void nicbed_absent(const char *name);\n" + "".join(
        f'void {name}(void) {{ nicbed_absent("{name}"); }}\n' for name in names)
