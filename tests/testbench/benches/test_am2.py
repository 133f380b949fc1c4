"""Benchmarks of Active Messages II on the functional target, one process a CPU."""

import asyncio
import json
from typing import Any

import pytest
from nicbed.layouts.errors import UserError
from nicbed.testbench import benches
from nicbed.testbench.benches.am2.send_stack import MEASURED, PUBLISHED, SendStep, stacked
from nicbed.testbench.descriptions import load
from nicbed.testbench.results import document as files
from nicbed.testbench.results import plots
from nicbed.testbench.results.tables import console
from nicbed.testbench.testbed.bed import Testbed
from nicbed.testbench.testbed.result import Result
from nicbed.testbench.why.round_trip import in_simulator

from tests.labs.model import ModelLab

SHARED = ("node.cpus=4", "am2.protocol=shared", "am2.queue_packets=64")
BOTH = ("node.cpus=2", "nic.processor=picorv32", "am2.queue_packets=16", "am2.endpoints=8",
        "am2.frames=2")
SMALL: dict[str, dict[str, Any]] = {
    "logp": {"issues": 128, "delays": ["0", "3/2", "2"]},
    "latency": {"sizes": [4, 64, 20000], "trips": 4},
    "bandwidth": {"sizes": [4, 1024, 20000], "bytes": 16384},
    "incast": {"sizes": [16], "bytes": 1024, "loss": [0.0]},
    "alltoall": {"sizes": [16], "bytes": 4096},
    "send-cost": {"arguments": [0, 8], "sends": 3},
    "polling": {"every": [], "trips": 2, "issues": 12, "messages": 64, "shares": [4],
                "mixed": [4], "apart": 100},
    "nics": {"sizes": [16], "bytes": 384},
}
LOCAL = ("logp", "latency", "bandwidth", "incast", "alltoall", "send-cost")
MODELS = frozenset({"no more than the memory carries",
                    "4 nodes, 16 bytes: a node gets what it gets between two",
                    "of 3 senders of 16 bytes none starves"})
"""Checks that may fail here: the functional target has no bandwidth, and the runs are short; who is
first of three senders is chance, and two of 21 messages are a tenth of a share."""


def outcome(name: str, *overrides: str, **changes: Any) -> dict[str, Any]:
    """The document of a benchmark over am2 on the functional target, as a file has it."""
    description = load.for_layer(load.load("default", overrides, 2), "am2")
    module = benches.get(name).module("am2")
    parameters = {**module.parameters(description), **SMALL[name], **changes}
    found = asyncio.run(benches.run(ModelLab(description), name, "am2", parameters))
    return json.loads(files.text(files.build(name, "am2", "model", description, parameters, found)))


def shown(document: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> str:
    """The tables as they are printed."""
    out = console()
    for item in Result(document, benches.get(document["benchmark"]).module("am2")).tables():
        out.print(item)
    return capsys.readouterr().out


@pytest.mark.parametrize("name", LOCAL)
def test_between_cpus(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every benchmark: its checks hold, and it can be shown, drawn and compared."""
    document = outcome(name, *SHARED)
    assert {check["check"] for check in document["checks"] if not check["ok"]} <= MODELS
    said = shown(document, capsys)
    if name != "send-cost":
        assert "4 processes: CPUs 0 to 3 of node 0" in said
    module = benches.get(name).module("am2")
    assert plots.render(module.draw, document)[".png"].startswith(b"\x89PNG")
    assert module.headline(document) and module.series(document).points


def test_a_signature_has_what_the_trace_shows() -> None:
    """o_r with the poll that finds the message: the estimate, o_s being with an empty one, lacks
    that. Where every poll looks at the NIC, this is most of o_r."""
    found = outcome("logp", *BOTH, "am2.protocol=network", issues=48, delays=["0", "2"])
    results = found["results"]
    traced = results["traced"]
    assert abs(traced["o_s"] - results["o_s"]) < 0.05 * results["o_s"]
    assert traced["o_r"] > 1.1 * results["o_r"]
    assert abs(traced["o_s"] + traced["o_r"] + traced["L"] - results["rtt"] / 2) < 1e-6


def test_parties_are_processes() -> None:
    description = load.for_layer(load.load("default", SHARED, 2), "am2")
    incast, alltoall = (benches.get(name).module("am2").parameters(description)
                        for name in ("incast", "alltoall"))
    assert incast["senders"] == [1, 2, 3] and incast["loss"] == [0.0]
    assert alltoall["nodes"] == [2, 4]


def test_the_steps_of_a_send_add_up() -> None:
    """To the tick: nothing of a send is outside of its steps; more arguments take longer."""
    results = outcome("send-cost", *SHARED)["results"]
    for by_count in results["steps"].values():
        assert list(by_count["8"]) and abs(by_count["8"]["call"]["memory"]) < 0.01
    for name, by_count in results["o_s"].items():
        assert by_count["8"] > by_count["0"]
        for count, whole in by_count.items():
            parts = results["steps"][name][count].values()
            assert abs(sum(one["work"] + one["memory"] for one in parts) - whole) < 1e-5
    assert abs(sum(results["stack"].values()) - results["o_s"]["later"]["8"]) < 1e-6


def test_the_published_stack() -> None:
    assert sum(PUBLISHED.values()) == 292 and MEASURED == 299
    steps = {name: SendStep(work, memory) for name, work, memory in (
        ("call", 11, 0), ("check", 20, 5), ("poll", 22, 20), ("advance", 9, 15),
        ("claim", 0, 141), ("fill", 40, 9))}
    assert stacked(steps, 22.5) == PUBLISHED
    assert stacked({**steps, "advance": SendStep(9, 0), "claim": SendStep(2, 4)}, 15)["CAS"] == 4


def test_two_protocols_under_one_poll(capsys: pytest.CaptureFixture[str]) -> None:
    """Local traffic pays for the second protocol in its polls alone, that of the network next to
    nothing; polls look at the network as often as was asked for."""
    document = outcome("polling", *BOTH)
    assert not [check for check in document["checks"] if not check["ok"]]
    local, network = (document["results"]["costs"][name] for name in ("local", "network"))
    assert all(abs(one["o_s"] - local["alone"]["o_s"]) < 0.1 for one in local.values())
    assert local["alone"]["poll"] < local["adaptive"]["poll"]
    assert local["alone"]["rtt"] < local["adaptive"]["rtt"]
    assert network["adaptive"]["rtt"] < 1.1 * network["alone"]["rtt"]
    assert 3 * local["adaptive"]["rtt"] < network["alone"]["rtt"]
    mix = document["results"]["mix"]
    assert abs(mix["1 in 4"]["4"]["apart"] - 4) < 0.5 and 8 <= mix["adaptive"]["4"]["apart"] <= 40
    said = shown(document, capsys)
    assert "shared alone" in said and "network alone" in said
    module = benches.get("polling").module("am2")
    assert plots.render(module.draw, document)[".png"].startswith(b"\x89PNG")
    assert module.headline(document) and module.series(document).points


def test_a_process_for_each_nic(capsys: pytest.CaptureFixture[str]) -> None:
    document = outcome("nics", *BOTH, "node.nics=2", "am2.protocol=network")
    assert not [check for check in document["checks"] if not check["ok"]]
    found = document["results"]["nics"]["16"]
    assert list(found) == ["1", "2"] and found["2"]["ratio"] > 1.7
    assert "NIC k on CPU k" in shown(document, capsys)


@pytest.mark.parametrize(("name", "overrides", "said"), [
    ("polling", SHARED, "polling is of processes with both protocols"),
    ("nics", SHARED, "nics is of messages between nodes"),
    ("send-cost", (*BOTH, "am2.protocol=network"), "send-cost is of messages between CPUs"),
])
def test_what_a_benchmark_needs(name: str, overrides: tuple[str, ...], said: str) -> None:
    with pytest.raises(UserError, match=said):
        outcome(name, *overrides)


def test_a_round_trip_is_split_from_marks_alone() -> None:
    description = load.for_layer(load.load("default", SHARED, 2), "am2")

    class Counting(ModelLab):
        """A lab with counts of cost items, which the functional target has none of."""

        async def run(self, programs: Any, **options: Any) -> Any:
            run = await super().run(programs, **options)
            run.counters[:] = [{"alu": 1}] * 8
            return run

    found = asyncio.run(in_simulator(Counting(description), "am2"))
    flights = sum(cycles for flight in found["flights"] for _, cycles in flight)
    assert [name for name, _ in found["flights"][0]] == ["landed, until the poll looks"]
    assert sum(found["cpus"]) + flights == found["total"]


@pytest.mark.parametrize(("overrides", "said"), [
    ({"am2.protocol": "shared"},
     "node.cpus = 1: layer am2 with am2.protocol = shared is between the CPUs of a node"),
    ({"am2.protocol": "shared", "node.cpus": 2, "am2.processes": "all"},
     "am2.processes = all: with am2.protocol = shared no message of layer am2 leaves its node"),
])
def test_processes_that_cannot_meet(overrides: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        Testbed("default").benchmark(
            "logp", layer="am2", knobs=overrides)


def test_nodes_are_added_only_for_processes() -> None:
    """Four CPUs are enough for what needs four of them; two nodes of one CPU are not."""
    bed = Testbed("default")
    wanted = bed.benchmark("alltoall", layer="am2", knobs={
        "am2.protocol": "shared", "node.cpus": 4})
    assert wanted.description.fabric.nodes == 2
    assert bed.benchmark("alltoall", layer="am").description.fabric.nodes == 4
