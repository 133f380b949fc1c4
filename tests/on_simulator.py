"""Tests of the model target, run on the real one: the same functions in a simulator.

A test function that runs its host programs by ``Model(description).run(programs)`` runs unchanged
here: in the simulator's process, ``Model`` stands for the target that is there. A simulator has one
structure; a test of another is reported as such, so that nothing is left out unseen.
"""

import importlib
import itertools
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from nicbed.layouts.description import Description, Kind, knobs
from nicbed.testbench.session import run_job

__all__ = ["OtherStructure", "cases", "run_cases"]

STRUCTURE = [knob.name.split(".") for knob in knobs() if knob.kind is Kind.STRUCTURE
             and knob.name != "via.design"]
SETTINGS = [knob.name.split(".") for knob in knobs() if knob.kind is not Kind.STRUCTURE]


class OtherStructure(Exception):
    """The test wants another structure than the simulator's; the text names the first knob."""


def cases(module: Any, names: Iterable[str] | None = None) -> list[tuple[str, str, dict[str, Any]]]:
    """All test functions of a module, or those called ``names``, with each set of their parameters:
    (name to show, function, arguments). Cases marked ``full`` are left out."""
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
            found.append((f"{name}[{number}]" if axes else name, name, arguments))
    return found


def _values(value: Any, count: int) -> tuple[Any, ...]:
    if hasattr(value, "values") and hasattr(value, "marks"):
        return tuple(value.values)
    return tuple(value) if count > 1 else (value,)


def _is_full(value: Any) -> bool:
    return any(mark.name == "full" for mark in getattr(value, "marks", ()))


def run_cases(description: Description, module: Any, chosen: Iterable[tuple[str, str, dict]],
              sim: str = "verilator") -> dict[str, str]:
    """What became of each case: "" for passed, else why not; "structure: …" for one that wants
    another structure than ``description``'s."""
    return run_job(description, sim, function=f"{__file__}:run_inside",
                   arguments={"module": module.__name__, "chosen": list(chosen)})


class LabModel:
    """What a test takes for its Model: runs programs on the lab it is in."""

    lab: Any = None
    resume: Any = None

    def __init__(self, description: Description) -> None:
        there = self.lab.description.model_dump()
        wanted = description.model_dump()
        for section, key in STRUCTURE:
            if wanted[section][key] != there[section][key]:
                raise OtherStructure(f"structure: {section}.{key} = {wanted[section][key]}")
        self.settings = {f"{section}.{key}": wanted[section][key] for section, key in SETTINGS}

    def run(self, programs: Any, limit: int | None = None, **_: Any) -> Any:
        return self.resume(self.lab.run)(list(programs), settings=self.settings, limit=limit)


async def run_inside(lab: Any, module: str, chosen: list[tuple[str, str, Mapping[str, Any]]]
                     ) -> dict[str, str]:
    """In the simulator's process: runs the cases one after the other."""
    import model_target
    from cocotb.task import bridge, resume
    LabModel.lab, LabModel.resume = lab, staticmethod(resume)
    model_target.Model = LabModel  # type: ignore[misc, assignment]
    tests = importlib.import_module(module)
    found = {}
    for number, (shown, name, arguments) in enumerate(chosen):
        lab.progress(shown, number, len(chosen))
        found[shown] = await bridge(_outcome)(getattr(tests, name), arguments)
    return found


def _outcome(function: Callable[..., None], arguments: Mapping[str, Any]) -> str:
    try:
        function(**arguments)
    except OtherStructure as error:
        return str(error)
    except BaseException as error:
        return "".join(traceback.format_exception(error))
    return ""
