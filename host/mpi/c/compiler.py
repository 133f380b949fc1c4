"""C and C++ sources become a shared library, by the compiler of firmware and simulators."""

import os
import shlex
import subprocess
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from ....firmware import cache, tools
from . import cplusplus
from .absent import absent, stubs
from .header import INCLUDE, definitions, profiling

__all__ = ["ABSENT", "CompileError", "compile_program", "sources"]

FLAGS = ("-O2", "-UNDEBUG", "-g", "-fPIC", "-shared", "-w", "-fno-sanitize=all",
         "-fno-strict-aliasing", "-Wno-error=implicit-function-declaration",
         "-Wno-error=implicit-int", "-Wno-error=int-conversion",
         "-Wno-error=incompatible-pointer-types", "-Wl,-Bsymbolic")
"""Old programs are compiled as they are, with their assertions, which the compiler's driver leaves
out of what it optimises. Symbolic: a program's ``exit`` is the one beneath it."""


ABSENT = "absent.txt"
"""File beside a library: the functions that its program calls and that nobody has."""


class CompileError(Exception):
    """The program cannot be compiled; one line says why. ``log`` has the compiler's messages."""

    def __init__(self, text: str, log: str = "") -> None:
        super().__init__(text)
        self.log = log


def sources(places: Iterable[Path]) -> list[Path]:
    """The files in C and C++ that ``places`` name: files, or folders with all that are in them.

    Raises
    ------
    CompileError
        There are none.
    """
    found: list[Path] = []
    for place in places:
        files = [place] if not place.is_dir() else sorted(
            file for file in place.iterdir() if file.suffix in (".c", *cplusplus.SUFFIXES))
        if not files:
            raise CompileError(f"{place}: no C file is in it")
        for file in files:
            if not file.is_file():
                raise CompileError(f"{file}: no such file")
        found += files
    return found


def _readable(files: Sequence[Path], work: Path) -> dict[Path, Path]:
    """Each file, and the path by which the compiler takes it: of one with a colon in its name it
    cannot read its own list of headers, so that has a link in ``work``."""
    found = {}
    for number, file in enumerate(files):
        place = file.resolve()
        if ":" in file.name:
            link = work / f"source{number}{file.suffix}"
            link.symlink_to(place)
            place = link
        found[file] = place
    return found


def compile_program(places: Sequence[Path], work: Path, flags: str = "",
                    tell: Callable[[str], None] = lambda line: None) -> Path:
    """The shared library, in folder ``work``, of the program whose sources are ``places``.
    ``flags``: more options for the compiler, as in a shell. ``tell`` is given a line before what
    takes long.

    Raises
    ------
    CompileError
        A source is not there, or the compiler refuses it.
    """
    files = _readable(sources(places), work)
    beneath = _beneath()
    library = work / "program.so"
    own = [f"-I{folder}" for folder in dict.fromkeys(file.resolve().parent for file in files)]
    options = [f"-I{INCLUDE}", f"-I{beneath.parent}", *own, *shlex.split(flags)]
    options.append(f"-DNICBED_FOLDERS={_names(options)}")
    more = [file for file in files if file.suffix in cplusplus.SUFFIXES]
    parts = dict(files)
    if more:
        cplusplus.tell_first(more, tell)
        standards = [one for one in options if cplusplus.STANDARD.match(one)]
        for number, file in enumerate(more):
            parts[file] = work / f"object{number}.o"
            _compile(["-c", cplusplus.LIBRARY, *(one for one in options if one in standards
                              or not one.startswith("-std=")),
                      str(files[file]), "-o", str(parts[file])], files)
        options = [one for one in options if one not in standards] + [cplusplus.LIBRARY]

    def linked(*beneath: Path) -> None:
        _compile([*options, *map(str, parts.values()), *map(str, beneath), "-o", str(library),
                  "-lm"], files)

    below = [beneath, INCLUDE.with_name("libc.c")]
    linked(*below)
    functions, others = absent(library)
    if others:
        raise CompileError(f"error: undefined symbol: {others[0]}")
    if functions:
        (work / ABSENT).write_text("\n".join(functions))
        (work / "absent.c").write_text(stubs(functions))
        linked(*below, work / "absent.c")
    if more:
        cplusplus.library_is_there()
    return library


def _beneath() -> Path:
    """The file that is compiled with every program; the header that is generated lies beside it.
    Their place depends on what is in them, so that the compiler, which keeps what it has compiled
    by the contents of all files that it read, finds that again."""
    text = INCLUDE.with_name("runtime.c").read_text(encoding="utf-8") + "\n" + definitions()

    def write(place: Path) -> None:
        (place / "beneath.c").write_text(text, encoding="utf-8")
        (place / "nicbed_profiling.h").write_text(profiling())
    return cache.entry("beneath", [text, profiling()], write) / "beneath.c"


def _names(options: Sequence[str]) -> str:
    """Depends on the names in all folders for headers: the compiler does not ask whether there is
    a new header in front of one that it has read."""
    found = []
    for option, following in zip(options, (*options[1:], ""), strict=True):
        if option.startswith("-I"):
            with suppress(OSError):
                found += sorted(os.listdir(option[2:] or following))
    return f"0x{cache.key(found)[:15]}"


def _compile(options: Sequence[str], files: dict[Path, Path]) -> None:
    """Call the compiler with ``options``; ``files`` has the names by which its user knows them."""
    done = subprocess.run([*tools.COMPILER, "cc", *FLAGS, *options], capture_output=True, text=True,
                          env=tools.environment())
    if done.returncode:
        log = done.stderr
        errors = [line for line in log.splitlines() if "error:" in line]
        line = errors[0] if errors else (log.splitlines() or ["the compiler failed"])[0]
        for file, place in files.items():
            line = line.replace(str(place), file.name)
        raise CompileError(line.strip(), log)
