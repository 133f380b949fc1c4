"""GM on the real target: the tests of the functional model, in simulators, on all three cores."""

import importlib
import shutil
from collections.abc import Collection
from typing import Any

import pytest

from tests.labs.on_simulator import Case, cases, run_cases, structure_of
from tests.programs.gm import describe, overriding

MODULES = ("tests.host.gm.test_gm", "tests.host.gm.test_failures", "tests.host.gm.test_protection",
           "tests.host.gm.test_arguments")
OTHERS: dict[str, dict[str, Any]] = {
    "three nodes": {"fabric.nodes": 3},
    "mtu 64": {"nic.mtu": 64},
    "mtu 200": {"nic.mtu": 200},
    "mtu 256": {"nic.mtu": 256},
    "mtu 512": {"nic.mtu": 512},
    "few doorbells": {"processor.doorbell_queue": 4},
    "local bus": {"nic.attachment": "local_bus"},
    "memory bus": {"nic.attachment": "memory_bus"},
    "no processor": {"nic.processor": "none"},
}
"""Structures other than the tests' common one that some cases want."""
SMOKE = {"test_messages_of_every_length_arrive_whole", "test_order_within_a_priority",
         "test_resuming_after_a_failure", "test_what_is_not_registered_is_refused"}
"""What always runs, and on VexRiscv, too."""
SHORT = {"test_messages_of_every_length_arrive_whole", "test_what_is_not_registered_is_refused"}


def by_structure() -> dict[str, list[Case]]:
    """The cases of each structure; that of most is "common"."""
    base = describe()
    names = {tuple(sorted(knobs.items())): name for name, knobs in OTHERS.items()}
    found: dict[str, list[Case]] = {name: [] for name in (*OTHERS, "common")}
    for module in MODULES:
        for case in cases(importlib.import_module(module)):
            knobs = structure_of(case, base)
            if knobs is not None:
                name = names[tuple(sorted(knobs.items()))] if knobs else "common"
                found[name].append(case)
    return found


def check(which: list[Case], sim: str = "verilator", limit: int | None = None,
          **knobs: Any) -> None:
    found = run_cases(describe(**knobs), which, sim, limit)
    bad = {name: text for name, text in found.items() if text}
    assert len(found) == len(which)
    assert not bad, f"{len(bad)} of {len(found)}: {', '.join(bad)}\n" + "\n".join(
        f"{name}: {text}" for name, text in list(bad.items())[:5])


def test_every_case_has_its_place():
    places = by_structure()
    assert all(places.values()), places
    assert {case.name for case in places["common"]} >= SMOKE


def test_some():
    smoke()


@pytest.mark.full
def test_all():
    check(by_structure()["common"])


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in OTHERS if name != "no processor"])
def test_other_structures(name):
    knobs = {key.replace(".", "__"): value for key, value in OTHERS[name].items()}
    check(by_structure()[name], **knobs)


@pytest.mark.full
def test_some_on_vexriscv():
    smoke(nic__processor="vexriscv")


@pytest.mark.full
def test_two_on_serv():
    """The others take it more than the eight million cycles that they have."""
    smoke(names=SHORT, nic__processor="serv", gm__retry_timeout=1_000_000)


@pytest.mark.full
@pytest.mark.skipif(not shutil.which("iverilog"), reason="no Icarus: apt install iverilog")
def test_some_on_icarus():
    smoke("icarus", only=1)


def smoke(sim: str = "verilator", only: int | None = None, names: Collection[str] = SMOKE,
          **knobs: Any) -> None:
    chosen = [case for case in by_structure()["common"] if case.name in names]
    with overriding(knobs):
        check(chosen[:only], sim, **knobs)
