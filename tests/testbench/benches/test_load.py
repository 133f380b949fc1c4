"""Traffic of many nodes at once: all of it arrives, on every layer; what the checks refuse."""

import asyncio
from types import SimpleNamespace

import pytest
from nicbed.host.endpoint import EndpointError, Exchange
from nicbed.host.gm.endpoint import credits_at
from nicbed.layouts.trace import TICKS, Block, Event, Kind
from nicbed.testbench.benches import get
from nicbed.testbench.benches.load import incast, vis
from nicbed.testbench.benches.load.cells import LOTS_MOST, count_of, levels, together
from nicbed.testbench.benches.load.traffic import measure_traffic
from nicbed.testbench.benches.via.room import fitting
from nicbed.testbench.descriptions import load as descriptions

from tests.labs.model import ModelLab

PROCESSOR = "nic.processor=picorv32"
LAYERS = {"am": [], "via": [], "via in the kernel": ["via.design=kernel"],
          "gm": [PROCESSOR], "fm": [PROCESSOR]}


def describe(overrides, layer, nodes=3):
    return descriptions.for_layer(descriptions.load(overrides=overrides, nodes=nodes), layer)


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("size", [16, 300])
def test_all_of_it_arrives_in_order(name, size):
    layer = name.split()[0]
    plan = Exchange(size, 6, {0: [1, 2], 1: [2], 2: [0]}, streams=2 if layer == "via" else 1)
    lab = ModelLab(describe(LAYERS[name], layer))
    found = asyncio.run(measure_traffic(lab, layer, plan))
    flows = {(source, peer, vi) for source, peers in plan.ways.items() for peer in peers
             for vi in range(plan.streams)}
    assert set(found["sent"]) == set(found["arrived"]) == flows
    for flow in flows:
        sent, arrived = found["sent"][flow], found["arrived"][flow]
        assert len(sent) == len(arrived) == 6 and arrived == sorted(arrived)
        assert all(there > begun for begun, there in zip(sent, arrived, strict=True))
        assert found["begin"][flow[0]] <= sent[0]
    assert not found["again"]


def test_three_senders_of_fast_messages_share():
    plan = Exchange(16, count_of(16, incast.BUDGET, LOTS_MOST), {1: [0], 2: [0], 3: [0]})
    lab = ModelLab(describe(LAYERS["fm"], "fm", nodes=4))
    shared = together(asyncio.run(measure_traffic(lab, "fm", plan)))
    assert shared.most < 1.05 * shared.least


def test_a_plan_knows_who_talks_to_whom():
    plan = Exchange(16, 5, {1: [0, 2], 3: [0]}, streams=4)
    assert plan.nodes == [0, 1, 2, 3] and plan.of(0) == [1, 3] and plan.to(0) == ()
    assert [plan.expected(node) for node in range(4)] == [40, 0, 20, 0]


class _Firmware:
    """A lab whose firmware has room for 62 VIs."""

    description = descriptions.for_layer(descriptions.load(overrides=[PROCESSOR], nodes=2), "via")
    parties = 2

    def __init__(self):
        self.said = []
        self.say = self.said.append

    async def run(self, programs):
        assert programs[0] and not programs[1]
        return SimpleNamespace(results=[62, None])


def test_vis_that_do_not_fit_nic_memory_are_left_out_and_named():
    lab = _Firmware()
    assert asyncio.run(fitting(lab, [1, 16, 62])) == [1, 16, 62] and not lab.said
    assert asyncio.run(fitting(lab, [1, 62, 64, 256])) == [1, 62]
    assert lab.said == ["the VIs of firmware via are in NIC memory: processor.memory = 65536 has "
                        "room for 62 of them; left out: 64, 256 VIs"]


def test_levels_and_counts():
    assert levels(1) == [1] and levels(3) == [1, 2, 3] and levels(15) == [1, 2, 4, 8, 15]
    assert [count_of(size, 65536) for size in (16, 1024, 1 << 20)] == [192, 64, 24]
    assert [vis.count_of(size, many, 2 << 20) for size, many in (
        (4, 1), (4, 1024), (32768, 8), (32768, 16), (32768, 64))] == [8, 8, 8, 4, 0]
    assert vis.count_of(32768, 64, 8 << 20) == 4


@pytest.mark.parametrize("nodes, tokens, credits", [(2, 32, 16), (4, 32, 8), (9, 32, 2),
                                                    (16, 32, 1)])
def test_a_gm_sender_has_credit_for_the_buffers_that_wait(nodes, tokens, credits):
    plan = Exchange(16, 5, {node: [one for one in range(nodes) if one != node]
                        for node in range(nodes)})
    assert credits_at(plan, 0, tokens) == credits
    lots = credits // max(1, credits // 2)
    assert (nodes - 1) * (credits + lots) <= tokens
    with pytest.raises(EndpointError, match="gm.receive_tokens = 2: too few"):
        credits_at(Exchange(16, 5, {1: [0], 2: [0], 0: [1]}), 0, 2)


def arrivals(begin, *ends, step=100, count=100):
    """Senders 1, 2, … whose messages come ``step`` cycles apart, the last at ``ends``."""
    return {"begin": dict.fromkeys(range(len(ends) + 1), begin), "again": 0, "returned": 0,
            "arrived": {(sender, 0, 0): [TICKS * (end - step * (count - 1 - n))
                                         for n in range(count)]
                        for sender, end in enumerate(ends, 1)}}


def evaluate(two):
    """The checks of incast where one alone needs 100 cycles a message, 80 of them of the
    receiver's DMA engine, and ``two`` is the run of two."""
    one = arrivals(0, 10_000)
    one |= {"marks": [], "events": [
        Event(cycle, 0, Block.RECEIVE_DMA, kind, number, 0) for number in range(1, 101)
        for cycle, kind in ((100 * number, Kind.BEGIN), (100 * number + 80, Kind.END))]}
    description = descriptions.load(nodes=3)
    runs = {(16, 0.0, 1): one, (16, 0.0, 2): two}
    found = get("incast").module("am").evaluate({"runs": runs}, description, {})
    assert found["results"]["incast"]["16"]["0.0"]["2"]["stage"] == "receiver's receive DMA"
    return {check["check"]: check["ok"] for check in found["checks"]}


PACE, FAIR = ("2 senders of 16 bytes get what the stage that they share has",
              "of 2 senders of 16 bytes none starves")


def test_two_that_share_a_stage_take_as_long_as_it_needs():
    found = evaluate(arrivals(0, 16_000, 16_000, step=160))
    assert found[PACE] and found[FAIR]


def test_two_that_take_longer_fail_the_check():
    found = evaluate(arrivals(0, 18_000, 18_000, step=180))
    assert not found[PACE] and found[FAIR]


def test_one_after_the_other_fails_the_check():
    found = evaluate(arrivals(0, 8_000, 16_000, step=80))
    assert found[PACE] and not found[FAIR]


def test_all_to_all_fails_where_many_get_less_than_two():
    def run(nodes, step):
        found = arrivals(0, *[step * 100] * nodes, step=step)
        found["arrived"] = {(source - 1, source % nodes, 0): times
                            for (source, _, _), times in found["arrived"].items()}
        return found
    description = descriptions.load(nodes=4)
    for step, ok in ((105, True), (120, False)):
        runs = {(16, 2): run(2, 100), (16, 4): run(4, step)}
        found = get("alltoall").module("am").evaluate({"runs": runs}, description, {})
        assert [check["ok"] for check in found["checks"] if "4 nodes" in check["check"]] == [
            True, ok]


def test_shares_by_sender_by_receiver_and_by_flow():
    raw = arrivals(0, 10_000, 10_000)
    raw["arrived"][1, 2, 0] = raw["arrived"].pop((2, 0, 0))
    assert set(together(raw).shares) == {1} and set(together(raw, 1).shares) == {0, 2}
    assert together(raw, None).shares == {0: 1, 1: 1}
