"""Programs over Split-C: which there are, their runs and their reports.

In the order in which to read:

- :mod:`.measurement`: Runs a program, compares its answer, and splits its time into phases
- :mod:`.report`: Tables and plot of a program's run
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ...layouts.description import Description
from ..errors import UserError, nearest

__all__ = ["APPS", "NODES", "App", "Option", "get", "parameters"]

NODES = 8
"""Processes, if neither the user nor the description wants more."""


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
    """A program: its name, its module in :mod:`nicbed.host.apps`, what it is, its parameters."""

    name: str
    file: str
    title: str
    options: Mapping[str, Option]

    @property
    def module(self) -> ModuleType:
        """Its module, imported when first needed."""
        return importlib.import_module(f"nicbed.host.apps.{self.file}")


_SEED = Option(0, (1 << 32) - 1)
_SORT = {"variant": Option(choices=("sm", "lg")), "keys": Option(1, 1 << 20), "seed": _SEED}

APPS = {app.name: app for app in [
    App("mm", "mm", "matrix product by blocks, fetched while others are multiplied",
        {"blocks": Option(1, 64), "block": Option(1, 512), "seed": _SEED}),
    App("sample-sort", "sample_sort", "sample sort, by words (sm) or in bulk (lg)", _SORT),
    App("radix-sort", "radix_sort", "radix sort, by words (sm) or in bulk (lg)",
        {**_SORT, "passes": Option(2, 8)}),
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
        One does not exist for this program, is out of range, or they need more memory than a node
        has.
    """
    for name, value in given.items():
        if name not in app.options:
            raise UserError(f"--{name}: {app.name} has no such parameter: it takes "
                            f"{', '.join(f'--{one}' for one in app.options)}")
        app.options[name].check(name, value)
    from ...host.apps.data import fixed_bytes

    found: dict[str, Any] = app.module.defaults(given)
    nodes = description.fabric.nodes
    needed = app.module.needed(found, nodes) + fixed_bytes(description, nodes)
    if needed > description.memory.bytes:
        raise UserError(f"{app.name} needs {needed} bytes of host memory: memory.bytes = "
                        f"{description.memory.bytes}; try --set memory.bytes="
                        f"{1 << (needed - 1).bit_length()}, or less data")
    return found
