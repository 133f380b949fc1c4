"""A measurement's key: everything on which its result depends, as one hash.

A result is a function of the description, of what is measured with which parameters, and of the
sources and tools that can change a cycle or an evaluation.
"""

import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ...layouts.doors import CORES
from ..results.document import plain, versions
from ..simulators.cache import key as hash_of
from ..simulators.cache import tree_hash
from ..simulators.simulator import structure

if TYPE_CHECKING:
    from ..testbed.measurement import Measurement

__all__ = ["FOLDERS", "MODULES", "identity", "key", "sources"]

FOLDERS = ("layouts", "rtl", "firmware", "host", "testbench/apps", "testbench/benches",
           "testbench/estimate", "testbench/truth", "testbench/run", "testbench/simulators",
           "testbench/backends")
"""Folders whose files can change a cycle, or what is made of the cycles."""
SYNTHESIS = ("layouts", "rtl", "testbench/simulators", "testbench/synth")
"""Folders whose files can change an area."""
MODULES = ("testbench/lab.py", "testbench/results/document.py", "testbench/descriptions/advice.py",
           "testbench/wording.py", "testbench/whatif/probe.py", "testbench/why/observation.py",
           "testbench/why/round_trip.py")
"""And single files."""
SUFFIXES = (".py", ".c", ".h", ".S", ".ld", ".cpp", ".v")
_PACKAGE = Path(__file__).resolve().parents[2]


@cache
def sources() -> str:
    """A hash of all sources that can change a result, as they were when this process first
    asked."""
    folders = tree_hash([_PACKAGE.joinpath(*name.split("/")) for name in FOLDERS], SUFFIXES)
    return hash_of([folders, *((_PACKAGE / name).read_text(encoding="utf-8")
                               for name in MODULES)])


@cache
def _synthesis() -> str:
    """A hash of all sources that can change an area."""
    return tree_hash([_PACKAGE.joinpath(*name.split("/")) for name in SYNTHESIS], SUFFIXES)


def key(wanted: "Measurement", limit: int | None = None) -> str:
    """The key of ``wanted``'s result, measured with ``limit`` cycles a run at most."""
    if wanted.synthesis:
        return hash_of([_synthesis(), wanted.name, wanted.layer,
                        json.dumps(wanted.presentation.config(wanted.description)),
                        structure(wanted.description).get("core", ""), *outside(wanted),
                        json.dumps(wanted.presentation.versions(), sort_keys=True)])
    return hash_of([sources(), json.dumps(_tools(wanted), sort_keys=True), wanted.name,
                    wanted.layer, wanted.sim, wanted.function, repr(limit), *outside(wanted),
                    json.dumps(wanted.description.model_dump(mode="json"), sort_keys=True),
                    json.dumps(plain(wanted.parameters), sort_keys=True)])


def outside(wanted: "Measurement") -> list[str]:
    """The sources of what is from outside in a measurement: its benchmark, its layer, and what its
    description names."""
    return [one.identity for one in wanted.outside]


def identity(sim: str, synthesis: bool = False) -> dict[str, str]:
    """With what this installation measures on back end ``sim``, or synthesises: hashes of sources,
    and versions. Where it is the same, results are the same."""
    from importlib.metadata import PackageNotFoundError

    found = {"sources": sources(), **_versions(sim)}
    for core in CORES.builtin:
        with suppress(PackageNotFoundError):
            found[core] = CORES.get(core).revision
    if synthesis:
        from ..synth import nic

        found |= {"sources": sources() + _synthesis(), **nic.versions()}
    return found


def _tools(wanted: "Measurement") -> dict[str, str]:
    """Versions of the tools, and of the NIC processor's core."""
    core = wanted.description.core
    return _versions(wanted.sim) | ({} if core is None else {core.name: core.revision})


@cache
def _versions(sim: str) -> dict[str, str]:
    return versions(sim)
