"""Programs over Split-C and over MPI: which there are, their runs and their reports.

In the order in which to read:

- :mod:`.measurement`: Runs a program over Split-C, compares its answer, and splits its time into
  phases
- :mod:`.report`: Tables and plot of such a run
- :mod:`.nas`: The NAS kernels: their runs and their reports
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ...layouts.description import Description
from ..errors import UserError, nearest

__all__ = ["APPS", "App", "NODES", "Option", "get", "parameters"]

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
        if not self.choices and not self.least <= value <= self.most:
            raise UserError(f"--{name} {value}: must be {self.least} to {self.most}")


@dataclass(frozen=True)
class App:
    """A program: its name, what it is, its parameters; the layer over which it runs, its processes
    if nobody says how many, and the cycles after which a run is stopped (default: the lab's)."""

    name: str
    title: str
    options: Mapping[str, Option]
    layer: str = "am"
    nodes: int = NODES
    limit: int | None = None

    @property
    def module(self) -> ModuleType:
        """The module of a program over Split-C, imported when first needed."""
        return importlib.import_module(f"nicbed.host.apps.{self.name.replace('-', '_')}")

    @property
    def job(self) -> str:
        """What runs it in the simulator's process."""
        return f"{self._package}.measurement:run"

    @property
    def report(self) -> ModuleType:
        """The module that shows its run."""
        return importlib.import_module(f"{self._package}.report")

    @property
    def _package(self) -> str:
        return "nicbed.testbench.apps" + (".nas" if self.layer == "mpi" else "")


_SEED = Option(0, (1 << 32) - 1)
_SORT = {"variant": Option(choices=("sm", "lg")), "keys": Option(1, 1 << 20), "seed": _SEED}
_NAS = {"class": Option(choices=("S", "W", "A")), "compute": Option(choices=("whole", "charged")),
        "iterations": Option(2, 1000)}


def _kernel(name: str, title: str) -> App:
    return App(name, title, _NAS, layer="mpi", nodes=4, limit=1 << 40)


APPS = {app.name: app for app in [
    App("mm", "matrix product by blocks, fetched while others are multiplied",
        {"blocks": Option(1, 64), "block": Option(1, 512), "seed": _SEED}),
    App("sample-sort", "sample sort, by words (sm) or in bulk (lg)", _SORT),
    App("radix-sort", "radix sort, by words (sm) or in bulk (lg)",
        {**_SORT, "passes": Option(2, 8)}),
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


def parameters(app: App, given: Mapping[str, Any], description: Description) -> dict[str, Any]:
    """The parameters of ``app``: what the user has ``given``, and defaults.

    Raises
    ------
    UserError
        One does not exist for this program, is out of range, does not fit the number of nodes, or
        they need more memory than a node has.
    """
    for name, value in given.items():
        if name not in app.options:
            raise UserError(f"--{name}: {app.name} has no such parameter: it takes "
                            f"{', '.join(f'--{one}' for one in app.options)}")
        app.options[name].check(name, value)
    nodes = description.fabric.nodes
    if app.layer == "mpi":
        found, needed = _kernel_parameters(app, given, nodes)
    else:
        found = app.module.defaults(given)
        needed = app.module.needed(found, nodes)
    from ...host.apps.data import fixed_bytes

    needed += fixed_bytes(description, nodes)
    if needed > description.memory.bytes:
        raise UserError(f"{app.name} needs {needed} bytes of host memory: memory.bytes = "
                        f"{description.memory.bytes}; try --set memory.bytes="
                        f"{1 << (needed - 1).bit_length()}, or less data")
    return found


def _kernel_parameters(app: App, given: Mapping[str, Any], nodes: int
                       ) -> tuple[dict[str, Any], int]:
    """A kernel's parameters, and the bytes that it needs."""
    from ...host.apps.nas import kernels

    found = {"class": "S", "compute": "whole", "iterations": 0, **given}
    try:
        kernel = kernels.get(app.name)(found["class"], nodes)
    except ValueError as error:
        raise UserError(str(error)) from None
    if found["iterations"] > kernel.iterations:
        raise UserError(f"--iterations {found['iterations']}: {app.name} of class {found['class']} "
                        f"has {kernel.iterations}")
    return found, kernel.memory()
