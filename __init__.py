"""nicbed: a testbed for network-interface architects.

``nicbed.__all__`` and the ``__all__`` of the layers in :mod:`nicbed.host` are the public interface;
docs/reference/api.md lists it. Each name loads what it needs when it is first asked for.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .host import am, fm, gm, mpi, mpl, rpc, smp, splitc, tcp, via
    from .host.am import Gam
    from .host.fm import Fm
    from .host.gm import Gm
    from .host.port.node import Node, Program
    from .host.port.port import Poll, Port, Watch
    from .host.processor import FirmwareCrash, NicProcessor
    from .host.runtime import Stuck
    from .host.via import Process, Vipl
    from .layouts.description import Description, Knob, knobs
    from .layouts.trace import Event, Mark
    from .testbench.backends.job import Job
    from .testbench.backends.session import RunError, perform, run_job
    from .testbench.descriptions.load import load
    from .testbench.errors import UserError
    from .testbench.lab import Lab, Run
    from .testbench.optimise.run import optimise
    from .testbench.optimise.trials import Trials
    from .testbench.sweeps.sweep import sweep
    from .testbench.sweeps.table import Table
    from .testbench.testbed.bed import Testbed, bench
    from .testbench.testbed.options import Options
    from .testbench.testbed.program_run import ProgramRun
    from .testbench.testbed.result import Plot, Result

__all__ = ["Description", "Event", "FirmwareCrash", "Fm", "Gam", "Gm", "Job", "Knob", "Lab",
           "Mark", "NicProcessor", "Node", "Options", "Plot", "Poll", "Port", "Process",
           "Program", "ProgramRun", "Result", "Run", "RunError", "Stuck", "Table", "Testbed",
           "Trials", "UserError", "Vipl", "Watch", "am", "bench", "fm", "gm", "knobs", "load",
           "mpi", "mpl", "optimise", "perform", "rpc", "run_job", "smp", "splitc", "sweep", "tcp",
           "via"]

_MODULES = ("am", "fm", "gm", "mpi", "mpl", "rpc", "smp", "splitc", "tcp", "via")
_FROM = {
    "host.am": ["Gam"],
    "host.fm": ["Fm"],
    "host.gm": ["Gm"],
    "host.port.node": ["Node", "Program"],
    "host.port.port": ["Poll", "Port", "Watch"],
    "host.processor": ["FirmwareCrash", "NicProcessor"],
    "host.runtime": ["Stuck"],
    "host.via": ["Process", "Vipl"],
    "layouts.description": ["Description", "Knob", "knobs"],
    "layouts.trace": ["Event", "Mark"],
    "testbench.descriptions.load": ["load"],
    "testbench.errors": ["UserError"],
    "testbench.lab": ["Lab", "Run"],
    "testbench.backends.job": ["Job"],
    "testbench.backends.session": ["RunError", "perform", "run_job"],
    "testbench.optimise.run": ["optimise"],
    "testbench.optimise.trials": ["Trials"],
    "testbench.sweeps.sweep": ["sweep"],
    "testbench.sweeps.table": ["Table"],
    "testbench.testbed.bed": ["Testbed", "bench"],
    "testbench.testbed.options": ["Options"],
    "testbench.testbed.program_run": ["ProgramRun"],
    "testbench.testbed.result": ["Plot", "Result"],
}
_MODULE = {name: module for module, names in _FROM.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        found: Any = importlib.import_module(f".host.{name}", __name__)
    elif name in _MODULE:
        found = getattr(importlib.import_module(f".{_MODULE[name]}", __name__), name)
    elif name == "__version__":
        from importlib.metadata import version

        found = version("nicbed")
    else:
        raise AttributeError(f"module 'nicbed' has no attribute '{name}'")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
