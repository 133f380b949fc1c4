"""The programs of `nicbed speed`."""

from nicbed.testbench.speed.workloads import WORKLOADS, programs


def test_one_of_eight_pairs_of_the_sparse_workload_is_active() -> None:
    active = [node for node, program in enumerate(programs("am", "sparse", 100, 64)) if program]
    assert active == [0, 1, 16, 17, 32, 33, 48, 49]


def test_all_nodes_of_the_others_have_a_program() -> None:
    for layer, names in WORKLOADS.items():
        for name in set(names) - {"sparse"}:
            assert None not in programs(layer, name, 100, 4)
