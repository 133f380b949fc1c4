"""Programs in layouts at sizes that run: jobs, counts, and times at a study's size."""

import tomllib
from fractions import Fraction

import pytest
from matplotlib.figure import Figure
from nicbed import UserError
from nicbed.testbench.apps.counting import counted
from nicbed.testbench.descriptions import load
from nicbed.testbench.machines import layouts_drawn, studies
from nicbed.testbench.machines.measured import job_for, measure
from nicbed.testbench.machines.reproduction import measured
from nicbed.testbench.machines.sized import at_full_size, phases, said

KINDS = {"axes 2, 3": "computation", "transpose": "communication", "barrier": "communication"}


def results(points, cycles, full=256, blocks=1000):
    """Results of fft on two processes, of ``points``; ``cycles`` of a phase by points."""
    runs = [{"parameters": {"points": one}, "cycles": 1,
             "processes": [{}, {}],
             "phases": [{"name": name, "kind": kind, "cycles": [cycles(name, one) - 1,
                                                                cycles(name, one) + 1]}
                        for name, kind in KINDS.items()],
             "messages": {"bulk_put": {"messages": 2 * one}, "collective": {"messages": 77}}}
            for one in points]
    return {"runs": runs, "counted": {"parameters": {"points": full}, "work": full ** 3,
                                      "messages": blocks}}


def test_each_phase_grows_with_what_it_depends_on():
    """Computation with the points, communication with the messages, of which a process sends one a
    point here; what no point takes stays."""
    def cycles(name, points):
        return 40 * points ** 3 if name == "axes 2, 3" else (
            500 + 7 * points if name == "transpose" else 900)

    found = phases("fft", results([4, 6], cycles))
    assert found == {"axes 2, 3": 40 * 256 ** 3, "transpose": 500 + 7000, "barrier": 900}
    assert at_full_size("fft", results([4, 6], cycles)) == sum(found.values())
    text = said("fft", results([4, 6], cycles))
    assert text.startswith("fft of points 4 (1 cycles) and points 6 (1 cycles), by phases to points"
                           " 256") and text.endswith("167 times as many messages")


def test_one_run_is_in_proportion():
    found = phases("fft", results([8], lambda name, points: 16))
    assert found["transpose"] == Fraction(16 * 1000, 8)
    assert found["axes 2, 3"] == 16 * 32 ** 3


def test_a_phase_that_shrinks_is_in_proportion_to_the_larger_run():
    found = phases("fft", results([4, 8], lambda name, points: 100 - points))
    assert found["transpose"] == Fraction(92 * 1000, 8)


@pytest.mark.parametrize(("name", "parameters", "off", "within"), [
    ("fft", {"points": 256, "seed": 1}, 3072, 896),
    ("em3d", {"vertices": 20, "degree": 20, "remote": 40, "steps": 3, "mapping": "good",
              "seed": 1}, None, None)])
def test_messages_are_counted_with_replies(name, parameters, off, within):
    description = job_for(load.load("e5000"), quantity(name, "4x8", full=parameters)).description
    found = counted(name, parameters, description, "am2")
    if off is not None:
        assert (found["blocks off"], found["blocks within"]) == (off, within)
    assert found["off"] == 2 * found["blocks off"]
    assert found["local"] == pytest.approx(
        100 * found["within"] / (found["off"] + found["within"]))
    assert len(found["processes"]) == 32
    assert sum(one for one, _ in found["processes"]) == pytest.approx(32 * found["off"])
    if name == "em3d":
        assert found["off"] + found["within"] == 2 * 3 * 160 and found["work"] == 1200


STUDY = """
title = "Mine"
source = "Here"
[quantities.x]
app = "{app}"
layout = "{layout}"
runs = {runs}
full = {full}
field = "{field}"
[t]
title = "Times"
plots = ["applications"]
[t.e5000]
x = {{ published = 1 }}
"""


def inline(given):
    return "{ " + ", ".join(f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}"
                            for key, value in given.items()) + " }"


def table(app, layout, runs=(), full=None, field="off"):
    text = STUDY.format(app=app, layout=layout, field=field, full=inline(full or {}),
                        runs=f"[{', '.join(map(inline, runs))}]")
    [found] = studies.read("mine", tomllib.loads(text)).tables
    return found


def quantity(*given, **more):
    return table(*given, **more).quantity("x")


def test_a_program_runs_in_its_layout(jobs):
    """On the functional target; answers are checked, and the time is that of all phases at full
    size."""
    [one] = [table("em3d", "smp", [{"vertices": 4}, {"vertices": 8}], {"vertices": 40, "steps": 2},
                   "time")]
    found = measured(one)
    [row] = found.rows
    outcome = found.outcomes["e5000", "x"]
    assert len(outcome["checks"]) >= 10 and all(check["ok"] for check in outcome["checks"])
    assert all(len(run["processes"]) == 8 for run in outcome["results"]["runs"])
    clock = load.load("e5000").nic.clock_mhz
    assert row.figure.unit == "s"
    assert row.ours == pytest.approx(float(at_full_size("em3d", outcome["results"]) / clock) / 1e6)
    small = outcome["results"]["runs"][1]["cycles"] / float(clock) / 1e6
    assert 5 * small < row.ours < 20 * small
    assert found.findings == [f"e5000, x: {said('em3d', outcome['results'])}"]

    figure = Figure()
    layouts_drawn.applications(found, figure)
    [axes] = figure.axes
    ours = [bar.get_height() for bar in axes.patches if bar.get_x() > 0]
    assert sum(ours) == pytest.approx(row.ours) and len(ours) == 5


def test_counts_need_no_simulator(jobs):
    found = measured(table("fft", "4x8", full={"points": 64}))
    assert not jobs and [row.ours for row in found.rows] == [2 * 24 * 2]
    figure = Figure()
    layouts_drawn.traffic(found, figure)
    [axes] = figure.axes
    assert axes.get_ylim()[1] > 96


def test_jobs_of_one_size_are_one(jobs):
    wanted = [quantity("con", "4x8", full={"side": 2}, field=field) for field in ("off", "local")]
    off, local = (job_for(load.load("e5000"), one) for one in wanted)
    assert off == local
    outcomes = measure([off, local])
    assert [one.value(outcome["results"], off.description) for one, outcome in
            zip(wanted, outcomes, strict=True)] == [
                outcomes[0]["results"]["counted"][field] for field in ("off", "local")]


@pytest.mark.parametrize(("change", "text"), [
    ({"app": "mm"}, "mine/quantities/x: --layout smp: mm has no layouts"),
    ({"app": "ftt"}, "mine/quantities/x: no program is called ftt: did you mean fft?"),
    ({"layout": "9x9"}, "mine/quantities/x: --layout 9x9: must be now-8, smp, now-32, 4x8"),
    ({"field": "times"}, "mine/quantities/x: a program has no field called times: did you mean "
                         "time?"),
    ({"field": "time"}, "mine/quantities/x: runs: must have one at least, for the time"),
    ({"full": {"points": 257}}, "mine/quantities/x: --points 257: must be 1 to 256"),
    ({"runs": [{"vertices": 3}]}, "mine/quantities/x: fft has no parameter called vertices")])
def test_what_is_no_quantity_of_a_program(change, text):
    with pytest.raises(UserError) as told:
        table(**{"app": "fft", "layout": "smp", **change})
    assert str(told.value).startswith(text.split(": did")[0]) and "\n" not in str(told.value)
