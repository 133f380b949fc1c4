"""How much of a kernel is run."""

import pytest
from nicbed import Testbed
from nicbed.host.apps.nas.kernels import KERNELS, get
from nicbed.testbench.apps.nas import extent
from nicbed.testbench.testbed.options import Options

CHOSEN = {"is": 2, "ep": 0, "cg": 2, "mg": 0, "ft": 1, "lu": 9, "sp": 4, "bt": 3}
"""Of class A on 4 nodes, as docs/how-to/nas.md has it; 0: all."""


@pytest.mark.parametrize("name", KERNELS)
def test_iterations_of_class_a(name):
    assert extent.chosen(get(name)("A", 4)) == CHOSEN[name]


@pytest.mark.parametrize("name", KERNELS)
def test_no_more_runs_than_the_time_allows(name):
    kernel = get(name)("A", 4)
    some = extent.chosen(kernel)
    if some == kernel.least:
        assert extent.seconds(kernel) > extent.WHOLE_SECONDS
        assert extent.seconds(kernel, some + 1) > extent.PART_SECONDS
    elif some:
        assert extent.seconds(kernel, some) <= extent.PART_SECONDS < extent.seconds(
            kernel, some + 1)
    else:
        assert extent.seconds(kernel) <= extent.WHOLE_SECONDS


def test_the_outlook():
    run = "class A on 4 nodes: 2 of 15 iterations, 840 messages of 23 MB in all"
    assert extent.outlook(get("cg")("A", 4), 2, known=False) == run
    assert extent.outlook(get("cg")("A", 4), 2, known=True) == (
        f"{run}: about 29 s of CPU time, of simulation, on the default NIC")
    assert extent.outlook(get("cg")("S", 4), 1, known=True) == ""
    assert extent.outlook(get("ep")("A", 4), 0, known=True) == ""


def test_keys_are_ranked_though_computation_is_charged():
    kernel = get("is")("A", 4)
    messages, length = kernel.volume(3)
    assert extent.seconds(kernel, 2) == pytest.approx(
        messages * extent.MESSAGE_SECONDS + length * extent.BYTE_SECONDS
        + 3 * (1 << 23) * extent.KEY_SECONDS)


@pytest.mark.parametrize("channel, sim, compute, known", [
    ("via", "verilator", "charged", True), ("via", "icarus", "charged", False),
    ("tcp", "verilator", "charged", False), ("via", "verilator", "whole", False)])
def test_a_time_is_told_only_where_it_was_calibrated(channel, sim, compute, known):
    bed = Testbed(nodes=4, sim=sim, store=None, options=Options([f"mpi.channel={channel}"]))
    found = bed.program("cg", **{"class": "A", "compute": compute}).outlook
    assert ("of CPU time" in found) == known and "messages of" in found
