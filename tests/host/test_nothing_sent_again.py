"""A network that loses nothing sees nothing twice: the check of every run, on every layer; and that
it fails where a layer does not keep to it."""

import asyncio
from types import SimpleNamespace

import pytest
from nicbed.host.port.sent_again import Cause, SentAgain
from nicbed.layouts.trace import Activity, Block, Event, Kind
from nicbed.testbench import benches
from nicbed.testbench.backends.session import run_job
from nicbed.testbench.descriptions import load as descriptions
from nicbed.testbench.run.sent_again import NAME, Account, Resent, loses, sent_again

from tests.labs import model as model_lab
from tests.labs.model import ModelLab
from tests.models.target import Model
from tests.programs import fm as fm_scenarios
from tests.programs.am import describe
from tests.programs.vipl import SMALL

LATENCY = {"sizes": [4, 64], "trips": 4}
LAYERS = [("am", ""), ("via", "engine"), ("via", "kernel")]


class Port:
    """What a layer's account needs of a port."""

    def __init__(self, node):
        self.node = node
        self.sent_again = []
        self.marks = []

    def mark(self, *mark):
        self.marks.append(mark)


def test_a_port_knows_what_was_sent_again_through_it():
    port = Port(2)
    again, other = SentAgain(port, "some layer", 2), SentAgain(port, "another", 5)
    for peer, cause in ((1, Cause.NACK), (1, Cause.NACK), (3, Cause.TIMEOUT)):
        again.note(peer, cause)
    other.note(0, Cause.RETURNED)
    assert port.marks == [(Activity.CONTROL, Kind.AGAIN, peer) for peer in (1, 1, 3, 0)]
    assert sent_again([port], []) == {Resent("some layer", 2, "node 1", "NACK"): 2,
                                      Resent("some layer", 2, "node 3", "time-out"): 1,
                                      Resent("another", 5, "node 0", "returned"): 1}


def test_engines_and_firmware_tell_in_the_trace():
    found = sent_again([], [Event(9, 1, Block.VI_SEND, Kind.AGAIN, 77, 5),
                            Event(9, 1, Block.VI_SEND, Kind.END, 77, 0),
                            Event(12, 0, Block.FIRMWARE, Kind.AGAIN, 78, 3)])
    assert [(one.node, one.to, count) for one, count in found.items()] == [
        (1, "the peer of VI 5", 1), (0, "node 3", 1)]


def test_an_account_of_runs_without_faults():
    account = Account()
    clean, lossy = (descriptions.load(overrides=text) for text in ([], ["faults.drop=0.1"]))
    found = {Resent("am", node, "node 0", "time-out"): 1 for node in range(1, 9)}
    account.note(lossy, sent_again([], []))
    assert account.checks() == []
    account.note(clean, sent_again([], []))
    (check,) = account.checks()
    assert check == {"check": NAME, "ok": True, "detail": "no packet in 1 runs without faults"}
    other = Account()
    other.found.update(found)
    other.runs = 2
    account.join(other)
    (check,) = account.checks()
    assert not check["ok"] and account.runs == 3
    assert check["detail"].startswith("8 packets without a fault: 1 by node 1 to node 0 (am: ")
    assert check["detail"].endswith("; 2 more")


@pytest.mark.parametrize("fault", ["drop", "corrupt", "duplicate", "delay"])
def test_what_may_make_a_layer_send_again(fault):
    assert not loses(descriptions.load())
    assert loses(descriptions.load(overrides=[f"faults.{fault}=0.001"]))


def latency(layer, design):
    """Checks of a benchmark on the model."""
    overrides = [f"via.design={design}"] if design else []
    description = descriptions.for_layer(descriptions.load(overrides=overrides), layer)
    parameters = {**benches.get("latency").module(layer).parameters(description), **LATENCY}
    found = asyncio.run(benches.run(ModelLab(description), "latency", layer, parameters))
    return next(check for check in found["checks"] if check["check"] == NAME)


@pytest.mark.parametrize("layer, design", LAYERS)
def test_nothing_is_sent_again_on_any_layer(layer, design):
    assert latency(layer, design)["ok"]


@pytest.mark.parametrize("layer, design, who", [
    (*LAYERS[0], "node 0 to node 1 (Active Messages: "),
    (*LAYERS[1], "node 0 to the peer of VI 0 (VI engine: "),
    (*LAYERS[2], "node 0 to node 1 (VIA in the kernel: ")])
def test_a_packet_sent_again_fails_the_check(monkeypatch, layer, design, who):
    """The network loses a packet, and the description says that it does not."""
    class Losing(Model):
        def __init__(self, description):
            super().__init__(description)
            sizes = []

            def lose(data):
                sizes.append(len(data))
                return len(data) > 64 and sum(size > 64 for size in sizes) == 2
            self.nics[0].lose = lose

    monkeypatch.setattr(model_lab, "Model", Losing)
    check = latency(layer, design)
    assert not check["ok"] and who in check["detail"]


def test_what_is_returned_for_want_of_room_was_not_lost():
    scenario = fm_scenarios.returns()
    model = Model(describe(scenario.structure, scenario.settings))
    runtime = model.run(scenario.programs, limit=1 << 28)
    scenario.check(runtime.results)
    found = sent_again(runtime.ports, [])
    assert found and {one.cause for one in found} == {Cause.RETURNED}
    account = Account()
    account.note(descriptions.load(), found)
    assert account.checks()[0]["ok"]


def test_the_target_tells_whether_it_is_traced_or_not():
    """On RTL: the events of a VI engine are those that its register counts."""
    description = descriptions.for_layer(descriptions.load(
        overrides=[f"{knob}={value}" for knob, value in SMALL.items()]), "via")
    for found in run_job(description, function="tests.programs.sent_again_jobs:streams"):
        assert (found["again"] > 0) == (found["drop"] > 0)
        assert found["again"] == found["register"] and set(found["who"]) <= {"VI engine"}


def test_profile_and_speed_have_it(monkeypatch):
    from nicbed.testbench.speed import measurement as speed

    account = Account()
    account.runs = 1
    account.found[Resent("am", 1, "node 0", "time-out")] = 3
    ran = {"account": account, "seconds": 1, "cycles": 1, "messages": 1, "python": 1,
           "timed_messages": 1, "larger_python": 0, "larger_messages": 0, "wakes": 1, "memory": 1}
    monkeypatch.setattr(speed, "run_job", lambda *_, **__: dict(ran))
    monkeypatch.setattr(speed, "_bare", lambda *_: 1.0)
    monkeypatch.setattr(speed.simulator, "build", lambda *_, **__: SimpleNamespace(command=[]))
    outcome = speed.measure(descriptions.load(), nodes=[2])
    assert [check["ok"] for check in outcome["checks"]] == [False]
    assert "node 1 to node 0" in outcome["checks"][0]["detail"]
