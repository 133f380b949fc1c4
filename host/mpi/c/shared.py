"""Names what the ranks of a program in C share against their will: a change by one changes it for
all."""

from pathlib import Path
from typing import Any

__all__ = ["SHARED", "shared"]

SHARED = {
    "the environment": ("clearenv", "putenv", "setenv", "unsetenv"),
    "standard input, output and error": ("dup2", "dup3"),
    "the locale": ("setlocale",),
    "the umask": ("umask",),
    "signal handlers": ("sigaction", "signal", "sigprocmask", "sigset"),
    "timers": ("alarm", "setitimer", "timer_create", "ualarm"),
    "the hash table of hsearch": ("hcreate",),
    "limits and priority": ("nice", "setpriority", "setrlimit"),
}
"""What the process has once, and the functions by which a program changes it."""


def shared(library: Path) -> str:
    """A line about what the program in ``library`` may change for all ranks; "" if nothing."""
    from elftools.elf.elffile import ELFFile

    with library.open("rb") as file:
        symbols: Any = ELFFile(file).get_section_by_name(".dynsym")
        wanted = {one.name for one in symbols.iter_symbols() if one["st_shndx"] == "SHN_UNDEF"}
    found = {what: sorted(wanted.intersection(names)) for what, names in SHARED.items()}
    used = [name for names in found.values() for name in names]
    if not used:
        return ""
    kinds = " and ".join(what for what, names in found.items() if names)
    return f"the program calls {', '.join(used)}: all ranks share {kinds} (docs/tutorials/mpi.md)"
