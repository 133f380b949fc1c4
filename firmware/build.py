"""Builds firmware for the NIC processor: ``python -m nicbed.firmware.build NAME CORE [MEMORY]``.

A firmware is a folder of C (and .S) files, with a file of further options if it needs some; the
runtime is compiled with it. The compiler is zig's clang, from PyPI. Images are kept in the cache,
by the content of all their inputs.
"""

import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache as once
from importlib.metadata import version
from pathlib import Path

from ..layouts.doors import CORES, DoorError
from . import cache, tools
from .header import c_header
from .image import Image

__all__ = ["BuildError", "image", "main", "names", "place"]

HERE = Path(__file__).parent
STACK_BYTES = 1024
"""Least room for the stack."""
MEMORY = 65536
FLAGS = ("-target", "riscv32-freestanding-none", "-std=c11", "-O2", "-g", "-Wall", "-Wextra",
         "-Werror", "-ffreestanding", "-fno-sanitize=all", "-fno-strict-aliasing", "-fwrapv",
         "-fno-stack-protector", "-fomit-frame-pointer", "-fno-unwind-tables",
         "-fno-asynchronous-unwind-tables", "-ffunction-sections", "-fdata-sections",
         "-msmall-data-limit=0")
LINKING = ("-nostdlib", "-Wl,--gc-sections")
FLAGS_FILE = "compile_flags.txt"
"""A file of a firmware's folder with further options for its compilation, one a line: firmware of
several files is compiled as one unit by ``-flto``."""
_SOURCES = (".c", ".h", ".S", ".ld")


class BuildError(Exception):
    """The firmware cannot be built; one line says why. ``log`` has the compiler's own messages."""

    def __init__(self, text: str, log: str = "") -> None:
        super().__init__(text)
        self.log = log


def names() -> list[str]:
    """The firmwares that come with nicbed, by name."""
    return sorted({path.parent.relative_to(HERE).as_posix() for path in HERE.rglob("main.c")})


def _folder(name: str | Path) -> Path:
    place = Path(name)
    found = [folder for folder in (HERE / place, HERE / "example" / place, place)
             if (folder / "main.c").is_file()]
    if not found:
        raise BuildError(f"there is no firmware {str(name)!r}: a name is one of "
                         f"{', '.join(names())}, or a folder with a main.c")
    return found[0].resolve()


def image(name: str | Path, core: str, memory: int = MEMORY, defines: Sequence[str] = ()) -> Image:
    """The firmware ``name``, or the one in folder ``name``, for a core with ``memory`` bytes of NIC
    memory. ``defines``: macros that choose a variant of it.

    Raises
    ------
    BuildError
        The firmware does not exist, the compiler refused it, or it does not fit.
    CacheError
        The cache cannot be written.
    """
    folder, _ = _folder(name), compiled_for(core)
    return _built(folder.name, core, memory, cache.entry(
        "firmware", [*_parts(folder, core, memory), *defines],
        lambda work: _build(folder, core, memory, work, defines)))


def compiled_for(core: str) -> tuple[str, tuple[str, ...]]:
    """Compiler options for ``core``: its instructions, and a macro if traps can be handled.

    Raises
    ------
    BuildError
        There is no such core.
    """
    try:
        found = CORES.get(core)
    except DoorError as error:
        raise BuildError(str(error)) from None
    return (f"{found.isa}+zicsr", ("-DNICBED_MTVEC",)) if found.traps else (found.isa, ())


def place(name: str, core: str, memory: int) -> Path:
    """Tells where the image of firmware ``name`` lies in the cache, built or not."""
    return cache.root() / "firmware" / cache.key(_parts(_folder(name), core, memory))


def _parts(folder: Path, core: str, memory: int) -> list[str]:
    """All on which an image depends."""
    base = HERE.parent
    known_as = folder.relative_to(base).as_posix() if folder.is_relative_to(base) else folder.name
    return [known_as, core, str(memory), repr(compiled_for(core)),
            repr((FLAGS, LINKING, _own_flags(folder))), c_header(),
            cache.tree_hash([folder, HERE / "runtime", *_beside(folder)], _SOURCES),
            version("ziglang"), Path(__file__).read_text()]


def _own_flags(folder: Path) -> list[str]:
    """The options that the firmware in ``folder`` asks for."""
    file = folder / FLAGS_FILE
    return file.read_text(encoding="utf-8").split() if file.is_file() else []


@once
def _built(title: str, core: str, memory: int, place: Path) -> Image:
    """The image in ``place``, read once for all nodes and runs, because parsing an ELF file takes
    long."""
    text, data, bss = map(int, (place / "sizes").read_text().split())
    return Image(title, core, memory, (place / "image.bin").read_bytes(), place / "image.elf",
                 text, data, bss)


def _beside(folder: Path) -> list[Path]:
    """Folders of other firmwares whose files this one includes."""
    found = {name for path in folder.iterdir() if path.suffix in _SOURCES
             for name in re.findall(r'#include "(?:\.\./)?(\w+)/', path.read_text())}
    return sorted(HERE / name for name in found)


def sources(folder: Path) -> list[Path]:
    """Returns what the firmware in ``folder`` is made of, the runtime first."""
    return [*sorted((HERE / "runtime").glob("*.[cS]")), *sorted(folder.glob("*.[cS]"))]


def compiler(folder: Path, core: str, work: Path) -> list[str]:
    """The command that compiles sources of the firmware in ``folder``, without what links them.
    What is generated goes to ``work``."""
    (work / "nicbed.h").write_text(c_header())
    mcpu, defines = compiled_for(core)
    base = HERE.parent
    inside = folder.is_relative_to(base)
    maps = [f"-ffile-prefix-map={work}/=", f"-ffile-prefix-map={base}/=",
            *(() if inside else (f"-ffile-prefix-map={folder.parent}/=",))]
    return [*tools.COMPILER, "cc", *FLAGS, f"-mcpu={mcpu}", *defines, *maps,
            "-I", str(work), "-I", str(folder), "-I", str(HERE / "runtime"), "-I", str(HERE)]


def _build(folder: Path, core: str, memory: int, work: Path, variant: Sequence[str] = ()) -> None:
    script = (HERE / "runtime" / "link.ld").read_text()
    (work / "link.ld").write_text(f"__memory_bytes = {memory};\n__stack_bytes = {STACK_BYTES};\n"
                                  + script)
    _run([*compiler(folder, core, work), *(f"-D{name}" for name in variant),
          *_own_flags(folder), *LINKING, f"-Wl,-T,{work / 'link.ld'}",
          *map(str, sources(folder)), "-lcompiler_rt", "-o", str(work / "image.elf")],
         folder.name, core, work)
    _run([*tools.COMPILER, "objcopy", "-O", "binary", str(work / "image.elf"),
          str(work / "image.bin")], folder.name, core, work)
    text, data, bss = _sizes(work / "image.elf")
    need = text + data + bss + STACK_BYTES
    if need > memory:
        raise BuildError(
            f"firmware {folder.name} does not fit: text {text}, data {data}, bss {bss} and "
            f"{STACK_BYTES} for the stack are {need} bytes, NIC memory has {memory} "
            "(processor.memory)")
    code = (work / "image.bin").read_bytes()
    (work / "image.bin").write_bytes(code + bytes(-len(code) % 8))
    (work / "sizes").write_text(f"{text} {data} {bss}\n")


def _sizes(elf: Path) -> tuple[int, int, int]:
    """text, data, bss; gaps for alignment count as bss."""
    from elftools.elf.elffile import ELFFile
    with open(elf, "rb") as stream:
        file = ELFFile(stream)  # type: ignore[no-untyped-call]
        size = {section.name: section["sh_size"] for section in file.iter_sections()}
        symbols = file.get_section_by_name(".symtab")
        end = symbols.get_symbol_by_name("__bss_end")[0]["st_value"]
        loaded = symbols.get_symbol_by_name("__image_end")[0]["st_value"]
    text = size.get(".text", 0)
    return text, loaded - text, end - loaded


def _run(command: list[str], name: str, core: str, work: Path) -> None:
    try:
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=600,
                              env=tools.environment())
    except subprocess.TimeoutExpired:
        raise BuildError(f"firmware {name}: the compiler ran for ten minutes") from None
    if done.returncode:
        words = done.stderr.replace(f"{work}/", "").replace(f"{HERE.parent}/", "").strip()
        said = words.splitlines() or ["the compiler does not say why"]
        first = next((line for line in said if "error: " in line), said[0])
        raise BuildError(f"firmware {name} for {core} does not compile: {first}", words)


def _table(images: list[Image]) -> str:
    rows = [("firmware", "core", "text", "data", "bss", "stack room", "of")]
    rows += [(one.name, one.core, str(one.text), str(one.data), str(one.bss), str(one.stack),
              str(one.memory)) for one in images]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(" ".join(f"{cell:<{width}}" if column < 2 else f"{cell:>{width}}"
                              for column, (cell, width) in enumerate(zip(row, widths, strict=True))
                              ).rstrip() for row in rows)


def main(arguments: list[str]) -> int:
    """NAME (or all) CORE (or all) [MEMORY]: build, and print the sizes in bytes."""
    if len(arguments) not in (2, 3) or len(arguments) == 3 and not arguments[2].isdecimal():
        sys.stderr.write("usage: python -m nicbed.firmware.build NAME|all CORE|all [MEMORY]\n")
        return 2
    memory = int(arguments[2]) if len(arguments) == 3 else MEMORY
    try:
        images = [image(name, core, memory)
                  for name in (names() if arguments[0] == "all" else arguments[:1])
                  for core in (CORES.builtin if arguments[1] == "all" else arguments[1:2])]
    except (BuildError, cache.CacheError) as error:
        sys.stderr.write(f"{error}\n" + (f"{error.log}\n" if error.log else ""))
        return 2
    sys.stdout.write(_table(images) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
