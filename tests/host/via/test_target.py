"""VIA on the real target: the tests of the functional model and of VIPL, in simulators.

All of their cases run: those of the common small structure at each change, those of other
structures with ``--full``, and those that look into the model itself there only, for the reason
that is given. ``docs/reference/via-conformance.md`` says which promise is which test's.
"""

import importlib
import shutil
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.labs.on_simulator import Case, cases, run_cases, structure_of
from tests.programs.am import describe
from tests.programs.vipl import SMALL

OUTSIDE = {
    "tests.via_model.test_random": "rtl/vi/test_random judges random programs on RTL by the model",
    "tests.host.via.vipl.test_calls":
        "counts calls of Python, between times of the model",
    "tests.host.via.vipl.test_costs":
        "holds the library to the tick, by what the model's bus takes",
    "tests.host.via.vipl.test_parts": "parts of the library that need no target",
    "tests.host.via.vipl.test_recovery":
        "both design points on the model's network, which loses what it is told",
}
ROOT = Path(__file__).parents[3]
MODULES = sorted({".".join(path.relative_to(ROOT).with_suffix("").parts)
                  for folder in ("tests/via_model", "tests/host/via/vipl")
                  for path in (ROOT / folder).glob("test_*.py")} - set(OUTSIDE))
BASE = {**SMALL, "via.design": "engine"}
SCHEMES = ("table", "physical")
SEEDS = 2
"""Of cases with many seeds, those that always run."""
OTHERS: dict[str, dict[str, Any]] = {
    "table": {"via.translation": "table"},
    "physical": {"via.translation": "physical"},
    "narrow": {"via.window": 1, "nic.mtu": 64, "via.page_bytes": 4096},
    "few slots": {"via.send_slots": 4, "via.window": 2},
    "tiny": {"via.queue_depth": 4, "via.events": 4},
    "three nodes": {"fabric.nodes": 3},
    "default": {"via.vis": 1024, "via.translations": 4096, "via.page_bytes": 4096,
                "via.cache_sets": 64, "memory.bytes": 8 << 20},
    "more seeds": {},
}
MODEL_ONLY = {
    "test_a_completion_that_cannot_be_written_is_comp_prot":
        "the model's network holds a packet back; on RTL: rtl/vi/complete/test_completion",
    "test_a_receive_begun_when_the_connection_ends_completes_flushed_and_first":
        "the model's network loses a chosen packet; on RTL: rtl/vi/receive/test_cases",
    "test_no_engine_no_registers": "a NIC without an engine; on RTL: rtl/nic/test_registers",
}
"""Beside those that want fixtures of pytest, which are the model's: chosen packets lost
(rtl/vi/send/test_reliable and rtl/vi/receive/test_cases do that on RTL), and what is logged."""
LIMIT = 800_000
"""Cycles that a case may take on Icarus."""
TOO_LONG = {"test_unreliable_messages_arrive_at_most_once_in_order_and_whole"}
"""Takes more: millions of them."""


def chosen(modules: Iterable[str] = MODULES) -> list[Case]:
    found = [case for module in modules for case in cases(importlib.import_module(module))]
    return [case for case in found if case.name not in MODEL_ONLY]


@cache
def by_structure() -> dict[str, list[Case]]:
    """The cases of each structure."""
    base = describe(BASE, {})
    names = {tuple(sorted(knobs.items())): name for name, knobs in OTHERS.items()} | {(): "small"}
    found: dict[str, list[Case]] = {name: [] for name in (*OTHERS, "small")}
    for case in chosen():
        knobs = structure_of(case, base)
        if knobs is None:
            continue
        name = names[tuple(sorted(knobs.items()))]
        if name == "small" and case.arguments.get("seed", 0) >= SEEDS:
            name = "more seeds"
        found[name].append(case)
    return found


def check(knobs: dict[str, Any], which: list[Case], sim: str = "verilator",
          limit: int | None = None) -> None:
    found = run_cases(describe(BASE, knobs), which, sim, limit)
    bad = {name: text for name, text in found.items() if text}
    assert len(found) == len(which)
    assert not bad, f"{len(bad)} of {len(found)}: {', '.join(bad)}\n" + "\n".join(
        f"{name}: {text}" for name, text in list(bad.items())[:5])


def test_every_case_has_its_place():
    """No structure is without a simulator, none without a case, no name is out of date."""
    places = by_structure()
    assert all(places.values()), places
    names = {case.name for module in MODULES for case in cases(importlib.import_module(module))}
    assert set(MODEL_ONLY) | TOO_LONG <= names


def test_small():
    check({}, by_structure()["small"])


@pytest.mark.full
@pytest.mark.parametrize("name", SCHEMES)
def test_other_translation_schemes(name):
    check(OTHERS[name], by_structure()[name])


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in OTHERS if name not in SCHEMES])
def test_other_structures(name):
    check(OTHERS[name], by_structure()[name])


@pytest.mark.full
@pytest.mark.skipif(not shutil.which("iverilog"), reason="no Icarus: apt install iverilog")
def test_small_on_icarus():
    """Every function, with the first of its parameters."""
    check({}, [case for case in by_structure()["small"]
               if case.number == 0 and case.name not in TOO_LONG], "icarus", LIMIT)
