"""Benchmarks of one-way layers, MPL and TCP among them, on the functional model."""

import asyncio

import pytest
from nicbed.testbench.benches import get, run
from nicbed.testbench.descriptions import load as descriptions
from nicbed.testbench.errors import UserError

from tests.labs.model import ModelLab


def measured(name, overrides=(), layer="mpl", **parameters):
    description = descriptions.for_layer(descriptions.load("default", overrides), layer)
    usual = get(name).module(layer).parameters(description)
    outcome = asyncio.run(run(ModelLab(description), name, layer, {**usual, **parameters}))
    assert not [check for check in outcome["checks"] if not check["ok"]]
    return outcome


def halves(overrides=()):
    return measured("latency", overrides, sizes=[0, 4, 256, 4096],
                    trips=4)["results"]["half"]["latency"]


def test_latency_of_mpl_from_no_data_on():
    """It grows with the data, and a message that is asked for takes a round trip more."""
    found = halves()
    assert list(found.values()) == sorted(found.values())
    asked = halves(["mpl.eager_bytes=16"])
    assert asked["0"] == found["0"] and asked["256"] > found["256"] + found["0"]


def test_the_layers_own_work_is_on_the_path():
    fast, slow = (measured("logp", [f"mpl.path_scale={scale}", "link.latency=40"], messages=32,
                            trips=4)["results"]
                  for scale in (1, 2))
    for name in ("o_s", "o_r", "rtt"):
        assert slow[name] > fast[name] + 15, name
    # Posting a receive is in o_r, and in a ping-pong beside the flight.
    assert fast["L"] - 60 < slow["L"] < fast["L"]


@pytest.mark.parametrize("layer, size, overrides", [
    ("mpl", 32768, []), ("tcp", 32768, []), ("gm", 32768, ["nic.processor=picorv32"]),
    ("fm", 4096, ["nic.processor=picorv32"])])
def test_a_stream_ends_with_a_short_answer(layer, size, overrides):
    """Twice the time of 8 messages has one end more than that of 16, and an end takes no message's
    time."""
    short, long = (measured("bandwidth", overrides, layer, sizes=[size // 2, size],
                            bytes=count * size)["points"][str(size)] for count in (8, 16))
    assert (short["messages"], long["messages"]) == (8, 16)
    one = (long["cycles"] - short["cycles"]) / 8
    assert 0 < 2 * short["cycles"] - long["cycles"] < one / 2


def test_mpl_needs_a_way_to_send():
    with pytest.raises(UserError, match="nic.send_ring = 0: layer mpl needs a send ring"):
        descriptions.for_layer(descriptions.load("default", ["nic.send_ring=0"]), "mpl")


def test_where_the_kernel_is_in_logp_of_tcp():
    """Traps are in o_s and o_r; the switch to a process that waits is in L, for one that computes
    needs none. So is, taken off, the trap of a receive that waits: it is over before."""
    few, many = (measured("logp", [f"cpu.trap={trap}", f"tcp.context_switch={switch}"], "tcp",
                          messages=32, trips=4)["results"]
                 for trap, switch in ((400, 1200), (1400, 4200)))
    assert 300 < many["o_s"] - few["o_s"] < 360      # 1,000 cycles at 200 MHz
    assert 300 < many["o_r"] - few["o_r"] < 360
    assert 600 < many["L"] - few["L"] < 720          # 3,000 less the 1,000 in o_r


def test_longer_packets_make_tcp_faster():
    knobs = ["nic.mtu=9000", "nic.send_fifo=16384", "nic.receive_fifo=16384"]
    short, long = (measured("bandwidth", more, "tcp", sizes=[8192, 32768], bytes=1 << 19)
                   ["results"]["best"] for more in ([], knobs))
    assert long > 1.2 * short
    half = measured("latency", [], "tcp", sizes=[4, 4096], trips=4)["results"]["half"]["latency"]
    assert half["4"] < half["4096"]


@pytest.mark.parametrize("knob, text", [
    ("nic.processor=picorv32", "layer tcp takes interrupts of the NIC's receive ring"),
    ("nic.send_ring=0", "nic.send_ring = 0: layer tcp needs a send ring"),
    ("node.nics=2", "node.nics = 2: layer tcp drives nodes with one NIC")])
def test_tcp_needs_a_nic_with_rings(knob, text):
    with pytest.raises(UserError, match=text):
        descriptions.for_layer(descriptions.load("default", [knob]), "tcp")
