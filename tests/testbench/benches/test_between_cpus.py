"""Benchmarks over layers that count processes: their lab, and their truth where no message is a
packet."""

import asyncio
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from nicbed.layouts.description import Description
from nicbed.layouts.fabric import graph_of
from nicbed.layouts.trace import TICKS, Activity, Block, Event, Kind, Mark
from nicbed.rtl.nic.design import DESIGN
from nicbed.testbench.benches.common import logp_report
from nicbed.testbench.benches.common.logp_evaluation import evaluate
from nicbed.testbench.benches.common.processes import Processes, alike, in_words, wires
from nicbed.testbench.benches.common.programs import programs
from nicbed.testbench.benches.fields import plain
from nicbed.testbench.lab import Run
from nicbed.testbench.results.document import plain as as_json
from nicbed.testbench.truth.exchange import exchanges
from nicbed.testbench.truth.service import OWN, Service, from_many
from nicbed.testbench.truth.spans import spans

from tests.models.logp_machine import Machine

PLACES = {
    "cpus": [(0, cpu) for cpu in range(4)],
    "nodes": [(0, 0), (1, 0)],
    "all": [(node, cpu) for node in range(2) for cpu in range(4)],
}


class Lab:
    """Two nodes of four CPUs and three NICs."""

    description = SimpleNamespace(node=SimpleNamespace(cpus=4, nics=3),
                                  fabric=SimpleNamespace(nodes=2))

    def __init__(self, marks: list[Mark] = [], events: list[Event] = []) -> None:  # noqa: B006
        self.marks, self.events = marks, events
        self.given: list[Any] = []

    async def run(self, given: Any, **options: Any) -> Run:
        assert options == {"trace": True}
        self.given = given
        results = [entry and [one and one(SimpleNamespace(number=node, cpu=cpu))
                              for cpu, one in enumerate(entry)] for node, entry in enumerate(given)]
        return Run(9, results, self.events, self.marks,
                   counters=[{"at": port} for port in range(8)])


def run(lab: Lab, places: str, chosen: list[int]) -> Run:
    def program(node: Any) -> tuple[int, int]:
        return node.number, node.cpu

    seen = Processes(lab, PLACES[places])
    made: Any = dict.fromkeys(chosen, program)
    return asyncio.run(seen.run(programs(seen, made), trace=True))


@pytest.mark.parametrize(("places", "chosen"), [
    ("cpus", [0, 1]), ("cpus", [0, 1, 2, 3]), ("nodes", [0, 1]), ("all", [0, 1]),
    ("all", list(range(5))), ("all", list(range(8)))])
def test_programs_are_one_a_process(places: str, chosen: list[int]) -> None:
    """Results come by process."""
    lab = Lab()
    found = run(lab, places, chosen)
    for number, place in enumerate(PLACES[places]):
        if number in chosen:
            assert found.results[number] == place
            assert found.counters[number] == {"at": 4 * place[0] + place[1]}
    there = [(node, cpu) for node, entry in enumerate(lab.given) if entry
             for cpu, one in enumerate(entry) if one is not None]
    assert there == PLACES[places][:max(chosen) + 1]
    assert any(entry is None for entry in lab.given) == (max(PLACES[places][:max(chosen) + 1])[0]
                                                         == 0)


def test_processes_without_a_program_are_the_last() -> None:
    with pytest.raises(ValueError, match="give the first processes"):
        run(Lab(), "all", [0, 2])


def test_marks_and_events_are_those_of_processes() -> None:
    """A NIC's are those of the first process that uses it, a memory's those of the node's first."""
    marks = [Mark(7, node, cpu, Activity.COMPUTE, Kind.BEGIN, 0)
             for node, cpu in ((0, 3), (1, 0), (1, 2))]
    events = [Event(cycle, node, block, Kind.BEGIN, 0, 0) for cycle, (node, block) in enumerate((
        (2, Block.BUS), (3, Block.SEND_LINK), (5, Block.BUS), (5, Block.SWITCH),
        (1, Block.MEMORY)))]
    found = run(Lab(marks, events), "all", [0])
    assert [(mark.node, mark.cpu) for mark in found.marks] == [(3, 0), (4, 0), (6, 0)]
    assert [event.node for event in found.events] == [2, 4, 6, 5, 4]
    found = run(Lab(marks, events), "nodes", [0])
    assert [mark.node for mark in found.marks] == [1]
    assert [(event.node, event.cycle) for event in found.events] == [(1, 1), (5, 3), (1, 4)]
    description: Any = Lab.description
    assert wires(PLACES["all"], description) == [0, 1, 2, 0, 3, 4, 5, 3]


@pytest.mark.parametrize(("places", "words"), [
    ("cpus", "4 processes: CPUs 0 to 3 of node 0"),
    ("nodes", "2 processes: CPU 0 of nodes 0 to 1"),
    ("all", "8 processes: CPUs 0 to 3 of nodes 0 to 1")])
def test_a_result_says_which_they_are(places: str, words: str) -> None:
    assert in_words(PLACES[places]) == words


def signature(machine: Machine) -> dict[str, Any]:
    """The runs of a signature on a synthetic machine."""
    def curve(delay: int) -> dict[str, Any]:
        issued, handled = machine.run(256, delay)
        return {"delay": delay, "issued": issued, "handled": handled, "begin": 0,
                "marks": machine.marks, "events": machine.events}

    trip = machine.round_trip() * TICKS
    rtt = {"trips": [trip], "begin": 0, "end": trip, "marks": machine.marks,
           "events": machine.events}
    return {"rtt": rtt, "curves": [curve(delay) for delay in (0, trip // TICKS,
                                                              2 * trip // TICKS)]}


def test_a_check_before_the_send_is_part_of_it() -> None:
    """It is in o_s, and the time of the steps into which a send is divided, too; one that finds a
    message is in o_r alone."""
    machine = Machine(wire=False, within=True, flight=30, send=60, poll=9)
    found = evaluate(signature(machine), DESIGN)
    assert not [check for check in found.checks if not check["ok"]]
    truth = found.truth
    assert truth["o_s"] == machine.send + machine.poll == found.results.o_s
    assert truth["o_r"] == machine.finish
    assert truth["logp"]["o_r"] == machine.finish - machine.poll == found.results.o_r
    assert found.results.bound.block == "host"
    with_steps = spans(machine.marks, steps=True)
    assert len(with_steps) == len(spans(machine.marks)) + sum(
        span.activity == Activity.REQUEST_SEND for span in with_steps)


@pytest.mark.parametrize("machine", [
    Machine(wire=False, flight=30), Machine(wire=False, flight=0),
    Machine(wire=False, flight=7, send=60, poll=9)])
def test_parameters_of_messages_that_are_no_packets(machine: Machine) -> None:
    """From marks alone: the flight is from the end of the send to the check that finds it, the gap
    is that of the sends, and a host bounds it."""
    found = evaluate(signature(machine), DESIGN)
    assert not [check for check in found.checks if not check["ok"]]
    truth = found.truth
    assert (truth["o_s"], truth["o_r"]) == (machine.send + machine.poll, machine.finish)
    assert truth["legs"]["flight_out"] + truth["legs"]["seen_out"] == machine.flight
    assert truth["hardware"] == {}
    work = max(machine.send + machine.poll + machine.finish, machine.handle + machine.reply)
    assert abs(found.results.g - work) <= work / 50
    assert found.results.bound.block == "host"
    assert [one.block for one in found.results.bound.shares] == ["host", "receiver", "bus"]
    assert [(one["stage"], one["cycles"]) for one in found.breakdown["a request"]] == [
        ("send call", machine.send), ("landed, until the poll looks", machine.flight),
        ("handling", machine.handle + machine.reply)]
    document = as_json({
        "layer": "am2", "clock_mhz": 167.0, "config": {"fabric": {"nodes": 2}},
        "results": plain(found.results), "comparison": found.comparison, "truth": truth})
    assert logp_report.tables(document)


def test_processes_that_are_alike() -> None:
    """All on one node, or each on its own."""
    assert all(alike(PLACES["cpus"], count) for count in (1, 2, 4))
    assert alike(PLACES["nodes"], 2) and alike((), 3)
    assert [alike(PLACES["all"], count) for count in (1, 2, 4, 5, 8)] == [
        True, True, True, False, False]


def test_shared_stages_of_senders_without_a_wire() -> None:
    """A receiver of a node's other CPUs is what they share; switch ports are not on their way."""
    fabric = graph_of(Description())
    found = [Service("CPU", 0, Fraction(40)), Service("switch port", 0, Fraction(90), (0, 0))]
    made = from_many(found, Fraction(50), 0, [1, 2, 3], fabric, [0, 0, 0, 0])
    assert (made.gap, made.stage) == (120, "receiver's CPU")
    assert from_many(found, Fraction(50), 0, [1], fabric, [0, 1]).stage != OWN


@pytest.mark.parametrize(("begin", "after"), [(70, 12), (71, 0)])
def test_the_rest_of_a_poll_comes_behind_the_reply(begin: int, after: int) -> None:
    """With two protocols a poll goes on behind the message that it has found; a later poll does not
    count."""
    steps = ((0, 20, 0, Activity.REQUEST_SEND, 1), (25, 60, 1, Activity.REQUEST_HANDLE, 1),
             (40, 50, 1, Activity.REPLY_SEND, 2), (55, 70, 0, Activity.REPLY_HANDLE, 2),
             (begin, begin + 12, 0, Activity.EMPTY_POLL, 0))
    marks = sorted(Mark(ticks, node, 0, activity, kind, number)
                   for first, last, node, activity, number in steps
                   for ticks, kind in ((first, Kind.BEGIN), (last, Kind.END)))
    marks.sort(key=lambda mark: (mark.ticks, mark.kind == Kind.BEGIN))
    [pair] = exchanges(spans(marks), [], DESIGN)
    assert (pair.legs.total, pair.after) == (70, after)
    assert pair.legs.flight_out == 5 and pair.legs.seen_out == 0
