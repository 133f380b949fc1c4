"""COMMTEST on the functional model: calls and messages of each protocol, the linear model, the
tables."""

import asyncio
from collections import Counter
from fractions import Fraction

import pytest
from nicbed.testbench.backends.session import run_job
from nicbed.testbench.benches import get, run
from nicbed.testbench.benches.mpi.commtest.exchange import Plan, measure_exchanges, wrong_calls
from nicbed.testbench.benches.mpi.commtest.grid import (
    APART,
    AT_ONCE,
    BASE,
    BETWEEN,
    COUNTS,
    PLACEMENTS,
    RING,
    TWO,
    WITHIN,
    Cell,
    cells_of,
)
from nicbed.testbench.benches.mpi.commtest.model import dominated, fit, ranked
from nicbed.testbench.benches.mpi.commtest.protocols import (
    PREPOSTED,
    PROTOCOLS,
    SENDRECV,
    SWAP,
    by_name,
)
from nicbed.testbench.descriptions import load as descriptions
from nicbed.testbench.results.plots import render

from tests.labs.model import ModelLab
from tests.labs.rows import more

BENCH = get("commtest").module("mpi")

UNORDERED = {
    "u0": "Bsend Recv", "u1": "Isend Recv Wait", "u2": "Irecv Send Wait",
    "u3": "Irecv Isend Wait Wait", "u4": "Irecv Send Recv Rsend Wait",
    "u5": "Irecv Send Recv Irsend Wait Wait", "u6": "Sendrecv", "u7": "Issend Recv Wait",
    "u8": "Irecv Ssend Wait", "u9": "Irecv Issend Wait Wait"}
ORDERED = {
    "o0": ("Send Recv", "Recv Send"), "o1": ("Isend Recv Wait", "Recv Send"),
    "o2": ("Irecv Send Wait", "Recv Send"), "o3": ("Irecv Isend Wait Wait", "Recv Send"),
    "o4": ("Irecv Recv Rsend Wait", "Irecv Send Wait Rsend"),
    "o5": ("Irecv Recv Irsend Wait Wait", "Irecv Send Wait Rsend"),
    "o6": ("Recv Send Recv", "Send Recv Send"), "o7": ("Issend Recv Wait", "Recv Ssend"),
    "o8": ("Irecv Ssend Wait", "Recv Ssend"), "o9": ("Irecv Issend Wait Wait", "Recv Ssend"),
    "o10": ("Ssend Recv", "Recv Ssend")}
"""Calls for each message, of the first and the second rank. The handshake is a Send, and a Recv."""
CALLS = {**{name: (calls, calls) for name, calls in UNORDERED.items()}, **ORDERED}
RINGS = {"o4": ("Irecv Send Recv Rsend Wait", "Irecv Send Wait Recv Rsend"),
         "o5": ("Irecv Send Recv Irsend Wait Wait", "Irecv Send Wait Recv Rsend")}
"""Where in SENDRECV the handshake is with two others."""
MESSAGES = {"Send", "Bsend", "Ssend", "Rsend", "Isend", "Issend", "Irsend", "Sendrecv"}


def lab(overrides=(), nodes=4):
    return ModelLab(descriptions.for_layer(descriptions.load("default", overrides, nodes), "mpi"))


def measured(plan, overrides=()):
    placement = plan.placement
    if placement.cpus > 1:
        overrides = [*overrides, f"node.cpus={placement.cpus + 1}"]
    [found] = asyncio.run(measure_exchanges(lab(overrides, max(2, placement.nodes)), [plan]))
    assert found["sound"]
    return found


def test_there_are_21():
    assert [one.name for one in PROTOCOLS] == list(CALLS)
    assert [one.name for one in PREPOSTED] == ["u2+", "u3+", "u4+", "u5+", "u8+", "u9+"]


@pytest.mark.parametrize("operation, placement, name", [
    *((SWAP, TWO, name) for name in CALLS), *(more(SWAP, APART, name) for name in CALLS),
    *((SENDRECV, RING, name) if name in ("u5", "o3", "o4", "o5") else more(SENDRECV, RING, name)
      for name in CALLS),
    *((SWAP, placement, name) if name in ("u0", "o4") else more(SWAP, placement, name)
      for placement in (WITHIN, AT_ONCE) for name in CALLS)])
def test_calls_and_messages(operation, placement, name):
    """Short messages, exactly as many as the protocol has."""
    found = measured(Plan(operation, by_name(name), 24, 3, "a", PLACEMENTS[placement]))
    sides = RINGS.get(name, CALLS[name]) if operation == SENDRECV else CALLS[name]
    for place, (calls, messages) in enumerate(zip(found["calls"], found["messages"], strict=True)):
        words = sides[place % 2].split()
        assert calls == Counter(words * 3)
        assert messages == 3 * sum(word in MESSAGES for word in words)


@pytest.mark.parametrize("name", ["u3+", "o4", *map(more, ("u0", "u5+", "o9"))])
def test_each_message_ten_times(name):
    once = measured(Plan(SWAP, by_name(name), 24, 3, "b"))
    often = measured(Plan(SWAP, by_name(name), 24, 3, "c"))
    assert often["messages"] == [10 * one for one in once["messages"]]
    assert often["repeats"] == 10


@pytest.mark.parametrize("name", [one.name for one in PREPOSTED])
def test_preposted_calls(name):
    """One receive was posted before; ready sends have no handshake."""
    found = measured(Plan(SWAP, by_name(name), 24, 3, "b"))
    words = [word for word in UNORDERED[name[:-1]].split() if word != "Recv"]
    if name in ("u4+", "u5+"):
        words.remove("Send")
    wanted = Counter(words * 3)
    wanted["Irecv"] -= 1
    assert found["calls"] == [wanted] * 2 and found["messages"] == [3, 3]


@pytest.mark.parametrize("channel", [[], more(["mpi.channel=gm", "nic.processor=picorv32",
                                               "processor.memory=131072"])],
                         ids=["via", "gm"])
@pytest.mark.parametrize("name", [one.name for one in (*PROTOCOLS, *PREPOSTED)])
def test_long_messages(name, channel):
    """No protocol waits for ever, and a ready send always finds its receive."""
    measured(Plan(SWAP, by_name(name), 512, 2), channel)


@pytest.mark.parametrize("name", [name if name in ("o4", "o5") else more(name) for name in CALLS])
def test_long_messages_in_a_ring(name):
    measured(Plan(SENDRECV, by_name(name), 512, 2, "b", PLACEMENTS[RING]))


def test_other_calls_are_told():
    plan = Plan(SWAP, by_name("u3"), 8, 1)
    found = measured(plan)
    assert wrong_calls(plan, found) == ""
    other = Plan(SWAP, by_name("u1"), 8, 1)
    assert wrong_calls(other, found).startswith("rank 0: {")
    more_than_planned = Plan(SWAP, by_name("u3"), 8, 2)
    assert wrong_calls(more_than_planned, found)


def test_the_model_of_a_line_has_no_error():
    times = {count: Fraction(100 * count + 8 * 8192) for count in COUNTS}
    found = fit(times, 8192, 1024)
    assert found.a == 100
    assert found.b == Fraction(100 + 8 * 8192, 8192)
    assert found.errors["all"].most == pytest.approx(100 / (100 + 8 * 8192))
    assert set(found.errors) == {"all", "eager", "longer"}
    assert fit(times, 8192, 0).errors.keys() == {"all"}
    assert fit({1: Fraction(5), 2: Fraction(4)}, 2, 0) == (None, 2, {})


def test_errors_on_both_sides_of_the_switch():
    # Messages above 16 bytes take 300 more, each.
    times = {count: Fraction((100 if 1024 // count <= 16 else 400) * count + 1024)
             for count in COUNTS}
    found = fit(times, 1024, 16)
    assert found.a == 100 and found.b == Fraction(400 + 1024, 1024)
    assert found.errors["eager"].most < found.errors["longer"].most == found.errors["all"].most


def test_ranks_and_domination():
    assert ranked({"a": Fraction(3), "b": Fraction(1), "c": Fraction(1)}) == ["b", "c", "a"]
    times = {"a": [1, 5], "b": [2, 4], "c": [2, 5], "d": [1, 5]}
    assert dominated({name: map(Fraction, points) for name, points in times.items()}) == {"c": "a"}


def cells(*which):
    return [[*cell, list(counts)] for cell, counts in which]


def test_the_benchmark():
    short = BASE._replace(volume=64)
    grid = cells((short, (1, 4)), (short._replace(preposted=True), (4,)))
    model = lab(nodes=2)
    module = get("commtest").module("mpi")
    parameters = {**module.parameters(model.description), "cells": grid}
    outcome = asyncio.run(run(model, "commtest", "mpi", parameters))
    assert not [one for one in outcome["checks"] if not one["ok"]]
    results, points = outcome["results"], outcome["points"]
    assert set(results["cells"]) == {cell.name for cell, _ in cells_of(parameters["cells"])}
    for name, by_name_ in points.items():
        assert len(by_name_) == (6 if "+" in name else 21)
        for by_count in by_name_.values():
            for one in by_count.values():
                assert one["slowest"] <= one["span"]
    first = results["fastest"][short.name]["1"]["u"][0]
    assert points[short.name][first]["1"]["slowest"] == min(
        one["1"]["slowest"] for name, one in points[short.name].items() if name[0] == "u")


def test_what_begins_alike():
    plans = {name: Plan(SWAP, by_name(name), 24, 3) for name in ("u0", "u1", "o3", "u2+")}
    assert plans["u1"].beginning == plans["o3"].beginning == plans["u2+"].beginning
    cold, warm, repeated = (Plan(SWAP, by_name("u1"), 24, 3, mode).beginning for mode in "abc")
    assert cold != warm == repeated
    assert Plan(SWAP, by_name("u1"), 24, 3, placement=PLACEMENTS[APART]).beginning != cold
    with pytest.raises(ValueError, match="does not begin as"):  # u0 has an attached buffer
        asyncio.run(measure_exchanges(lab(nodes=2), list(plans.values())))


async def in_forks_and_from_reset(lab, grid):
    forked = await BENCH.measure(lab, "mpi", {"cells": grid}, lambda *_: None)
    type(lab).forks = False
    return forked, await BENCH.measure(lab, "mpi", {"cells": grid}, lambda *_: None)


@pytest.mark.full
def test_exchanges_in_forks_are_those_from_reset():
    short = BASE._replace(volume=64)
    grid = cells((short, (1, 16)), (short._replace(mode="c"), (4,)),
                 (short._replace(preposted=True), (4,)), (short._replace(operation=SENDRECV), (4,)))
    forked, alone = run_job(lab(nodes=2).description, arguments={"grid": grid},
                            function=f"{__file__}:in_forks_and_from_reset")
    assert forked == alone


def made_up():
    """A document of the default grid whose times are lines."""
    description = lab().description
    parameters = BENCH.parameters(description)
    raw = {}
    for cell, counts in cells_of(parameters["cells"]):
        raw[cell.name] = {}
        for index, protocol in enumerate(cell.protocols):
            raw[cell.name][protocol.name] = {}
            for count in counts:
                plan = cell.plan(protocol, count)
                ranks = len(plan.placement.ranks)
                ticks = 256 * plan.repeats * ((100 + index) * count + cell.bytes)
                raw[cell.name][protocol.name][count] = {
                    "begin": [0] * ranks, "end": [ticks] * ranks, "calls": [{}] * ranks,
                    "messages": [], "sound": True,
                    "repeats": plan.repeats}
    outcome = BENCH.evaluate(raw, description, parameters)
    return {**outcome, "parameters": parameters, "clock_mhz": 66}


def test_tables_of_the_default_grid():
    document = made_up()
    rows = document["results"]["cells"][BASE.name]
    assert [rows[one.name]["a"] for one in PROTOCOLS] == [100 + index for index in range(21)]
    assert rows["u3"]["latency"] == 103 and rows["o3"]["latency"] == 56.5
    assert rows["u0"]["swap"] == 2 * rows["u0"]["one_way"]
    assert rows["o0"]["swap"] == rows["o0"]["one_way"]
    # The first of each kind takes the least time everywhere.
    assert set(document["results"]["dominated"].values()) == {"u0", "o0", "u2+"}
    assert len(document["results"]["dominated"]) == 9 + 10 + 5
    assert len(BENCH.tables(document)) >= 6
    assert BENCH.headline(document)[0].value == 100
    assert BENCH.series(document).points
    assert render(BENCH.draw, document)[".svg"]


def test_the_whole_grid():
    description = lab().description
    found = dict(cells_of(BENCH.full(description)["cells"]))
    assert len(found) == (2 * 2 + 2) * 3 * 3
    assert set(map(tuple, found.values())) == {COUNTS}
    assert all(cell.placement == TWO for cell, _ in cells_of(
        BENCH.full(lab(nodes=2).description)["cells"]))
    several = [cell.placement for cell, _ in cells_of(
        BENCH.full(lab(["node.cpus=2"]).description)["cells"])]
    assert set(several) == {TWO, APART, RING, WITHIN, BETWEEN, AT_ONCE}
    less = lab(["memory.bytes=4194304"]).description
    assert max(cell.volume for cell, _ in cells_of(BENCH.full(less)["cells"])) < 1 << 18
    assert isinstance(next(cells_of(BENCH.full(less)["cells"]))[0], Cell)
