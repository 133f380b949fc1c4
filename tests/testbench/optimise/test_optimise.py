"""Optimisation: its front beside that of the whole grid, that the seed says all, mistakes."""

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nicbed import UserError
from nicbed.testbench.commands.optimise import run_optimise
from nicbed.testbench.commands.options import RunOptions, SearchOptions
from nicbed.testbench.optimise import Search, Trials, carried_out, optimise, searched
from nicbed.testbench.optimise.file import read
from nicbed.testbench.optimise.front import unbeaten
from nicbed.testbench.optimise.plots import drawing
from nicbed.testbench.optimise.space import Space
from nicbed.testbench.results import document as files
from nicbed.testbench.results.plots import render
from nicbed.testbench.store import Store
from nicbed.testbench.sweeps import Local, Outcome, Task
from nicbed.testbench.sweeps.constraint import Constraint
from nicbed.testbench.synth import nic
from nicbed.testbench.testbed.bed import Testbed
from nicbed.testbench.testbed.measurement import Measurement

from tests.models.round_trips import round_trips
from tests.models.signatures import signature
from tests.testbench.test_cli import nicbed

pytest.importorskip("optuna")

KNOBS = {"link.latency": "4:64:*2", "nic.send_fifo": "4096:32768:*2",
         "nic.receive_fifo": "2048:65536:*2"}
"""5 × 4 × 6 points."""
FEW = {"link.latency": "4:64:*2", "nic.send_fifo": "4096,8192"}
GOALS = ["rtt=rtt:RTT, 1 word", "area:lut"]


def figures(wanted: Measurement) -> dict[str, Any]:
    """What a point shows: FIFOs make a round trip shorter, and take LUTs."""
    one = wanted.description
    if wanted.synthesis:
        lut = one.nic.send_fifo // 16 + one.nic.receive_fifo // 8
        return {"results": {"lut": lut, "lut_ram": 0, "ff": 2, "ram": 1, "dsp": 0}, "blocks": {}}
    slow = one.link.latency * 3 + (1 << 18) // one.nic.send_fifo + (1 << 17) // one.nic.receive_fifo
    return round_trips(slow)


class Made:
    """An executor without simulators and yosys. Points with a latency of ``fails`` fail; after
    ``stop`` tasks it is interrupted."""

    def __init__(self, fails: Sequence[int] = (), stop: int | None = None,
                 backwards: bool = False) -> None:
        self.fails, self.stop, self.backwards = fails, stop, backwards
        self.done: list[Task] = []

    def outcomes(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        for task in reversed(tasks) if self.backwards else tasks:
            if len(self.done) == self.stop:
                raise KeyboardInterrupt
            self.done.append(task)
            if task.wanted.description.link.latency in self.fails:
                yield Outcome(task.number, error="at cycle 7: nothing goes")
            else:
                yield Outcome(task.number, task.wanted.document(figures(task.wanted)))


def search(vary: Any = KNOBS, minimise: Sequence[str] = GOALS, **options: Any) -> Search:
    return searched(vary, minimise, **options)


SPACES: dict[str, Space] = {}
"""Those of searches that were made: to look at 120 points takes a second."""


def tried(executor: Any = None, **options: Any) -> Trials:
    found = search(**options)
    space = repr({name: one for name, one in options.items() if name not in ("trials", "seed")})
    if space not in SPACES:
        SPACES[space] = Space(found)
    return carried_out(found, SPACES[space], executor or Made())


def whole(*, holds: Any = lambda row: True, **options: Any) -> set[tuple[float, ...]]:
    """The front of the whole grid, by brute force."""
    every = tried(trials=10_000, **options)
    assert len(every.rows) == 120
    rows = [row for row in every.rows if holds(row)]
    return {(one["rtt"], one["area:lut"]) for one in rows if not any(
        other["rtt"] <= one["rtt"] and other["area:lut"] <= one["area:lut"] and (
            other["rtt"], other["area:lut"]) != (one["rtt"], one["area:lut"]) for other in rows)}


def front(trials: Trials) -> set[tuple[float, ...]]:
    return {(row["rtt"], row["area:lut"]) for row in trials.front}


def test_all_points_have_the_front_of_the_grid() -> None:
    trials = tried(trials=200)
    assert len(trials.rows) == 120 and front(trials) == whole()
    assert [row["rtt"] for row in trials.front] == sorted(row["rtt"] for row in trials.front)
    places = {tuple(row[name] for name in KNOBS) for row in trials.rows}
    assert len(places) == 120


def test_half_of_the_points_find_more_of_it_than_chance() -> None:
    best = whole()
    found = [len(front(tried(trials=60, seed=seed)) & best) for seed in range(1, 4)]
    random = np.random.default_rng(1)
    every = tried(trials=200).rows
    drawn = [len({(row["rtt"], row["area:lut"]) for row in random.choice(every, 60, replace=False)}
                 & best) for _ in range(50)]
    assert sum(found) / len(found) > 1.2 * sum(drawn) / len(drawn)


def test_the_seed_says_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = files.text(dict(tried(trials=18).document))
    assert files.text(dict(tried(Made(backwards=True), trials=18).document)) == one
    assert files.text(dict(tried(trials=18, seed=2).document)) != one
    monkeypatch.setattr(Testbed, "job", lambda bed, job, **_: figures(
        Testbed(job.description, store=None).benchmark("rtt")))
    monkeypatch.setattr(nic, "measure", lambda description, _: figures(
        Testbed(description, store=None).wanted(["area"])["area"]))
    for workers, store in ((1, None), (3, Store(tmp_path)), (2, Store(tmp_path))):
        assert files.text(dict(tried(Local(workers, store=store), trials=18).document)) == one


def test_more_trials_begin_with_those_of_fewer() -> None:
    few, many = tried(trials=14), tried(trials=31)
    knobs = [[row[name] for name in KNOBS] for row in (*few.rows, *many.rows)]
    assert knobs[:14] == knobs[14:28]


def test_an_interrupted_search_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                    ) -> None:
    jobs: list[Any] = []
    stop = [9]

    def job(bed: Testbed, wanted: Any, **_: Any) -> Any:
        if len(jobs) == stop[0]:
            raise KeyboardInterrupt
        jobs.append(wanted.description)
        return figures(Testbed(wanted.description, store=None).benchmark("rtt"))

    monkeypatch.setattr(Testbed, "job", job)
    options: Any = {"vary": {**FEW, "nic.mtu": "256,512"}, "minimise": GOALS[:1], "trials": 18}
    with pytest.raises(KeyboardInterrupt):
        tried(Local(1, store=Store(tmp_path)), **options)
    assert len(jobs) == 9
    stop[0] = -1
    found = tried(Local(2, store=Store(tmp_path)), **options)
    assert len(jobs) == 18 and found.document == tried(Made(), **options).document
    tried(Local(2, store=Store(tmp_path)), **options)
    assert len(jobs) == 18


def test_conditions_on_knobs_are_never_broken() -> None:
    found = tried(trials=50, where=["nic.receive_fifo < nic.send_fifo * 2"])
    assert len(found.rows) == 50
    assert all(row["nic.receive_fifo"] < row["nic.send_fifo"] * 2 for row in found.rows)
    assert all(row["holds"] for row in found.rows)


def test_conditions_on_figures_bound_the_front() -> None:
    found = tried(trials=200, where=["area.lut <= 2000 and link.latency >= 8"])
    assert front(found) == whole(holds=lambda row: row["area:lut"] <= 2000
                                 and row["link.latency"] >= 8)
    assert {row["holds"] for row in found.rows} == {True, False}
    assert not any(row["front"] and not row["holds"] for row in found.rows)
    alone = tried(vary=FEW, minimise=GOALS[:1], where=["area.lut <= 800"], trials=8)
    assert [one.name for one in alone.metrics] == ["rtt", "area:lut"]
    assert len(alone.front) == 1 and alone.front[0]["area:lut"] <= 800


def test_nothing_that_holds_is_no_front() -> None:
    found = tried(vary=FEW, where=["area.lut < 0"])
    assert not found.front and len(found.rows) == 10
    assert render(drawing(found), found.document)[".png"][1:4] == b"PNG"


def test_more_can_be_better() -> None:
    most = tried(vary=FEW, minimise=(), maximise=["area:lut"], trials=200)
    assert {row["area:lut"] for row in most.front} == {max(row["area:lut"] for row in most.rows)}
    both = tried(vary=FEW, minimise=GOALS[:1], maximise=["area:lut"], trials=200)
    assert [(row["link.latency"], row["nic.send_fifo"]) for row in both.front] == [(4, 8192)]


def test_a_point_that_fails_is_a_row_with_its_line() -> None:
    found = tried(Made(fails=[16]), trials=60)
    failed = [row for row in found.rows if row["link.latency"] == 16]
    assert failed and all(row["error"] == "at cycle 7: nothing goes" and row["holds"] is None
                          and not row["front"] for row in failed)
    assert all(row["error"] is None for row in found.rows if row["link.latency"] != 16)
    with pytest.raises(UserError, match="none of 20 trials shows all goals: at cycle 7") as error:
        tried(Made(fails=[4, 8, 16, 32, 64]))
    assert error.value.status == 1


def test_a_figure_that_a_run_does_not_show_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """As g of a NIC whose CPUs hide it."""
    seen = figures

    def hidden(wanted: Measurement) -> dict[str, Any]:
        if wanted.synthesis or wanted.description.link.latency < 30:
            return seen(wanted)
        return round_trips(None)

    monkeypatch.setitem(globals(), "figures", hidden)
    rows = tried(vary=FEW, trials=10).rows
    assert {(row["link.latency"] < 30, row["error"]) for row in rows} == {
        (True, None), (False, "rtt does not show RTT, 1 word here")}


@pytest.mark.parametrize("backwards", [False, True])
def test_a_figure_that_a_trial_lacks_is_its_line(monkeypatch: pytest.MonkeyPatch, backwards: bool
                                                 ) -> None:
    """Whichever result comes first."""
    seen = figures

    def bare(wanted: Measurement) -> dict[str, Any]:
        found = seen(wanted)
        if wanted.synthesis or wanted.description.link.latency < 30:
            return {**found, "truth": {"half": 2}}
        return found

    monkeypatch.setitem(globals(), "figures", bare)
    goals = ["half=rtt:truth.half"]
    rows = tried(Made(backwards=backwards), vary=FEW, minimise=goals, trials=10).rows
    assert {row["link.latency"] < 30: row["error"] is None for row in rows} == {True: True,
                                                                               False: False}
    with pytest.raises(UserError, match="metric rtt:nothing: rtt has no figure nothing"):
        tried(vary=FEW, minimise=["rtt:nothing"])


def test_a_goal_that_is_never_shown_ends_the_search_after_a_round(monkeypatch: pytest.MonkeyPatch
                                                                  ) -> None:
    monkeypatch.setitem(globals(), "figures", lambda _: signature(3, visible=False))
    executor = Made()
    with pytest.raises(UserError, match="metric logp:g: no trial so far shows it; logp:results.g "
                                        "is the number, whoever bounds it") as error:
        tried(executor, vary=FEW, minimise=["logp:g"], trials=10)
    assert error.value.status == 1 and len(executor.done) == 4
    found = tried(executor, vary=FEW, minimise=["logp:results.g"], trials=10)
    assert len(found.rows) == 10


def test_a_condition_without_sense_ends_the_search_after_a_round() -> None:
    executor = Made()
    with pytest.raises(UserError, match="constraint \"area.lut < 'a'\": '<' not supported"):
        tried(executor, vary=FEW, minimise=["area:ff"], where=["area.lut < 'a'"], trials=10)
    assert len(executor.done) == 4
    found = tried(vary=FEW, where=["area.lut / (link.latency - 8) < 900"], trials=10)
    assert sum(row["error"] is not None for row in found.rows) == 2


def test_points_that_are_refused_are_no_trials() -> None:
    found = search({"nic.receive_ring": "4:8:1", "link.latency": "4,8"})
    space = Space(found)
    assert space.listed is not None and len(space.listed) == 4
    assert space.remarks()[0].startswith("6 points are refused, such as: nic.receive_ring = 5: mus")
    assert space.remarks()[0].endswith("; 4 points are left")
    assert len(carried_out(found, space, Made()).rows) == 4
    with pytest.raises(UserError, match="of 1 point none can be tried: nic.receive_ring = 5"):
        Space(search({"nic.receive_ring": "5"}))
    with pytest.raises(UserError, match="of 2 points none can be tried: the conditions exclude"):
        Space(search({"link.latency": "4,8"}, where=["link.latency > 9"]))


def test_ranges_that_are_not_listed() -> None:
    vary = {"link.latency": "4:64", "cpu.call": "1:1000:*", "nic.overflow": "push,drop"}
    found = search(vary, trials=30, where=["cpu.call > 10"])
    assert Space(found).listed is None
    rows = tried(vary=vary, trials=30, where=["cpu.call > 10"]).rows
    assert len({tuple(row[name] for name in vary) for row in rows}) == 30
    assert all(10 < row["cpu.call"] <= 1000 and 4 <= row["link.latency"] <= 64 for row in rows)
    tiny = tried(vary={"link.latency": "4:6"}, trials=30)
    assert sorted(row["link.latency"] for row in tiny.rows) == [4, 5, 6]


def test_a_value_that_is_given_twice_is_one() -> None:
    rows = tried(vary={"link.latency": "4,4,4,8"}, trials=9).rows
    assert [row["link.latency"] for row in rows] == [4, 8]
    found = tried(vary={"link.latency": "4,4,4", "nic.send_fifo": "4096:32768:*2"}, trials=3)
    assert len(found.rows) == 3


def test_who_is_unbeaten() -> None:
    random = np.random.default_rng(3)
    for goals in (1, 2, 3):
        points = random.integers(0, 4, (30, goals)).tolist()
        found = unbeaten(points)
        for at, one in enumerate(points):
            beaten = any(all(a <= b for a, b in zip(other, one, strict=True)) and other != one
                         for other in points)
            assert found[at] is not beaten


@pytest.mark.parametrize(("text", "misses"), [
    ("area.lut <= 50", 0), ("area.lut <= 40", 10), ("area.lut < 50", 1), ("60 <= area.lut", 10),
    ("area.lut < 40 and link.latency > 10", 12), ("area.lut < 40 or link.latency > 10", 2),
    ("area.blocks.a.ff == 8", 1), ("area.blocks.a.ff == 7", 0), ("not area.lut > 3", 1)])
def test_by_how_much_a_condition_is_missed(text: str, misses: float) -> None:
    values = {"link": {"latency": 8}, "area": {"lut": 50, "blocks.a.ff": 7}}
    condition = Constraint(text, figures=True)
    assert condition.misses(values) == misses and condition.figures


def test_a_sweep_has_no_conditions_on_figures() -> None:
    with pytest.raises(UserError, match="no knob is called area.lut"):
        Constraint("area.lut < 3")


@pytest.mark.parametrize(("options", "said"), [
    ({"vary": {}}, "needs knobs that vary"), ({"minimise": ()}, "needs a goal, such as"),
    ({"minimise": ["rtt"]}, "metric rtt: must be BENCHMARK:FIGURE"),
    ({"minimise": ["lopg:g"]}, "no benchmark or program is called lopg; did you mean logp"),
    ({"minimise": ["rtt:a"], "maximise": ["rtt:a"]}, "the goal rtt:a is there twice"),
    ({"seed": -1}, "seed = -1: must be 0 to 4294967295"),
    ({"seed": 1 << 32}, "seed = 4294967296: must be 0 to"),
    ({"trials": 0}, "trials = 0: must be 1 to 10,000"),
    ({"vary": {"link.latncy": "4"}}, "no knob is called link.latncy; did you mean link.latency"),
    ({"where": ["aera.lut < 3"]}, "no knob is called aera.lut"),
    ({"where": ["area.lut <"]}, "is no condition"),
    ({"where": ["on-to-many.g < 3"]}, "constraint 'on-to-many.g < 3': on: there may be knobs"),
    ({"minimise": ["logp:rtt", "logp:RTT"]}, "goals logp:rtt and logp:RTT are the same figure"),
    ({"minimise": ["a=is:time", "b=is:time"]}, "goals a = is:time and b = is:time are the same"),
    ({"minimise": ["bulk:r_INF, store", "bulk:r_inf, store"]}, "are the same figure"),
    ({"vary": {"link.latency": [4, [8, 16]]}}, r"link.latency: \[8, 16\] is no value, which is a"),
    ({"vary": {"link.latency": {"a": 4}.items()}}, r"link.latency: \('a', 4\) is no value")])
def test_wrong_searches_are_one_line(options: Any, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        search(**options)
    assert "\n" not in str(caught.value)


def test_figures_that_differ_in_case_alone() -> None:
    """Where a benchmark has both they are two."""
    assert len(search(minimise=["prtt:g", "prtt:G"]).goals) == 2


def test_a_list_in_a_searchs_file_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text('minimise = ["area:lut"]\n[vary]\n"link.latency" = [[4, 8], [16]]\n')
    with pytest.raises(UserError, match=r"s.toml: link.latency: \[4, 8\] is no value"):
        read(path)


def test_values_may_be_an_array_of_numpy() -> None:
    [axis] = search({"link.latency": np.array([4, 8, 4])}).axes
    assert axis.values == (4, 8)


@pytest.mark.parametrize(("text", "figures"), [
    ("one-to-many.g - 2 < 3", [("one-to-many", "g")]), ("is.time < 5", [("is", "time")]),
    ("5 -many-to-one.results.x<-one-to-many.g", [("many-to-one", "results.x"),
                                                 ("one-to-many", "g")])])
def test_benchmarks_whose_names_are_none_of_pythons(text: str, figures: list[tuple[str, str]]
                                                    ) -> None:
    condition = Constraint(text, figures=True)
    assert condition.figures == figures
    values = {"one-to-many": {"g": 4}, "many-to-one": {"results.x": 10}, "is": {"time": 4}}
    assert condition.holds(values)


@pytest.mark.parametrize(("text", "said"), [
    ("is.time is not 5", "'is.time is not 5': is.time is not 5: there may be knobs"),
    ("one-to-many.g in (1, 2)", ": one-to-many.g in (1, 2): there may be knobs"),
    ("is_.time < 5", "'is_.time < 5': no knob or benchmark is called is_; did you mean is?"),
    ("one_to_many_.g < 5", "is called one_to_many_; did you mean one-to-many?")])
def test_errors_of_conditions_have_the_names_that_the_user_wrote(text: str, said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        Constraint(text, figures=True)


def test_a_condition_on_no_figure_of_the_area() -> None:
    with pytest.raises(UserError, match="metric area:lot: area has no figure lot; did you mean"):
        tried(vary=FEW, where=["area.lot < 3"])


@pytest.mark.parametrize(("goals", "name"), [
    (GOALS[:1], "over the trials"), (GOALS, "against area:lut"),
    ([*GOALS, "area:ff"], "on the front, coloured by rtt")])
def test_plots_by_the_number_of_goals(goals: list[str], name: str) -> None:
    found = tried(vary={**FEW, "nic.mtu": "256,512"}, minimise=goals, where=["area.lut < 2400"])
    assert found.plot().png[1:4] == b"PNG"
    from matplotlib.figure import Figure

    figure = Figure()
    drawing(found)(found.document, figure)
    assert name in figure.axes[0].get_title()


def test_the_call_of_scripts() -> None:
    found = optimise({"link.latency": [4, 8]}, GOALS, executor=Made())
    assert len(found.rows) == 2 and {one.kind for one in found.columns} == {"knob", "metric",
                                                                              "mark"}
    assert found.names[-3:] == ["holds", "front", "error"]
    with pytest.warns(UserWarning, match="a point is refused: nic.receive_ring = 5"):
        optimise({"nic.receive_ring": [4, 5]}, GOALS, executor=Made())


def test_a_search_file(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text('nic = "ideal"\nminimise = ["rtt:truth.half"]\nmaximise = ["area:ff"]\n'
                    'trials = 7\nconstraints = ["area.lut < 60"]\n[vary.link]\nlatency = "4:64"\n')
    found = read(file)
    assert (found.trials, found.seed, found.start.nic, found.title) == (7, 1, "ideal", "small")
    assert [one.more for one in found.goals] == [False, True]
    assert read(file, trials=9, seed=4, nodes=3).trials == 9
    for text, said in (("trails = 3", "a search has no trails; did you mean trials"),
                       ("trials = 'a'", "trials must be a whole number"),
                       ("minimise = [3]", "each of minimise must be a text"),
                       ("minimise = ['rtt:a']", "optimise needs knobs that vary")):
        file.write_text(text)
        with pytest.raises(UserError, match=said):
            read(file)


def test_the_command_writes_and_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = SearchOptions(vary=["link.latency=4:64:*2", "nic.send_fifo=4096,8192"], minimise=GOALS,
                          constraints=["area.lut < 800 or link.latency < 8",
                                       "nic.send_fifo > 64 * link.latency"])
    run_optimise(None, asked, RunOptions(out=tmp_path), Made(fails=[16]))
    out = capsys.readouterr().out
    assert "The front: no other trial beats these" in out
    assert ("9 trials of 9 points; 3 miss a condition; 2 failed; the conditions exclude 1 point"
            in out)
    assert "link.latency=16, nic.send_fifo=4096: at cycle 7: nothing goes" in out
    path = Path(out.splitlines()[-1])
    assert path.name.startswith("optimise-")
    assert {one.suffix for one in tmp_path.glob(f"{path.stem}.*")} >= {".json", ".csv", ".png"}
    rows = json.loads(path.read_text())["rows"]
    assert [sorted(row) for row in rows if row["front"]][0] == [
        "area:lut", "error", "front", "holds", "link.latency", "nic.send_fifo", "rtt"]
    assert path.with_suffix(".csv").read_text().startswith(
        "link.latency,nic.send_fifo,rtt,area:lut,holds,front,error\n")


def test_the_command_says_that_no_trial_fulfils_all_conditions(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = SearchOptions(vary=["link.latency=4"], minimise=GOALS, constraints=["area.lut < 0"])
    run_optimise(None, asked, RunOptions(workers=1, out=tmp_path), Made())
    told = capsys.readouterr().out
    assert told.startswith("No trial fulfils all conditions\n")
    assert "1 trial of 1 point; 1 misses a condition" in told


def test_the_command_on_the_target(tmp_path: Path) -> None:
    """With simulators, but without synthesis; the second time all is from the store."""
    arguments = ["optimise", "--vary", "link.latency=4,40", "--vary", "cpu.call=3,6", "--minimise",
                 "rtt:rtt, 1 word", "--trials", "3", "--out", str(tmp_path)]
    runs = [nicbed(*arguments, *more, NICBED_STORE=str(tmp_path / "store"))
            for more in ((), ("--workers", "1"))]
    assert [run.returncode for run in runs] == [0, 0], runs[0].stderr
    assert runs[0].stdout == runs[1].stdout and "3 trials of 4 points" in runs[0].stdout
    rows = json.loads(Path(runs[0].stdout.splitlines()[-1]).read_text())["rows"]
    best = min(rows, key=lambda row: row["rtt:rtt, 1 word"])
    assert [row for row in rows if row["front"]] == [best] and len(rows) == 3


@pytest.mark.parametrize(("arguments", "said"), [
    (["--vary", "link.latency=4"], "needs a goal, such as --minimise logp:L"),
    (["s.toml", "--minimise", "a:b"], "a search's file says itself"),
    (["--vary", "link.latency=4", "--minimise", "vis:a", "--layer", "am"], "vis does not exist for")
])
def test_mistakes_are_one_line(arguments: list[str], said: str) -> None:
    run = nicbed("optimise", *arguments)
    assert run.returncode == 2 and run.stdout == ""
    assert said in run.stderr and len(run.stderr.splitlines()) == 1


def test_without_optuna(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    with pytest.raises(UserError, match=r"optimise needs optuna: pip install 'nicbed\[optimise\]'"):
        tried()


def test_every_condition_of_a_listed_space_is_looked_at_once() -> None:
    found = search({"link.latency": "4,8", "cpu.call": "3,6"}, where=["cpu.call > 3"])
    space = Space(found)
    assert space.excluded == 2
    for place in itertools.product(range(2), range(2)):
        space.point(place)
    assert space.excluded == 2
