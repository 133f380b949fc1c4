"""Estimators, truth and reports of the VIA benchmarks, on a machine with known parameters."""

import json
from fractions import Fraction

import pytest
from nicbed.layouts.description import Description
from nicbed.layouts.trace import TICKS, Activity, Block, Event, Kind
from nicbed.rtl.nic.design import DESIGN
from nicbed.testbench.benches import get
from nicbed.testbench.benches.common.latencies import Latencies, faster_than_light
from nicbed.testbench.benches.via import logp_report
from nicbed.testbench.estimate.one_way import counting_loop, half_trip, receive_overhead
from nicbed.testbench.results import document as files
from nicbed.testbench.results import plots
from nicbed.testbench.results.tables import console
from nicbed.testbench.truth.breakdown import via_life
from nicbed.testbench.truth.messages import mean_half, trips
from nicbed.testbench.truth.spans import spans

from tests.models.via_machine import Machine

SIZES = [4, 64, 1024]


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")


def evaluate(raw: dict) -> dict:
    return get("logp").module("via").evaluate(raw, Description(), {})


def logp(machine: Machine) -> dict:
    return files.plain(evaluate(machine.logp(SIZES, [0, 50, 500])))


def as_file(outcome: dict, name: str = "logp") -> dict:
    document = files.build(name, "via", "model", Description(), {}, outcome)
    return json.loads(files.text(document))


@pytest.mark.parametrize("machine", [
    Machine(), Machine(copy=1), Machine(flight=900), Machine(service=120), Machine(phase=9),
    Machine(window=2), Machine(send=3, find=90)])
def test_parameters_are_recovered(machine):
    found = logp(machine)
    for size in SIZES:
        one = found["results"]["by_size"][str(size)]
        o_s = machine.send + size * machine.copy
        assert one["o_s"] == o_s
        assert one["o_r"] == machine.find
        # What the estimate takes for flight: the poll's phase, and half the server's turn.
        assert one["L"] == pytest.approx(machine.flight + size // 2 + machine.phase
                                         + machine.turn / 2)
        assert found["truth"][str(size)]["L"] == machine.flight + size // 2
        if one["g_visible"]:
            assert one["rate"] == pytest.approx(max(machine.service, size // 2), rel=0.1)
    assert not [check for check in found["checks"] if not check["ok"]]


def test_g_is_not_visible_where_the_host_is_the_bottleneck():
    assert not logp(Machine(send=300))["results"]["g_visible"]
    assert logp(Machine(service=120))["results"]["g"] == pytest.approx(120, rel=0.01)


def test_a_copying_host_shows_in_the_slope_of_o_s():
    assert logp(Machine(copy=1))["results"]["o_s_per_byte"] == pytest.approx(1)
    assert logp(Machine())["results"]["o_s_per_byte"] == 0


def test_the_counting_loop_finds_the_interrupt():
    found = logp(Machine(interrupt=400))
    assert found["results"]["interrupts"]["o_r"] == pytest.approx(400, abs=2)
    assert found["truth"]["interrupts"]["o_r"] == pytest.approx(400, abs=2)
    assert counting_loop(1000, 900, 10, 8000) == 80
    for wrong in ((0, 0, 1, 1), (10, 5, 0, 100)):
        with pytest.raises(ValueError, match="counting loop"):
            counting_loop(*wrong)


@pytest.mark.parametrize(("spoil", "failing"), [
    (lambda raw: raw["sizes"][64]["trips"]["trips"].__setitem__(0, 5), "sum of its legs"),
    (lambda raw: raw["sizes"][64].update(delayed=Machine().trips(64, delay=50)),
     "there when it is looked for"),
    (lambda raw: raw["counting"]["disturbed"].update(count=10), "counting loop"),
    (lambda raw: raw["sizes"][4].update(stream=Machine(window=40).stream(4, 30)),
     "g within"),
    (lambda raw: raw["sizes"][4]["stream"]["issued"].__setitem__(300, 10 ** 7), "steady state"),
])
def test_checks_can_fail(spoil, failing):
    raw = Machine().logp(SIZES, [0])
    spoil(raw)
    failed = [check["check"] for check in evaluate(raw)["checks"]
              if not check["ok"]]
    assert any(failing in check for check in failed)


def test_half_a_trip():
    half = half_trip([8, 12, 16, 20])
    assert (half.mean, half.low, half.median, half.high) == (7, 4, 8, 10)
    assert receive_overhead([100, 104], 60, Fraction(20)) == 22
    with pytest.raises(ValueError, match="no round trips"):
        half_trip([])


def test_legs_add_up_to_the_round_trip():
    machine = Machine()
    run = machine.trips(64)
    pairs = trips(spans(run["marks"]), run["events"], run["begin"], run["end"], DESIGN)
    assert [pair.total for pair in pairs] == run["trips"]
    half = mean_half(pairs)
    assert half.total * 2 * len(pairs) == sum(run["trips"])
    assert (half.o_s, half.flight, half.seen, half.o_r) == (
        20 * TICKS, 132 * TICKS, 2 * TICKS, 16 * TICKS)
    assert half.turn == Fraction(3 * TICKS, 2)
    with pytest.raises(ValueError, match="no complete round trip"):
        mean_half([])


def test_without_events_the_finding_call_ends_the_flight():
    run = Machine().trips(64)
    half = mean_half(trips(spans(run["marks"]), [], run["begin"], run["end"], DESIGN))
    assert half.seen == 0 and half.flight == (132 + 2) * TICKS


def shown(module_tables, document, capsys) -> str:
    out = console()
    for item in module_tables(document):
        out.print(item)
    return capsys.readouterr().out


def test_the_report_of_logp(capsys):
    document = as_file(logp(Machine(copy=1)))
    text = " ".join(shown(logp_report.tables, document, capsys).split())
    for words in ("o_s grows by 1 cycles a byte", "1 KB", "counting loop: 1000 counts alone"):
        assert words in text
    figure = plots.render(logp_report.draw, document)
    assert figure[".png"].startswith(b"\x89PNG")
    names = [one.name for one in logp_report.headline(document)]
    assert "o_s, 4 B" in names and "L, 1 KB" in names
    assert [x for x, _ in logp_report.series(document).points] == SIZES


def test_a_variant_beside_the_plain_one(capsys):
    told = Latencies("Latency, fresh buffers", "n", sizes=True, base="same")
    machine = Machine()
    runs = {"same": {size: machine.trips(size) for size in SIZES},
            "fresh": {size: machine.trips(size, extra=40) for size in SIZES}}
    outcome = files.plain(told.evaluate(runs, Description()))
    assert outcome["results"]["extra"]["fresh"] == {str(size): 40 for size in SIZES}
    assert all(check["ok"] for check in outcome["checks"]) and len(outcome["checks"]) == 6
    document = as_file(outcome, "buffers")
    text = shown(told.tables, document, capsys)
    assert "beyond: same" in text and "1 KB" in text
    assert plots.render(told.draw, document)
    figures = told.headline(document)
    assert ("  − same", 40) in [(one.name, one.value) for one in figures]
    assert [x for x, _ in told.series(document).points] == SIZES


def test_a_wrong_leg_is_found():
    told = Latencies("Latency", "n", sizes=True)
    run = Machine().trips(64)
    run["trips"][1] += 1
    failed = [check for check in told.evaluate({"latency": {64: run}}, Description())["checks"]
              if not check["ok"]]
    assert len(failed) == 1 and "1 of 4 differ" in failed[0]["detail"]
    slow = faster_than_light({"latency": {64: run}}, Fraction(2), lambda size: size)
    fast = faster_than_light({"latency": {64: run}}, Fraction(1, 8), lambda size: size)
    assert slow["ok"] and not fast["ok"]


def test_bandwidth_over_size(capsys):
    bandwidth = get("bandwidth").module("via")
    machine = Machine(service=1, flight=0)
    runs = {size: machine.stream(size, 64) for size in (64, 1024, 4096, 16384)}
    outcome = files.plain(bandwidth.evaluate({"via": runs}, Description(), {"sizes": []}))
    assert outcome["results"]["r_inf"] == pytest.approx(2, rel=0.01)
    assert outcome["truth"]["bound"]["16384"]["block"] == "link"
    assert all(check["ok"] for check in outcome["checks"])
    document = as_file(outcome, "bandwidth")
    assert "link 100 %" in shown(bandwidth.tables, document, capsys)
    assert plots.render(bandwidth.draw, document)


def test_an_interrupt_behind_the_finding_call_counts():
    run = Machine().trips(64)
    begin, end = run["begin"], run["end"]
    marks = spans(run["marks"])
    plain = trips(marks, run["events"], begin, end, DESIGN)
    stops = [pair.back.end + 1000 for pair in plain]
    late = trips(marks, run["events"], begin, end, DESIGN, stops)
    assert [pair.total for pair in late] == [pair.total + 1000 for pair in plain]
    assert mean_half(late).turn == mean_half(plain).turn + 500


def test_a_call_that_waited_begins_when_the_message_has_landed():
    run = Machine().trips(64, count=1)
    marks = spans(run["marks"])
    [plain] = trips(marks, run["events"], run["begin"], run["end"], DESIGN)
    for span in marks:
        if span.activity == Activity.RECEIVE_COMPLETE:
            span.begin -= 500 * TICKS
    [waiting] = trips(marks, run["events"], run["begin"], run["end"], DESIGN)
    assert waiting.total == plain.total
    assert (waiting.out.flight, waiting.out.seen) == (plain.out.flight, 0)
    assert waiting.out.o_r == plain.out.o_r + plain.out.seen


def lived(steps: list, spare: tuple = (), last: Block = Block.COMPLETION) -> dict[str, Fraction]:
    """Mean life of the messages of a ping-pong whose flights of 132 cycles are traced: ``steps``
    are (block, kind, cycles after the last store left the CPU, 0 the sender's or 1 the
    receiver's), ``spare`` more of them; ``last`` is the block by which they land."""
    run = Machine().trips(64)
    events = [event._replace(block=last) for event in run["events"]]
    pairs = trips(spans(run["marks"]), events, run["begin"], run["end"], DESIGN)
    for pair in pairs:
        for way, sender in ((pair.out, 0), (pair.back, 1)):
            left = (way.begin + way.o_s) // TICKS
            for block, kind, after, receives in (*steps, *spare):
                queued = (block, kind) in ((Block.DOORBELL, Kind.BEGIN),
                                           (Block.VI_FETCH, Kind.BEGIN))
                events.append(Event(left + after, sender ^ receives, block, kind,
                                    0 if queued else way.number, 6))
    found = via_life(pairs, sorted(events), DESIGN)
    half = mean_half(pairs)
    assert sum(stage["cycles"] for stage in found) == (half.total - half.turn) / TICKS
    return {stage["stage"]: stage["cycles"] for stage in found}


B, E = Kind.BEGIN, Kind.END
WIRE = [(Block.SEND_LINK, B, 50, 0), (Block.SEND_LINK, E, 60, 0), (Block.SWITCH, E, 71, 0),
        (Block.RECEIVE_LINK, E, 83, 1)]
ENGINE = [(Block.DOORBELL, B, 5, 0), (Block.VI_FETCH, B, 12, 0), (Block.VI_FETCH, E, 25, 0),
          (Block.VI_SEND, E, 46, 0), *WIRE, (Block.VI_RECEIVE, B, 90, 1),
          (Block.VI_RECEIVE, E, 120, 1)]


def test_the_life_of_a_message_by_stage():
    # Of several packets the last counts; a sender's completion is no stage of the way there.
    life = lived(ENGINE, ((Block.SEND_LINK, B, 3, 0), (Block.VI_RECEIVE, E, 101, 1),
                          (Block.COMPLETION, E, 110, 0), (Block.RECEIVE_LINK, E, 85, 0)))
    assert list(life.values()) == [20, 5, 7, 13, 21, 4, 10, 11, 12, 7, 30, 12, 2, 16]
    assert list(life)[:3] == ["o_s: the send call", "posted write, bus, doorbell",
                              "doorbell to the VI's turn"]
    assert list(life)[-3:] == ["completion: status landed", "landed, until the CPU looks",
                               "o_r: the call that finds it"]


def test_the_life_of_a_message_by_the_rings():
    life = lived([(Block.SEND_DMA, B, 20, 0), (Block.SEND_DMA, E, 45, 0), *WIRE],
                 last=Block.RECEIVE_DMA)
    assert life["doorbell, ring's descriptor"] == 20 and life["send DMA"] == 25
    assert life["receive DMA"] == 49 and "not traced" not in life


def test_untraced_time_of_a_life_is_a_stage():
    run = Machine().trips(64)
    found = [event for event in run["events"] if event.block != Block.COMPLETION]
    pairs = trips(spans(run["marks"]), found, run["begin"], run["end"], DESIGN)
    life = {stage["stage"]: stage["cycles"] for stage in via_life(pairs, found, DESIGN)}
    assert life["not traced"] == 134 and sum(life.values()) == 20 + 134 + 16


def test_lives_are_told_side_by_side():
    from nicbed.testbench.results.tables import lives

    made = lives({"plain, 4 B": [{"stage": "a", "cycles": 2.0}, {"stage": "c", "cycles": 3.0}],
                  "new, 4 B": [{"stage": "a", "cycles": 1.0}, {"stage": "b", "cycles": 5.0},
                               {"stage": "c", "cycles": 1.0}]})
    cells = [list(column.cells) for column in made.columns]
    assert cells == [["a", "b", "c", "sum"], ["2", "-", "3", "5"], ["1", "5", "1", "7"]]
