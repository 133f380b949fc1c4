"""What the study of clumps claims, on its machines: the price of a second protocol and of the
abstraction, where one SMP beats workstations, and what a layout is worth. ``--full`` has what the
simulator runs for long; the rest is counted, or runs on the functional target. That a second
protocol costs local traffic its polls and network traffic nothing is in benches/test_am2.py, that
CPUs which compute from one memory wait for it in host/apps/test_clumps.py."""

from functools import cache

import numpy as np
import pytest
from nicbed.testbench.apps.counting import counted
from nicbed.testbench.descriptions import load
from nicbed.testbench.machines import studies
from nicbed.testbench.machines.measured import job_for
from nicbed.testbench.machines.reproduction import measured

from tests.programs.apps import run_app

NETWORK = {"am2.protocol": "network", "am2.processes": "nodes", "nic.processor": "picorv32",
           "processor.memory": 1 << 18}


@cache
def table(name):
    """A table of the study, measured: of each figure (ours, in its unit)."""
    [(_, [one])] = studies.chosen(f"clumps/{name}")
    return {row.figure.name: row.ours for row in measured(one).rows}


def messages(program, layout="4x8"):
    """What a program of the study does at full size in ``layout``, counted."""
    [(_, [one])] = studies.chosen("clumps/traffic")
    wanted = one.quantity(f"{program}: % within")
    job = job_for(load.load("e5000"), wanted)
    return counted(wanted.bench, job.parameters["full"], job.description, "am2")


# Local messages are far cheaper than those of the network, and the second protocol is cheap


def test_small_messages_are_far_cheaper_within_a_node():
    """A step of EM3D with two processes, the same on two CPUs and on two nodes."""
    given = {"vertices": 2, "degree": 10}
    within = run_app("em3d", 2, given, {"node.cpus": 2, "am2.protocol": "shared"}, layer="am2")
    between = run_app("em3d", 2, given, NETWORK, layer="am2")
    communication = [sum(one["communication"]["cycles"] for one in found.outcome["results"][
        "processes"]) for found in (within, between)]
    assert 4 * communication[0] < communication[1]


@pytest.mark.full
def test_local_messages_are_far_cheaper_and_the_network_pays_little_for_them():
    """It pays an eighth of its round trip, in the study nothing: a process that waits looks at the
    network in one of 8 to 32 polls."""
    found = table("logp")
    for name in ("o_s", "o_r"):
        assert found[f"{name}, shared memory"] < found[f"{name}, Myrinet"] / 2
    assert found["round trip, shared memory"] < found["round trip, Myrinet"] / 5
    assert found["1/G, shared memory"] > 3 * found["1/G, Myrinet"]
    assert found["round trip, both, network"] < 1.15 * found["round trip, Myrinet"]


# Abstraction costs as much as the bus, nearly


@pytest.mark.full
def test_polls_checks_and_the_swap_are_nearly_as_dear_as_the_bus():
    """Published they are as dear, 112 cycles and 111. Here there are two CAS where the study has
    three, and the CPU waits for each miss (the study's remarks)."""
    found = table("costs")
    abstraction = sum(found[f"send: {name}"] for name in (
        "poll of both heads", "argument and tag checks", "CAS"))
    misses = found["send: misses, full check"]
    assert 0.6 * misses < abstraction < misses
    assert misses < found["send: all"] / 2


# One SMP beats workstations where messages are small and many, and loses where memory bounds


@pytest.mark.full
@pytest.mark.parametrize(("program", "least"), [("EM3D", 3), ("CON comm", 1.15)])
def test_one_smp_beats_workstations_with_small_messages(program, least):
    """The study's by 4.4 and 2.0."""
    found = table("applications")
    assert found[f"{program}, NOW-8"] > least * found[f"{program}, SMP"]


@pytest.mark.full
@pytest.mark.parametrize("program", ["FFT", "CON comp"])
def test_one_smp_loses_where_memory_bounds(program):
    found = table("applications")
    assert found[f"{program}, SMP"] > 1.1 * found[f"{program}, NOW-8"]


@pytest.mark.full
@pytest.mark.parametrize("name", ["FFT", "CON comm", "CON comp", "EM3D"])
def test_the_second_protocol_costs_programs_little(name):
    found = table("applications")
    if name != "CON comp":
        assert found[f"{name}, NOW-8, both"] == pytest.approx(found[f"{name}, NOW-8"], rel=0.15)
    assert found[f"{name}, SMP, both"] < 1.15 * found[f"{name}, SMP"]


# A clump loses all-to-all by its share of NICs; a layout pays if it pays for all


def test_all_to_all_loses_by_the_share_of_nics():
    """Eight processes of a node share three NICs. What stays on the node is a little, so that each
    NIC of a clump carries about twice what a workstation's does."""
    found = messages("FFT")
    on_a_clump = found["blocks off"] * 8 / 3
    on_a_workstation = found["blocks off"] + found["blocks within"]
    assert on_a_clump > 2 * on_a_workstation


def test_a_layout_pays_only_for_the_process_with_most_messages():
    """Of naive blocks, the mean process has most messages within its SMP, but phases end with the
    one that has most off it. Good blocks keep more of all messages within, and of that one's."""
    naive, good = (np.array(messages(f"EM3D {mapping}")["processes"]) for mapping in (
        "naive", "good"))
    (naive_off, naive_within), (good_off, good_within) = naive.T, good.T
    assert naive_within.mean() > naive_off.mean()
    assert naive_off.max() > 1.3 * naive_off.mean()
    assert good_off.mean() < 0.7 * naive_off.mean() and good_off.max() < naive_off.max()
    assert good_within.mean() > naive_within.mean()


@pytest.mark.full
def test_more_nodes_make_a_step_of_the_same_data_a_process_longer():
    """Most of all where SMPs share NICs. How blocks lie counts on workstations, too, by the upper
    part of the tree; in the study it is naive ones that are faster there (see its remarks)."""
    found = table("applications")
    assert found["EM3D naive, 4 x 8"] > 3 * found["EM3D, SMP"]
    assert found["EM3D naive, NOW-32"] > 1.1 * found["EM3D, NOW-8"]
    assert abs(found["EM3D good, NOW-32"] / found["EM3D naive, NOW-32"] - 1) > 0.05
