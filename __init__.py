"""nicbed: a testbed for network-interface architects.

``nicbed.__all__`` and the ``__all__`` of the layers in :mod:`nicbed.host` are the public interface;
docs/reference/api.md lists it. Each name loads what it needs when it is first asked for.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .host import am, fm, gm, mpi, mpl, raw, rpc, smp, splitc, tcp, via
    from .host.am import Gam
    from .host.fm import Fm
    from .host.gm import Gm
    from .host.nic.kinds import Driver, Frame, Frames
    from .host.port.node import Node, Program
    from .host.port.port import Poll, Port, Watch
    from .host.processor import FirmwareCrash, NicProcessor
    from .host.runtime import Stuck
    from .host.via import Process, Vipl
    from .layouts.description import Description, Knob, Section, knobs
    from .layouts.description.knob import cost, structure, timing
    from .layouts.doors import Layer, NicDesign, TraceBlock
    from .layouts.registers import Access, Register
    from .layouts.trace import Event, Mark
    from .rtl.node.nic_side import NicSide
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

__all__ = ["Access", "Description", "Driver", "Event", "FirmwareCrash", "Fm", "Frame", "Frames",
           "Gam", "Gm", "Job", "Knob", "Lab", "Layer", "Mark", "NicDesign", "NicProcessor",
           "NicSide", "Node", "Options", "Plot", "Poll", "Port", "Process", "Program",
           "ProgramRun", "Register", "Result", "Run", "RunError", "Section", "Stuck", "Table",
           "Testbed", "TraceBlock", "Trials", "UserError", "Vipl", "Watch", "am", "bench", "cost",
           "fm", "gm", "knobs", "load", "mpi", "mpl", "optimise", "perform", "raw", "rpc",
           "run_job", "smp", "splitc", "structure", "sweep", "tcp", "timing", "via"]

_MODULES = ("am", "fm", "gm", "mpi", "mpl", "raw", "rpc", "smp", "splitc", "tcp", "via")
_FROM = {
    "host.am": ["Gam"],
    "host.fm": ["Fm"],
    "host.gm": ["Gm"],
    "host.nic.kinds": ["Driver", "Frame", "Frames"],
    "host.port.node": ["Node", "Program"],
    "host.port.port": ["Poll", "Port", "Watch"],
    "host.processor": ["FirmwareCrash", "NicProcessor"],
    "host.runtime": ["Stuck"],
    "host.via": ["Process", "Vipl"],
    "layouts.description": ["Description", "Knob", "Section", "knobs"],
    "layouts.description.knob": ["cost", "structure", "timing"],
    "layouts.doors": ["Layer", "NicDesign", "TraceBlock"],
    "layouts.registers": ["Access", "Register"],
    "layouts.trace": ["Event", "Mark"],
    "rtl.node.nic_side": ["NicSide"],
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
