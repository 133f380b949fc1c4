"""The network way of AM-II on the real target: the tests of the functional model, in simulators."""

import importlib
import shutil
from collections.abc import Collection
from typing import Any

import pytest

from tests.labs.on_simulator import Case, cases, run_cases, structure_of
from tests.programs.am2_network import describe, overriding

MODULES = tuple(f"tests.host.am2.network.{name}" for name in (
    "test_network", "test_failures", "test_protection", "test_eviction"))
SMOKE = {"test_arguments_there_and_back", "test_a_wrong_tag_brings_a_message_back",
         "test_waiting_gives_up_the_cpu", "test_a_packet_brings_its_endpoint_in"}
"""What always runs."""
OF_THE_MODEL = {"test_messages_sent_again_are_told"}
"""They look into the functional target's NICs."""


def common() -> list[Case]:
    """The cases of the tests' common structure."""
    base = describe()
    return [case for module in MODULES for case in cases(importlib.import_module(module))
            if structure_of(case, base) == {} and case.name not in OF_THE_MODEL]


def check(which: list[Case], sim: str = "verilator", **knobs: Any) -> None:
    found = run_cases(describe(**knobs), which, sim, None)
    bad = {name: text for name, text in found.items() if text}
    assert len(found) == len(which)
    assert not bad, f"{len(bad)} of {len(found)}: {', '.join(bad)}\n" + "\n".join(
        f"{name}: {text}" for name, text in list(bad.items())[:5])


def smoke(sim: str = "verilator", names: Collection[str] = SMOKE, **knobs: Any) -> None:
    chosen = [case for case in common() if case.name in names]
    assert {case.name for case in chosen} == set(names)
    with overriding(knobs):
        check(chosen, sim, **knobs)


def test_some():
    smoke()


@pytest.mark.full
def test_all():
    check(common())


@pytest.mark.full
def test_some_on_vexriscv():
    smoke(nic__processor="vexriscv")


@pytest.mark.full
def test_one_on_serv():
    smoke(names={"test_a_message_that_a_process_sends_back"}, nic__processor="serv",
          am2__retry_timeout=1_000_000)


@pytest.mark.full
@pytest.mark.skipif(not shutil.which("iverilog"), reason="no Icarus: apt install iverilog")
def test_one_on_icarus():
    smoke("icarus", {"test_a_message_that_a_process_sends_back"})
