"""Benchmarks of one-way layers, MPL among them, on the functional model."""

import asyncio

import pytest
from nicbed.testbench.benches import get, run
from nicbed.testbench.descriptions import load as descriptions
from nicbed.testbench.errors import UserError

from tests.labs.model import ModelLab


def measured(name, overrides=(), **parameters):
    description = descriptions.for_layer(descriptions.load("default", overrides), "mpl")
    usual = get(name).module("mpl").parameters(description)
    outcome = asyncio.run(run(ModelLab(description), name, "mpl", {**usual, **parameters}))
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


def test_a_stream_ends_with_a_message_without_data():
    """Twice the time of 8 messages has one end more than that of 16, and an end takes no message's
    time."""
    short, long = (measured("bandwidth", sizes=[32768, 65536], bytes=count * 65536)
                   ["points"]["65536"] for count in (8, 16))
    assert (short["messages"], long["messages"]) == (8, 16)
    one = (long["cycles"] - short["cycles"]) / 8
    assert 0 < 2 * short["cycles"] - long["cycles"] < one / 2


def test_mpl_needs_a_way_to_send():
    with pytest.raises(UserError, match="nic.send_ring = 0: layer mpl needs a send ring"):
        descriptions.for_layer(descriptions.load("default", ["nic.send_ring=0"]), "mpl")
