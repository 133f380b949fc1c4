"""How much of a kernel is run."""

import pytest
from nicbed.host.apps.nas.kernels import KERNELS, get
from nicbed.testbench.apps.nas import extent

CHOSEN = {"is": 2, "ep": 0, "cg": 2, "mg": 0, "ft": 1, "lu": 9, "sp": 4, "bt": 3}
"""Of class A on 4 nodes, as docs/how-to/nas.md has it; 0: all."""


@pytest.mark.parametrize("name", KERNELS)
def test_iterations_of_class_a(name):
    assert extent.chosen(get(name)("A", 4)) == CHOSEN[name]


@pytest.mark.parametrize("name", KERNELS)
def test_no_more_runs_than_the_time_allows(name):
    kernel = get(name)("A", 4)
    some = extent.chosen(kernel)
    if some > kernel.least:
        assert extent.seconds(kernel, some) <= extent.PART_SECONDS < extent.seconds(
            kernel, some + 1)
    elif not some:
        assert extent.seconds(kernel) == extent.seconds(kernel, kernel.iterations)
        assert extent.seconds(kernel) <= extent.WHOLE_SECONDS


def test_the_outlook():
    assert extent.outlook(get("cg")("A", 4), 2) == (
        "class A on 4 nodes: 2 of 15 iterations, 840 messages of 23 MB in all: about 55 s of CPU "
        "time")
    assert extent.outlook(get("cg")("S", 4), 1) == ""
    assert extent.outlook(get("ep")("A", 4), 0) == ""

