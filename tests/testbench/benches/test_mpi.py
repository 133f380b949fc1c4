"""Benchmarks of MPI on the functional model."""

import asyncio

import pytest
from nicbed.testbench.benches import get, run
from nicbed.testbench.benches.mpi.collectives import steps
from nicbed.testbench.descriptions import load as descriptions
from nicbed.testbench.errors import UserError

from tests.labs.model import ModelLab

GM = ["mpi.channel=gm", "nic.processor=picorv32", "processor.memory=131072"]
TCP = ["mpi.channel=tcp", "nic.mtu=1500"]


def measured(name, overrides=(), nodes=None, **parameters):
    description = descriptions.for_layer(descriptions.load("default", overrides, nodes), "mpi")
    module = get(name).module("mpi")
    usual = module.parameters(description)
    outcome = asyncio.run(run(ModelLab(description), name, "mpi", {**usual, **parameters}))
    assert not [check for check in outcome["checks"] if not check["ok"]]
    document = {**outcome, "parameters": {**usual, **parameters}, "clock_mhz": 66, "notes": []}
    assert module.tables(document) and module.headline(document) and module.series(document)
    return outcome["results"]


@pytest.mark.parametrize("overrides, below", [([], "VIA"), (GM, "GM")], ids=["via", "gm"])
def test_latency_beside_the_layer_below(overrides, below):
    found = measured("latency", overrides, sizes=[4, 256, 8192], trips=4)
    assert list(found["half"]) == [below, "MPI"]
    assert all(value > 0 for value in found["extra"]["MPI"].values())
    parts = found["parts"]
    assert parts["4"]["registration"] == 0 < parts["8192"]["registration"]
    assert parts["256"]["copies"] > parts["4"]["copies"] > parts["8192"]["copies"] == 0
    assert parts["8192"]["protocol"] > parts["4"]["protocol"]


def test_latency_over_tcp_has_select_and_a_copy_less():
    """Nothing is registered, and data go from the socket right to where they belong."""
    found = measured("latency", TCP, sizes=[4, 256, 8192], trips=4)
    assert list(found["half"]) == ["TCP", "MPI"]
    assert all(value > 0 for value in found["extra"]["MPI"].values())
    parts = found["parts"]
    assert all(parts[size]["registration"] == parts[size]["copies"] == 0 for size in parts)
    assert parts["8192"]["protocol"] > parts["4"]["protocol"]


def test_the_layers_own_work_is_on_the_path():
    one, three = (measured("latency", [f"mpi.path_scale={scale}"], sizes=[4])
                  for scale in (1, 3))
    own = {name: one["parts"]["4"][name] for name in ("calls", "matching", "protocol")}
    for name, value in own.items():
        assert three["parts"]["4"][name] == pytest.approx(3 * value, rel=0.05), name
    assert three["half"]["VIA"] == one["half"]["VIA"]
    more = three["half"]["MPI"]["4"] - one["half"]["MPI"]["4"]
    assert 0.5 * sum(own.values()) < more < 2.2 * sum(own.values())


@pytest.mark.parametrize("overrides", [[], GM, TCP], ids=["via", "gm", "tcp"])
def test_bandwidth_beside_the_layer_below(overrides):
    found = measured("bandwidth", overrides, sizes=[64, 4096, 32768], bytes=1 << 16)["bandwidth"]
    below, mpi = found.values()
    assert all(mpi[size] < 1.02 * below[size] for size in mpi)
    assert list(mpi.values()) == sorted(mpi.values())


def test_fresh_buffers_cost_registration_and_so_does_no_cache():
    found = measured("buffers", sizes=[4, 16384])["extra"]
    assert found["no cache"]["4"] == 0 < found["no cache"]["16384"]
    assert found["fresh buffers"]["16384"] > 0


def test_segments_are_cheaper_than_copies_of_long_messages():
    half = measured("gather", totals=[256, 32768], blocks=[1, 4])["half"]
    assert half["256 B, pack"] == half["256 B, segments"]  # short ones are always copied
    assert half["32 KB, segments"]["4"] < half["32 KB, pack"]["4"]
    assert half["32 KB, segments"]["1"] == half["32 KB, pack"]["1"]


def test_wildcards_cost_nothing():
    assert set(measured("wildcard", sizes=[4, 4096])["extra"]["any rank and tag"].values()) == {0}


def test_reads_hide_and_writes_wait():
    hidden = measured("overlap", sizes=[65536])["hidden"]
    assert hidden["write"]["65536"] < 0.4 < hidden["read"]["65536"]


@pytest.mark.parametrize("nodes", [3, 4])
def test_collectives(nodes):
    found = measured("collectives", nodes=nodes, sizes=[8, 4096])
    for call, by_size in found["measured"].items():
        for size, cycles in by_size.items():
            assert 0.8 * found["predicted"][call][size] < cycles, (call, size)
            assert cycles < 3 * found["predicted"][call][size], (call, size)


def test_steps_of_algorithms():
    assert [steps("barrier", n) for n in (2, 3, 4, 5, 8)] == [1, 2, 2, 3, 3]
    assert [steps("bcast", n) for n in (2, 3, 4, 5, 8)] == [1, 1, 2, 2, 3]
    assert [steps("allreduce", n) for n in (2, 3, 4, 5, 8)] == [1, 3, 2, 4, 3]
    assert [steps("alltoall", n) for n in (2, 3, 8)] == [1, 2, 7]


def test_channels_need_what_they_stand_on():
    with pytest.raises(UserError, match=r"nic.processor = none: layer mpi over gm \(mpi.channel\)"):
        descriptions.for_layer(descriptions.load("default", ["mpi.channel=gm"]), "mpi")
    assert descriptions.for_layer(descriptions.load(), "mpi").via.design == "engine"
