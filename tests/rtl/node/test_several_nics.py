"""Nodes with several NICs: a bus each, behind one memory, a place in the addresses of the CPUs, and
a CPU that each interrupts."""

from typing import Any

import pytest
from nicbed.layouts.description import Description
from nicbed.layouts.trace import PORT_SHIFT, Block, Event
from nicbed.rtl.cpu.host_port import HostPort
from nicbed.rtl.cpu.port_shape import PortShape
from nicbed.rtl.node.node import Node
from nicbed.testbench.backends.session import run_job

from tests.labs.rows import more

JOBS = "tests.programs.nics_jobs:"


def describe(nics: int, cpus: int, **knobs: Any) -> Description:
    return Description.model_validate({"node": {"nics": nics, "cpus": cpus}, **knobs})


def test_a_node_of_one_nic_has_the_ports_of_one_of_several() -> None:
    one, three = Node(description=Description()), Node(description=describe(3, 2))
    assert {*one.signature.members} == {*three.signature.members}
    assert (len(one.link), len(three.link)) == (1, 3)
    assert len(one.cpus) == len(three.cpus) == 4
    port = HostPort(shape=PortShape(posted_writes=4, cache_lines=4, nics=3))
    assert len(port.pio) == 3


def reads(nics: list[int]) -> list[tuple[int, list[int]]]:
    return run_job(describe(2, 2), function=JOBS + "reads", arguments={"nics": nics})


def test_random_programs_on_two_nics() -> None:
    """Of a node with one CPU, with time skipped and not. (build/test_instances compares them with
    one design.)"""
    skipped, seen = (run_job(describe(2, 1), function=JOBS + "random_nics",
                             arguments={"seeds": [1], "trace": True, "skip": skip})
                     for skip in (True, False))
    assert skipped == seen and skipped[0]["events"]


@pytest.mark.full
def test_each_nic_has_a_bus_of_its_own() -> None:
    """Two CPUs wait for each other at one NIC, and not at two."""
    (alone, words), = reads([0])
    assert words == [0] * 40
    assert reads([0, 1]) == [(alone, [0] * 40), (alone, [1] * 40)]
    assert reads([1, 0]) == [(alone, [1] * 40), (alone, [0] * 40)]
    for (one, first), (other, second) in (reads([0, 0]), reads([1, 1])):
        assert first == second and max(one, other) > 1.8 * alone


@pytest.mark.full
def test_a_number_beyond_the_last_nic_is_the_last_one_s() -> None:
    assert [words[0] for _, words in reads([2, 3])] == [1, 1]


@pytest.mark.parametrize(("nics", "cpus"), [(2, 1), more(2, 2), more(2, 3), more(4, 2)])
def test_a_nic_interrupts_one_cpu(nics: int, cpus: int) -> None:
    """NIC k CPU k modulo the number of CPUs."""
    for nic in range(nics):
        assert run_job(describe(nics, cpus), function=JOBS + "interrupts",
                       arguments={"nic": nic}) == [cpu == nic % cpus for cpu in range(cpus)]


@pytest.mark.full
def test_events_tell_the_nics_apart() -> None:
    """Those of a bus have the wire address of its NIC: by it CPU c drives NIC c alone."""
    found, = run_job(describe(2, 2), function=JOBS + "random_nics",
                     arguments={"seeds": [3], "count": 4, "trace": True})
    buses = [event for event in map(Event._make, found["events"]) if event.block == Block.BUS]
    ports = {(event.node, event.arg >> PORT_SHIFT) for event in buses
             if event.arg == 0 or event.arg >> PORT_SHIFT}
    assert ports == {(address, address % 2) for address in range(4)}
    assert {event.node for event in buses if 0 < event.arg < 1 << PORT_SHIFT} == set(range(4))
    memory = {event.node for event in map(Event._make, found["events"])
              if event.block == Block.MEMORY}
    assert memory == {0, 1}
