"""Programs over Split-C and over MPI: their list, their runs and their reports.

In the order in which to read:

- :mod:`.layout`: Layouts: the nodes, CPUs and NICs on which the study of clumps ran its programs
- :mod:`.measurement`: Runs a program over Split-C, compares its answer, and splits its time into
  phases
- :mod:`.counting`: Counts what a program with layouts does, without running it
- :mod:`.report`: Tables and plot of such a run
- :mod:`.needs`: Finds what a program's data need of the target: host memory, and entries of the
  translation table
- :mod:`.nas`: The NAS kernels: their runs and their reports
"""

import importlib
from collections.abc import Container, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ...layouts.description import Description
from ...layouts.doors import LAYERS
from ..errors import UserError, nearest
from . import needs
from .layout import LAYER as CLUMPS

__all__ = ["APPS", "App", "NODES", "Option", "fitted", "get", "outlook", "parameters"]

NODES = 8
"""Processes of a program over Split-C, if neither the user nor the description wants more."""


@dataclass(frozen=True)
class Option:
    """A parameter that a user may give: a number from ``least`` to ``most``, or one of
    ``choices``."""

    least: int = 0
    most: int = 0
    choices: tuple[str, ...] = ()

    def check(self, name: str, value: Any) -> None:
        """Refuse a value.

        Raises
        ------
        UserError
            It is not allowed.
        """
        if self.choices and value not in self.choices:
            raise UserError(f"--{name} {value}: must be {' or '.join(self.choices)}")
        if self.choices:
            return
        if not isinstance(value, int) or isinstance(value, bool):
            raise UserError(f"--{name} {value}: must be a whole number, {self.least} to "
                            f"{self.most}")
        if not self.least <= value <= self.most:
            raise UserError(f"--{name} {value}: must be {self.least} to {self.most}")


@dataclass(frozen=True)
class App:
    """A program: its name, what it is, its parameters; the layer over which it runs, its processes
    if nobody says how many, and the cycles after which a run is stopped (default: the lab's).

    Attributes
    ----------
    layouts
        Whether there are layouts for it (:mod:`.layout`): it also runs over the other layers that
        have messages for Split-C, whose processes need not be nodes.
    streams
        Whether its computation goes over a working set in memory (host.apps.streaming).
    """

    name: str
    title: str
    options: Mapping[str, Option]
    layer: str = "am"
    nodes: int = NODES
    limit: int | None = None
    layouts: bool = False
    streams: bool = False

    def over(self, layer: str | None, layout: str | None = None) -> str:
        """The layer over which it runs, where a user wants ``layer``, or has no wish, and
        ``layout``.

        Raises
        ------
        UserError
            It does not run so.
        """
        if layout is not None and not self.layouts:
            raise UserError(f"--layout {layout}: {self.name} has no layouts")
        mine = [self.layer, *(other for other, one in LAYERS.working() if self.layouts
                              and one.messages and other != self.layer)]
        if layer not in (None, *mine):
            raise UserError(f"--layer {layer}: {self.name} runs over {' or '.join(mine)}")
        return layer or (CLUMPS if layout is not None else self.layer)

    @property
    def module(self) -> ModuleType:
        """The module of a program over Split-C, imported when first needed."""
        return importlib.import_module(f"nicbed.host.apps.{self.name.replace('-', '_')}")

    @property
    def job(self) -> str:
        """Returns what runs it in the simulator's process."""
        return f"{self._package}.measurement:run"

    @property
    def report(self) -> ModuleType:
        """The module that shows its run."""
        return importlib.import_module(f"{self._package}.report")

    @property
    def _package(self) -> str:
        return "nicbed.testbench.apps" + (".nas" if self.layer == "mpi" else "")


def _clump(name: str, title: str, options: Mapping[str, Option], streams: bool = True) -> App:
    return App(name, title, options, limit=1 << 32, layouts=True, streams=streams)


_SEED = Option(0, (1 << 32) - 1)
_SORT = {"variant": Option(choices=("sm", "lg")), "keys": Option(1, 1 << 20), "seed": _SEED}
_NAS = {"class": Option(choices=("S", "W", "A")), "compute": Option(choices=("whole", "charged")),
        "iterations": Option(1, 1000)}


def _kernel(name: str, title: str) -> App:
    return App(name, title, _NAS, layer="mpi", nodes=4, limit=1 << 40)


APPS = {app.name: app for app in [
    App("mm", "matrix product by blocks, fetched while others are multiplied",
        {"blocks": Option(1, 64), "block": Option(1, 512), "seed": _SEED}),
    App("sample-sort", "sample sort, by words (sm) or in bulk (lg)", _SORT),
    App("radix-sort", "radix sort, by words (sm) or in bulk (lg)",
        {**_SORT, "passes": Option(2, 8)}),
    _clump("fft", "Fourier transform of a cube in slabs: two transposes, all to all, by 4 KB",
           {"points": Option(1, 256), "seed": _SEED}),
    _clump("con", "connected components of a lattice with random edges: searches, then hooks",
           {"variant": Option(choices=("comm", "comp")), "side": Option(1, 1024), "seed": _SEED}),
    _clump("em3d", "electromagnetic waves on a graph: each half step reads its neighbours",
           {"vertices": Option(2, 1 << 20), "degree": Option(1, 1000), "remote": Option(0, 100),
            "steps": Option(1, 1000), "mapping": Option(choices=("naive", "good")),
            "seed": _SEED}, streams=False),
    _kernel("is", "NAS integer sort: Allreduce and Alltoallv of keys"),
    _kernel("ep", "NAS Gaussian deviates: computation, and three Allreduces"),
    _kernel("cg", "NAS conjugate gradients: sums along rows of processes, and transposes"),
    _kernel("mg", "NAS multigrid: swaps of faces on grids of all sizes"),
    _kernel("ft", "NAS Fourier transforms: Alltoall of all data"),
    _kernel("lu", "NAS flow, by sweeps of planes: many short messages, one after the other"),
    _kernel("sp", "NAS flow, by scalar pentadiagonal systems along each axis"),
    _kernel("bt", "NAS flow, by block tridiagonal systems along each axis"),
]}


def get(name: str) -> App:
    """The program called ``name``.

    Raises
    ------
    UserError
        There is none.
    """
    if name not in APPS:
        raise UserError(f"no program is called {name}{nearest(name, list(APPS))}")
    return APPS[name]


def parameters(app: App, given: Mapping[str, Any], description: Description,
               layer: str | None = None) -> dict[str, Any]:
    """The parameters of ``app``, which runs over ``layer`` (default: its own): what the user has
    ``given``, and defaults.

    Raises
    ------
    UserError
        One does not exist for this program, is out of range, does not fit the number of nodes, or
        they need more memory than a node has.
    """
    found, wanted = _found(app, given, description, layer)
    for need in wanted:
        if need.has(description) < need.least:
            raise UserError(f"{need.why}: {need.knob} = {need.has(description)}; "
                            + need.remedy(description))
    return found


def fitted(app: App, given: Mapping[str, Any], description: Description, asked: Container[str],
           layer: str | None = None) -> Description:
    """``description`` with room for the data of ``app``, if it is a kernel or has layouts: memory
    and the translation table grow, unless they are among ``asked`` or have another value than the
    default. Parameters that are wrong are left to :func:`parameters`."""
    if app.layer != "mpi" and not app.layouts:
        return description
    try:
        _, wanted = _found(app, given, description, layer)
    except UserError:
        return description
    return needs.grown(description, wanted, asked)


def outlook(app: App, found: Mapping[str, Any], description: Description, sim: str) -> str:
    """Returns what a run with all parameters ``found`` on back end ``sim`` will take, if it is a
    kernel's; "" if that is little."""
    if app.layer != "mpi":
        return ""
    from ...host.apps.nas import kernels
    from .nas import extent

    kernel = kernels.get(app.name)(found["class"], description.fabric.nodes)
    return extent.outlook(kernel, found["iterations"],
                          known=extent.calibrated(description, sim, found["compute"]))


def _found(app: App, given: Mapping[str, Any], description: Description,
           layer: str | None) -> tuple[dict[str, Any], list[needs.Need]]:
    """All parameters, and what the data need."""
    for name, value in given.items():
        if name not in app.options:
            raise UserError(f"--{name}: {app.name} has no such parameter: it takes "
                            f"{', '.join(f'--{one}' for one in app.options)}")
        app.options[name].check(name, value)
    from ...host.apps.streaming import Streaming

    nodes = description.fabric.nodes
    if app.layer != "mpi":
        found = app.module.defaults(given)
        where = LAYERS.get(layer or app.layer).places(description)
        data = app.module.needed(found, len(where))
        if app.streams:
            data += Streaming.room(description)
        here = sum(node == 0 for node, _ in where)
        return found, [needs.of_memory(app.name, here * data, description,
                                       queues=here if layer == CLUMPS else 0)]
    found, kernel = _kernel_run(app, given, nodes)
    return found, needs.of_kernel(app.name, kernel, description)


def _kernel_run(app: App, given: Mapping[str, Any], nodes: int) -> tuple[dict[str, Any], Any]:
    """A kernel's parameters, and the kernel. Of class A, if nobody says otherwise, some
    iterations run, whose computation is charged alone, where the whole run would take too long."""
    from ...host.apps.nas import kernels
    from .nas.extent import chosen

    size = given.get("class", "S")
    try:
        kernel = kernels.get(app.name)(size, nodes)
    except ValueError as error:
        raise UserError(str(error)) from None
    wanted = given.get("iterations", 0)
    if wanted > kernel.iterations:
        raise UserError(f"--iterations {wanted}: {app.name} of class {size} has "
                        f"{kernel.iterations}")
    if size == "A" and "iterations" not in given and given.get("compute") != "whole":
        wanted = chosen(kernel)
    part = size == "A" and 0 < wanted < kernel.iterations
    return {"class": size, "compute": "charged" if part else "whole", "iterations": wanted,
            **given}, kernel
