"""The environment of a simulator process with cocotb."""

import os
import sys
from collections.abc import Mapping
from functools import cache

__all__ = ["cocotb_environment"]


@cache
def _libpython() -> str:
    """Path of the shared libpython for the simulator."""
    chosen = os.environ.get("LIBPYTHON_LOC")
    if chosen:
        return chosen
    from find_libpython import find_libpython
    found = find_libpython()
    if found is None:
        raise RuntimeError(f"no shared libpython for {sys.executable}: install "
                           f"libpython{sys.version_info.major}.{sys.version_info.minor}")
    return found


@cache
def _entry_point() -> str:
    import cocotb_tools.config
    return cocotb_tools.config.pygpi_entry_point()


@cache
def _libraries() -> str:
    import cocotb_tools.config
    return str(cocotb_tools.config.libs_dir)


def cocotb_environment(*, top: str, modules: str, results: str, seed: int = 1,
                       extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Environment for a simulator that runs the cocotb tests of ``modules`` against ``top``."""
    environment = dict(os.environ)
    search = "DYLD_LIBRARY_PATH" if sys.platform == "darwin" else "LD_LIBRARY_PATH"
    environment.update({
        search: os.pathsep.join(filter(None, [_libraries(), environment.get(search)])),
        "GPI_USERS": f"{_libpython()};{_entry_point()}",
        "PYGPI_PYTHON_BIN": sys.executable,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "COCOTB_TOPLEVEL": top,
        "COCOTB_TEST_MODULES": modules,
        "COCOTB_RESULTS_FILE": results,
        "COCOTB_RANDOM_SEED": str(seed),
        "COCOTB_ANSI_OUTPUT": "0",
        "TOPLEVEL_LANG": "verilog",
        **(extra or {}),
    })
    return environment
