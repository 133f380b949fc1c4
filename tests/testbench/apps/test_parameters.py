"""Parameters of programs, and what their data need."""

import pytest
from nicbed import Testbed, UserError
from nicbed.host.apps.nas.kernels import get
from nicbed.host.mpi.channels.via import ViaChannel
from nicbed.testbench.apps import APPS, needs
from nicbed.testbench.testbed.options import Options

KERNELS = [name for name, app in APPS.items() if app.layer == "mpi"]


def wanted(name, *overrides, nodes=4, **given):
    return Testbed(options=Options(overrides), nodes=nodes, store=None).program(
        name, **{key.rstrip("_"): value for key, value in given.items()})


@pytest.mark.parametrize("name", KERNELS)
def test_class_a_fits_as_it_is(name):
    """Memory and the translation table grow where nobody says how large they are."""
    found = wanted(name, class_="A")
    assert found.description.memory.bytes == {"is": 32 << 20, "ft": 128 << 20}.get(name, 8 << 20)
    assert found.description.via.translations == (8192 if name == "ft" else 4096)
    whole = name in ("ep", "mg")
    assert found.parameters["compute"] == ("whole" if whole else "charged")
    assert (found.parameters["iterations"] == 0) == whole
    assert (found.outlook == "") == (name in ("ep", "sp", "bt")), "what takes 20 s and more is told"


def test_memory_grows_for_the_buffers_of_mpi():
    """On 16 nodes IS has 5.2 MB of data, and buffers of 15 VIs."""
    found = wanted("is", class_="A", nodes=16).description
    assert (found.memory.bytes, found.via.translations) == (16 << 20, 4096)


def test_short_messages_register_no_data():
    """EP sends sums alone; MG's faces are long."""
    description = wanted("ep").description
    own = ViaChannel.pages(description, 3)
    for name, more in (("ep", False), ("mg", True)):
        _, entries = needs.of_kernel(name, get(name)("A", 4), description)
        assert (entries.least > own) == more


@pytest.mark.parametrize("given, compute, iterations", [
    ({}, "charged", 2), ({"iterations": 4}, "charged", 4), ({"iterations": 10}, "whole", 10),
    ({"compute": "whole"}, "whole", 0), ({"compute": "whole", "iterations": 3}, "whole", 3),
    ({"compute": "charged"}, "charged", 2)])
def test_what_of_class_a_runs(given, compute, iterations):
    found = wanted("is", class_="A", **given).parameters
    assert (found["compute"], found["iterations"]) == (compute, iterations)


@pytest.mark.parametrize("size", ["S", "W"])
def test_smaller_classes_run_whole(size):
    found = wanted("ft", class_=size)
    assert found.parameters == {"class": size, "compute": "whole", "iterations": 0}
    assert found.description.memory.bytes == 8 << 20


def test_over_gm_the_translation_table_does_not_grow():
    found = wanted("ft", "mpi.channel=gm", "nic.processor=vexriscv", "processor.memory=131072",
                   class_="A")
    assert (found.description.memory.bytes, found.description.via.translations) == (128 << 20, 4096)


@pytest.mark.parametrize("name, overrides, how, text", [
    ("is", ["memory.bytes=8388608"], {"class_": "A"},
     "is needs 22565184 bytes of host memory: memory.bytes = 8388608; try --set "
     "memory.bytes=33554432, or less data"),
    ("ft", ["memory.bytes=67108864"], {"class_": "A"},
     "ft needs 68759872 bytes of host memory: memory.bytes = 67108864; try --set "
     "memory.bytes=134217728, or less data"),
    ("ft", [], {"class_": "A", "nodes": 2},
     "ft needs 135172288 bytes of host memory: memory.bytes = 8388608; a node has at most "
     "134217728; try --nodes 4"),
    ("ft", ["via.translations=4096"], {"class_": "A"},
     "ft needs 4397 entries of the translation table: via.translations = 4096; try --set "
     "via.translations=8192, or less data"),
    ("ft", ["via.page_bytes=1024"], {"class_": "A"},
     "ft needs 17551 entries of the translation table: via.translations = 4096; a node has at most "
     "16384; try --nodes 8"),
    ("is", ["mpi.channel=gm", "nic.processor=vexriscv", "processor.memory=131072",
            "gm.receive_tokens=16"], {"nodes": 16},
     "is: MPI_ERR_NO_MEM: gm.receive_tokens = 16: too few for 16 ranks, each needs "
     "2 for each other"),
    ("mm", [], {"blocks": 64, "block": 512},
     "mm needs 6451142976 bytes of host memory: memory.bytes = 8388608; a node has at most "
     "134217728; try less data"),
    ("is", [], {"class_": "A", "iterations": 11}, "--iterations 11: is of class A has 10"),
    ("is", [], {"iterations": 0}, "--iterations 0: must be 1 to 1000"),
    ("is", [], {"iterations": "4"}, "--iterations 4: must be a whole number, 1 to 1000"),
    ("is", [], {"iterations": None}, "--iterations None: must be a whole number, 1 to 1000"),
    ("is", [], {"iterations": 2.5}, "--iterations 2.5: must be a whole number, 1 to 1000"),
    ("is", [], {"iterations": True}, "--iterations True: must be a whole number, 1 to 1000"),
    ("cg", [], {"class_": ["S"]}, "--class ['S']: must be S or W or A"),
    ("cg", [], {"class_": "B"}, "--class B: must be S or W or A"),
    ("cg", [], {"compute": "some"}, "--compute some: must be whole or charged"),
    ("sp", [], {"class_": "A", "nodes": 8}, "SP of class A on 8 processes: must be a square"),
    ("cg", [], {"keys": 3}, "--keys: cg has no such parameter: it takes --class, --compute, "
                            "--iterations"),
])
def test_data_that_do_not_fit_are_told_in_one_line(name, overrides, how, text):
    with pytest.raises(UserError) as told:
        wanted(name, *overrides, **how)
    assert str(told.value) == text
