"""Tests of the model target, run on the real one: the same functions in a simulator.

A test function that runs its host programs by ``Model(description).run(programs)`` runs unchanged
here: in the simulator's process, ``Model`` stands for the target that is there. A simulator has one
structure; a test of another is reported as such, so that nothing is left out unseen, and
``structure_of`` tells before which one a test wants.
"""

import importlib
import inspect
import itertools
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple
from unittest import mock

from nicbed.layouts.description import Description, Kind, knobs
from nicbed.testbench.backends.session import run_job

__all__ = ["Case", "OtherStructure", "cases", "run_cases", "structure_of"]

STRUCTURE = [knob.name.split(".") for knob in knobs() if knob.kind is Kind.STRUCTURE
             and knob.name != "via.design"]
SETTINGS = [knob.name.split(".") for knob in knobs() if knob.kind is not Kind.STRUCTURE]


class OtherStructure(Exception):
    """The test wants another structure than the simulator's; the text names the first knob."""


class Wanted(BaseException):
    """What a test's Model is made of."""


class Case(NamedTuple):
    """A test function with a set of its parameters."""

    module: str
    name: str
    number: int
    arguments: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.module}::{self.name}[{self.number}]"

    @property
    def function(self) -> Callable[..., None]:
        return getattr(importlib.import_module(self.module), self.name)


def cases(module: Any, names: Iterable[str] | None = None) -> list[Case]:
    """All test functions of a module, or those called ``names``, with each set of their parameters.
    Cases marked ``full`` are left out, and so are functions that want fixtures of pytest."""
    found = []
    wanted = None if names is None else set(names)
    for name, function in vars(module).items():
        if not name.startswith("test_") or not callable(function) or (
                wanted is not None and name not in wanted):
            continue
        axes = []
        for mark in getattr(function, "pytestmark", []):
            if mark.name != "parametrize":
                continue
            keys = [key.strip() for key in mark.args[0].split(",")] \
                if isinstance(mark.args[0], str) else list(mark.args[0])
            axes.append([dict(zip(keys, _values(value, len(keys)), strict=True))
                         for value in mark.args[1] if not _is_full(value)])
        for number, choice in enumerate(itertools.product(*axes)):
            arguments = {key: value for part in choice for key, value in part.items()}
            if set(arguments) == set(inspect.signature(function).parameters):
                found.append(Case(module.__name__, name, number, arguments))
    return found


def _values(value: Any, count: int) -> tuple[Any, ...]:
    if hasattr(value, "values") and hasattr(value, "marks"):
        return tuple(value.values)
    return tuple(value) if count > 1 else (value,)


def _is_full(value: Any) -> bool:
    return any(mark.name == "full" for mark in getattr(value, "marks", ()))


def structure_of(case: Case, base: Description) -> dict[str, Any] | None:
    """Which knobs of structure the case (its first Model) wants other than ``base``, by name; None
    for one that makes no Model."""
    from tests.models.target import Model

    def tell(_: Model, description: Description) -> None:
        raise Wanted(description)

    with mock.patch.object(Model, "__init__", tell):
        try:
            case.function(**case.arguments)
        except Wanted as wanted:
            there, here = base.model_dump(), wanted.args[0].model_dump()
            return {f"{section}.{key}": here[section][key] for section, key in STRUCTURE
                    if here[section][key] != there[section][key]}
    return None


def run_cases(description: Description, chosen: Iterable[Case], sim: str = "verilator",
              limit: int | None = None) -> dict[str, str]:
    """What became of each case: "" for passed, else why not; "structure: …" for one that wants
    another structure than ``description``'s. ``limit``: cycles that no run may go beyond."""
    return run_job(description, sim, function=f"{__name__}:run_inside",
                   arguments={"chosen": [case[:3] for case in chosen], "limit": limit})


class LabModel:
    """What a test takes for its Model: runs programs on the lab it is in."""

    lab: Any = None
    resume: Any = None
    limit: int | None = None

    def __init__(self, description: Description) -> None:
        there = self.lab.description.model_dump()
        wanted = description.model_dump()
        for section, key in STRUCTURE:
            if wanted[section][key] != there[section][key]:
                raise OtherStructure(f"structure: {section}.{key} = {wanted[section][key]}")
        self.settings = {f"{section}.{key}": wanted[section][key] for section, key in SETTINGS
                         if section in wanted}

    def run(self, programs: Any, limit: int | None = None, **_: Any) -> Any:
        if self.limit is not None:
            limit = min(limit or self.limit, self.limit)
        return self.resume(self.lab.run)(list(programs), settings=self.settings, limit=limit)


async def run_inside(lab: Any, chosen: list[tuple[str, str, int]], limit: int | None
                     ) -> dict[str, str]:
    """In the simulator's process: runs the cases one after the other. Each is found again by its
    module, name and number, as not all that a row may have can be sent."""
    from cocotb.task import bridge, resume

    from tests.models import target as model_target
    LabModel.lab, LabModel.resume, LabModel.limit = lab, staticmethod(resume), limit
    model_target.Model = LabModel  # type: ignore[misc, assignment]
    found = {}
    for index, (module, name, number) in enumerate(chosen):
        case = cases(importlib.import_module(module), [name])[number]
        lab.progress(str(case), index, len(chosen))
        found[str(case)] = await bridge(_outcome)(case.function, case.arguments)
    return found


def _outcome(function: Callable[..., None], arguments: Mapping[str, Any]) -> str:
    try:
        function(**arguments)
    except OtherStructure as error:
        return str(error)
    except BaseException as error:
        return "".join(traceback.format_exception(error))
    return ""
