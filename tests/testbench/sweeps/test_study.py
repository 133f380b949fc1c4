"""Studies: their points, what is refused before anything runs, and the table."""

import csv
import io
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nicbed import UserError
from nicbed.testbench.commands.options import RunOptions, SweepOptions
from nicbed.testbench.commands.sweep import run_sweep
from nicbed.testbench.optimise import optimise
from nicbed.testbench.results.plots import render
from nicbed.testbench.store import Store
from nicbed.testbench.sweeps import (
    Column,
    Local,
    Outcome,
    Plan,
    Table,
    Task,
    measured,
    planned,
    sweep,
)
from nicbed.testbench.sweeps.axis import axis
from nicbed.testbench.sweeps.constraint import Constraint
from nicbed.testbench.sweeps.figures import check_figures
from nicbed.testbench.sweeps.file import read
from nicbed.testbench.sweeps.measured import metric
from nicbed.testbench.sweeps.plots import drawing, front, pareto
from nicbed.testbench.sweeps.sweep import prepare
from nicbed.testbench.testbed.bed import Testbed

from tests.models.round_trips import round_trips
from tests.models.signatures import signature
from tests.testbench.test_cli import nicbed


class Sums:
    """An executor without simulators: a round trip takes the sum of two knobs. Points whose
    latency is in ``fails`` fail; after ``stop`` tasks it is interrupted."""

    def __init__(self, fails: Sequence[int] = (), stop: int | None = None) -> None:
        self.fails, self.stop = fails, stop
        self.done: list[Task] = []

    def outcomes(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        for task in reversed(tasks):  # whatever the order
            if len(self.done) == self.stop:
                raise KeyboardInterrupt
            self.done.append(task)
            description = task.wanted.description
            if description.link.latency in self.fails:
                yield Outcome(task.number, error="at cycle 7: nothing goes")
                continue
            figure = description.link.latency + description.cpu.call + 0.5
            yield Outcome(task.number, task.wanted.document({
                **round_trips(figure), "truth": {"half": figure / 2}}))


RTT = {"rtt": "rtt:results.words.1.rtt"}
LATENCIES = {"link.latency": "4:16:*2"}


def plan(vary: Any = LATENCIES, benches: Sequence[str] = ("rtt",), **options: Any) -> Plan:
    return planned(vary, benches, **{"metrics": RTT, **options})


@pytest.mark.parametrize(("knob", "given", "values"), [
    ("link.latency", "4:64:*2", (4, 8, 16, 32, 64)), ("link.latency", "4:10:3", (4, 7, 10)),
    ("link.latency", "4:11:3", (4, 7, 10)), ("nic.mtu", "256, 1024", (256, 1024)),
    ("link.latency", [1, 5], (1, 5)), ("link.latency", 7, (7,)),
    ("nic.overflow", "push,drop", ("push", "drop")), ("bus.coherent", "true,false", (True, False)),
    ("link.bytes_per_cycle", "1/2:2:*2", ("1/2", "1", "2")),
    ("faults.drop", "0:0.2:0.1", (0.0, 0.1, 0.2))])
def test_values_of_a_knob(knob: str, given: Any, values: tuple[Any, ...]) -> None:
    assert axis(knob, given).values == values


@pytest.mark.parametrize(("knob", "given", "said"), [
    ("link.latncy", "4", "no knob is called link.latncy; did you mean link.latency"),
    ("link.latency", "", "has no values"), ("link.latency", [], "has no values"),
    ("link.latency", "4:x:2", "must be values"), ("link.latency", "1:2:3:4", "must be values"),
    ("link.latency", "64:4:*2", "must go up"), ("link.latency", "4:64:*1", "step above 1"),
    ("link.latency", "4:64:-1", "step above 0"), ("link.latency", "0:64:*2", "must go up"),
    ("link.latency", "4:5:1/2", "link.latency=4:5:1/2: .*whole number"),
    ("link.latency", "a,b", "--vary link.latency=a,b: .*whole number"),
    ("link.latency", "1:1000000000:1", "has more than 100000 values")])
def test_wrong_values_are_one_line(knob: str, given: Any, said: str) -> None:
    with pytest.raises(UserError, match=said):
        axis(knob, given)


def test_ranges_to_choose_from() -> None:
    plain, log = axis("link.latency", "4:64"), axis("link.latency", "1:64:*")
    shares = np.linspace(0, 0.9999, 6100)
    values, counts = np.unique([plain.at(share) for share in shares], return_counts=True)
    assert list(values) == list(range(4, 65)) and counts.min() > 90  # the ends, too
    assert [log.at(share) for share in (0, 0.5, 1)] == [1, 8, 64]
    assert isinstance(axis("link.bytes_per_cycle", "1:2").at(0.3), Fraction)
    assert axis("faults.drop", "0:1").at(0.25) == 0.25


def test_methods() -> None:
    both = {"link.latency": "4,8", "cpu.call": "6,12"}
    assert [tuple(one.values()) for one in plan(both).points] == [
        (4, 6), (4, 12), (8, 6), (8, 12)]
    assert [tuple(one.values()) for one in plan(both, method="zip").points] == [(4, 6), (8, 12)]
    given = [{"link.latency": 4}, {"cpu.call": 12}]
    assert list(plan({}, method="list", points=given).points) == given
    free = {"link.latency": "0:999", "cpu.call": "0:999"}
    for method in ("random", "lhs"):
        found = [plan(free, method=method, points=20, seed=seed).points for seed in (1, 1, 2)]
        assert found[0] == found[1] != found[2] and len(found[0]) == 20
    cube = plan(free, method="lhs", points=20).points
    for knob in free:  # one in each twentieth
        assert sorted(point[knob] // 50 for point in cube) == list(range(20))


@pytest.mark.parametrize(("options", "said"), [
    ({"method": "gird"}, "no method is called gird; did you mean grid"),
    ({"vary": {"link.latency": "4:64"}}, "method grid needs a step, such as 4:64:\\*2"),
    ({"vary": {"link.latency": "4,8", "cpu.call": "6"}, "method": "zip"},
     "link.latency has 2, cpu.call has 1"),
    ({"method": "lhs"}, "needs a number of points"),
    ({"method": "lhs", "points": 3, "seed": -1}, "seed = -1: must be 0 to 4294967295"),
    ({"seed": 1 << 32}, "seed = 4294967296: must be 0 to 4294967295"),
    ({"points": 3}, "method grid takes no number of points, 3: random and lhs do"),
    ({"method": "zip", "points": 3}, "method zip takes no number of points"),
    ({"method": "list"}, "takes \\[\\[points\\]\\]"),
    ({"vary": {}}, "needs knobs that vary"), ({"benches": []}, "a study needs a benchmark"),
    ({"benches": ["lgop"]}, "no benchmark or program is called lgop; did you mean logp"),
    ({"metrics": {"a": "rtt"}}, "metric a = rtt: must be BENCHMARK:FIGURE"),
    ({"metrics": {"a": "logp:g"}}, "logp is not measured"),
    ({"vary": {knob: "0:300:1" for knob in ("link.latency", "cpu.call", "cpu.alu")}},
     "the grid has 27,270,901 points"),
    ({"constraints": ["link.latency <"]}, "is no condition"),
    ({"constraints": ["link.latncy < 3"]}, "no knob is called link.latncy"),
    ({"constraints": ["__import__('os')"]}, "there may be knobs, numbers")])
def test_wrong_plans_are_one_line(options: Any, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        plan(**options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "holds"), [
    ("link.latency == 8", True), ("link.latency * 2 <= cpu.call", False),
    ("4 < link.latency <= 8 and not cpu.call > 12", True), ("-cpu.call + 20 // 3 == -6", True),
    ("nic.overflow == 'push' or link.latency < 0", True), ("link.latency % 3 == 1", False)])
def test_conditions(text: str, holds: bool) -> None:
    values = {"link": {"latency": 8}, "cpu": {"call": 12}, "nic": {"overflow": "push"}}
    assert Constraint(text).holds(values) is holds


def test_conditions_that_cannot_be_calculated() -> None:
    for text in ("nic.overflow < 3", "link.latency / 0 == 1"):
        with pytest.raises(UserError, match="constraint"):
            Constraint(text).holds({"link": {"latency": 8}, "nic": {"overflow": "push"}})


def test_a_table_has_a_row_a_point_in_the_order_of_the_plan() -> None:
    told: list[tuple[str, int, int]] = []
    table = measured(prepare(plan({**LATENCIES, "cpu.call": "6,12"})), Sums(),
                  lambda *step: told.append(step))
    assert [(row["link.latency"], row["cpu.call"], row["rtt"]) for row in table.rows] == [
        (4, 6, 10.5), (4, 12, 16.5), (8, 6, 14.5), (8, 12, 20.5), (16, 6, 22.5), (16, 12, 28.5)]
    assert [step[1:] for step in told] == [(count, 6) for count in range(1, 7)]
    assert told[-1][0] == "6 of 6" and told[0][0].endswith(" s left")
    assert [(one.name, one.kind, one.unit) for one in table.columns] == [
        ("link.latency", "knob", "cycles"), ("cpu.call", "knob", "CPU cycles"),
        ("rtt", "metric", "")]
    again = measured(prepare(plan({**LATENCIES, "cpu.call": "6,12"})), Sums())
    assert again.document == table.document


def test_all_figures_are_columns_if_none_is_named() -> None:
    table = measured(prepare(plan(metrics=None)), Sums())
    assert [(one.name, one.unit) for one in table.metrics] == [("rtt.RTT, 1 word", "cycles")]


def test_a_point_that_fails_is_a_row_with_its_line() -> None:
    table = measured(prepare(plan()), Sums(fails=[8]))
    assert [row.get("rtt") for row in table.rows] == [10.5, None, 22.5]
    assert [row["error"] for row in table.rows] == [None, "at cycle 7: nothing goes", None]


@pytest.mark.parametrize("bare", [(0, 1), (1, 2), (0,), (2,)])
def test_a_figure_that_a_point_lacks_is_its_line(bare: tuple[int, ...]) -> None:
    """Whichever result comes first. Its other figures are there."""
    class Bare(Sums):
        def outcomes(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
            for outcome in super().outcomes(tasks):
                if outcome.number in bare and outcome.document:
                    outcome.document["truth"] = {}
                yield outcome

    table = measured(prepare(plan(metrics={"half": "rtt:truth.half", **RTT})), Bare(),
                     warn=[].append)
    assert [row["rtt"] for row in table.rows] == [10.5, 14.5, 22.5]
    for index, row in enumerate(table.rows):
        assert (row.get("half") is None) == (index in bare)
        assert ("rtt has no figure truth.half" in (row["error"] or "")) == (index in bare)


def test_a_figure_that_no_result_has_is_refused() -> None:
    for metrics, needed, said in (
            ({"a": "rtt:nothing"}, (), "metric a = rtt:nothing: rtt has no figure nothing; there"),
            (None, ["rtt.RTT, 2 word"], "no metric rtt.RTT, 2 word; did you mean rtt.RTT, 1 word")):
        with pytest.raises(UserError, match=said):
            measured(prepare(plan(metrics=metrics)), Sums(), needed=needed, warn=[].append)


@pytest.mark.parametrize(("benches", "metrics", "needed", "said"), [
    (["logp"], {"a": "logp:o_x"}, (), "metric a = logp:o_x: logp has no figure o_x; did you mean "),
    (["area"], {"l": "area:lot"}, (), "metric l = area:lot: area has no figure lot; did you mean "),
    (["is"], {"is:tim": "is:tim"}, (), "metric is:tim: is has no figure tim; did you mean time"),
    (["logp"], None, ["logp.k", "logp.g"], "the table has no metric logp.k")])
@pytest.mark.parametrize("front", [False, True])
def test_a_figure_that_cannot_be_is_refused_before_anything_runs(
        benches: list[str], metrics: Any, needed: Any, said: str, front: bool) -> None:
    """Where names are the same on every description; a search, too."""
    executor = Sums()
    with pytest.raises(UserError, match=said):
        if front and metrics:
            optimise(LATENCIES, [f"{name}={text}" for name, text in metrics.items()],
                     executor=executor)
        else:
            measured(prepare(plan(benches=benches, metrics=metrics)), executor, needed=needed)
    assert executor.done == []


def test_figures_are_known_in_whatever_case_and_places_are_not_known() -> None:
    for figure in ("O_S", "rtt", "results.o_x", "truth.o_s", "clock_mhz"):
        check_figures([metric("a", f"logp:{figure}")], (),
                      prepare(plan(benches=["logp"], metrics=None)).wanted)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(("fails", "first"), [((), 0), ((4,), 1)])
def test_what_the_first_point_lacks_is_told_when_it_is_known(
        backwards: bool, fails: tuple[int, ...], first: int) -> None:
    """Of the first whose run does not fail, whichever comes first; the others are measured."""
    class Some(Sums):
        def outcomes(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
            for outcome in super().outcomes(tasks if backwards else [*reversed(tasks)]):
                if outcome.document and outcome.number == first:
                    outcome.document["truth"] = {}
                came.append(outcome.number)
                yield outcome

    came: list[int] = []
    told: list[tuple[str, list[int]]] = []
    table = measured(prepare(plan(metrics={"half": "rtt:truth.half", **RTT})), Some(fails=fails),
                     warn=lambda line: told.append((line, list(came))))
    assert told == [(
        "metric half = rtt:truth.half: rtt has no figure truth.half; there are: RTT, 1 word (so "
        "says the first result; the others are measured)",
        [2, 1, 0] if backwards else [*range(first + 1)])]
    assert len(came) == len(table.rows) == 3


def test_a_column_that_cannot_be_is_refused_before_anything_runs() -> None:
    for metrics, needed, said in (
            (RTT, ["rtv"], "the table has no metric rtv; did you mean rtt"),
            (None, ["lgop.g"], "no metric lgop.g: without --metric its metrics are those of rtt")):
        executor = Sums()
        with pytest.raises(UserError, match=said):
            measured(prepare(plan(metrics=metrics)), executor, needed=needed)
        assert executor.done == []


def test_g_is_drawn_where_the_host_bounds_it() -> None:
    """Where no point shows g, its column is the time of a message in steady state."""
    class Signatures(Sums):
        def __init__(self, visible: Sequence[int]) -> None:
            super().__init__()
            self.visible = visible

        def outcomes(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
            for task in tasks:
                latency = task.wanted.description.link.latency
                yield Outcome(task.number, task.wanted.document(
                    signature(latency, latency in self.visible)))

    study = plan(LATENCIES, ["logp"], metrics=None)
    table = measured(prepare(study), Signatures([]))
    assert [one.name for one in table.metrics] == [
        f"logp.{name}" for name in ("o_s", "o_r", "results.g", "L", "RTT")]
    assert [row["logp.results.g"] for row in table.rows] == [4, 8, 16]
    assert table.metric("logp.results.g").unit == "cycles"
    table = measured(prepare(study), Signatures([8]))
    assert [row["logp.g"] for row in table.rows] == [None, 8, None]


def test_the_layer_of_a_program_is_its_own() -> None:
    with pytest.raises(UserError, match="--layer via: mm runs over am"):
        prepare(plan(benches=["mm"], layer="via", metrics=None))


def test_points_that_are_refused_are_told_before_anything_runs() -> None:
    vary = {"via.window": "4,8,16", "via.send_slots": "16,32"}
    prepared = prepare(plan(vary, ["latency"], layer="via", metrics=None))
    one, left = prepared.remarks()
    assert one.startswith("a point is refused: via.window = 16: must be at most half of")
    assert left == "5 of 6 points are left" and len(prepared.tasks) == 5
    with pytest.raises(UserError, match="the point cannot be measured: via.window = 16"):
        prepare(plan({"via.window": "16"}, ["latency"], layer="via", metrics=None))
    several = prepare(plan({"nic.receive_ring": "4,5,6,7"}))
    assert several.remarks()[-1] == "1 of 4 points is left" and len(several.remarks()) == 4


def test_constraints_exclude_points() -> None:
    prepared = prepare(plan({**LATENCIES, "cpu.call": "6,12"},
                            constraints=["link.latency < cpu.call"]))
    assert [tuple(one.values()) for one in prepared.points] == [(4, 6), (4, 12), (8, 12)]
    assert prepared.excluded == 3 and prepared.remarks() == []
    with pytest.raises(UserError, match="the constraints leave none of 3 points"):
        prepare(plan(constraints=["link.latency > 99"]))


def test_points_of_one_build_come_together() -> None:
    prepared = prepare(plan({"link.latency": "4,8", "nic.mtu": "256,512"}))
    order = [task.wanted.description.nic.mtu for task in prepared.tasks]
    assert order == [256, 256, 512, 512] and prepared.builds == 2


def test_two_benchmarks_of_a_point_are_one_row() -> None:
    table = measured(prepare(plan(benches=["rtt", "overhead"])), Sums())
    assert len(table.rows) == 3 and len(prepare(plan(benches=["rtt", "mm"])).tasks) == 6


def columns(table: Table) -> list[list[str]]:
    return list(csv.reader(io.StringIO(table.csv().decode())))


@pytest.mark.parametrize(("name", "heading"), [
    ("link.latency", "link\nlatency"), ("rtt.RTT, 1 word", "rtt\nRTT, 1 word"), ("mine", "mine"),
    ("./my_bench/bench.py.last, 1", "bench\nlast, 1"), ("./b.py:Last.half.4", "b\nhalf.4")])
def test_headings_of_columns(name: str, heading: str) -> None:
    assert Column(name, "metric").heading == heading


def test_files_of_a_table() -> None:
    table = measured(prepare(plan({"link.bytes_per_cycle": "1/2,2", "link.latency": "4,8"})),
                  Sums(fails=[8]))
    lines = columns(table)
    assert lines[0] == ["link.bytes_per_cycle", "link.latency", "rtt", "error"]
    assert lines[1][1:] == ["4", "10.5", ""] and lines[2][2:] == ["", "at cycle 7: nothing goes"]
    parquet = pytest.importorskip("pyarrow.parquet")
    read_back = parquet.read_table(io.BytesIO(table.parquet()))
    assert read_back.column("rtt").to_pylist() == [10.5, None, 10.5, None]
    assert read_back.schema.field("link.latency").metadata == {b"unit": b"cycles",
                                                               b"kind": b"knob"}
    assert json.loads(read_back.schema.metadata[b"nicbed"])["study"]["benches"] == ["rtt"]
    assert [str(one) for one in read_back.schema.types] == ["string", "int64", "double", "string"]
    pytest.importorskip("pandas")
    assert list(table.frame().columns) == lines[0]
    assert table.frame().attrs["units"]["link.latency"] == "cycles"
    assert "<table" in table._repr_html_()


def test_parquet_has_each_value_as_it_is() -> None:
    pytest.importorskip("pyarrow")
    columns = {"bool": [True, None, False], "int64": [1 << 60, None, -3], "null": [None] * 3,
               "float64": [0.1, 2, None], "string": ["NA", 'a, "b"', None],
               "mixed": [1, "two", None]}
    names = tuple(Column(name, "metric") for name in columns)
    rows = tuple({name: values[row] for name, values in columns.items()} for row in range(3))
    table = Table(names, rows, {"config_hash": "", "study": {}, "versions": {}})
    read_back = pytest.importorskip("pyarrow.parquet").read_table(io.BytesIO(table.parquet()))
    assert read_back.to_pydict() == {**columns, "mixed": ["1", "two", None], "error": [None] * 3}


def test_the_command_loads_no_pandas() -> None:
    """It would take longer than all points of a sweep from the store."""
    code = ("import sys; from nicbed.testbench.sweeps import Column, Table; table = Table((Column("
            "'a', 'metric'),), ({'a': 1},), {'config_hash': '', 'study': {}, 'versions': {}}); "
            "table.parquet(); print('pyarrow' in sys.modules, 'pandas' in sys.modules)")
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout
    assert shown == b"True False\n"


@pytest.mark.parametrize(("vary", "name"), [
    ({"link.latency": "4,8"}, "_lines"), ({"nic.overflow": "push,drop"}, "_lines"),
    ({"link.latency": "4,8", "link.bytes_per_cycle": "1/2,2"}, "_heat"),
    ({"link.latency": "4,8", "cpu.call": "6,7", "nic.overflow": "push,drop"}, "_parallel")])
def test_plots_by_the_number_of_knobs(vary: Any, name: str) -> None:
    table = measured(prepare(plan(vary)), Sums())
    draw = drawing(table)
    assert draw.__name__ == name
    assert render(draw, table.document)[".png"][1:4] == b"PNG"
    second = pareto(table, "rtt", "rtt")
    assert render(second, table.document)[".svg"].startswith(b"<?xml")


def test_the_call_of_scripts() -> None:
    table = sweep(LATENCIES, ["rtt"], metrics=RTT, executor=Sums())
    assert [row["rtt"] for row in table.rows] == [10.5, 14.5, 22.5]
    assert table.plot().png[1:4] == b"PNG"
    with pytest.warns(UserWarning, match="1 of 4 points is left|must be a power of two"):
        sweep({"nic.receive_ring": "4,5,6,7"}, ["rtt"], metrics=RTT, executor=Sums())
    with pytest.raises(UserError, match="the table has no metric rtv; did you mean rtt"):
        pareto(table, "rtt", "rtv")
    with pytest.raises(UserError, match="there is nothing to draw"):
        sweep({"link.latency": "4"}, ["rtt"], metrics=RTT, executor=Sums()).plot()


def test_no_plot_of_nothing() -> None:
    assert drawing(measured(prepare(plan()), Sums(fails=[4, 8, 16]))) is None


def test_the_front() -> None:
    assert front([(3, 1), (1, 3), (2, 2), (2, 3), (3, 3), (1, 3)]) == [(1, 3), (2, 2), (3, 1)]


def test_a_study_file(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text('nic = "ideal"\nbench = ["rtt"]\nmethod = "lhs"\npoints = 5\nseed = 3\n'
                    'constraints = ["link.latency < 60"]\n[set]\n"cpu.call" = 9\n[vary.link]\n'
                    'latency = "4:64"\n[metrics]\nrtt = "rtt:truth.half"\n')
    found = read(file)
    assert len(found.points) == 5 and found.start.nic == "ideal" and found.title == "study"
    assert found.start.overrides == ("cpu.call=9",) and found.metrics[0].figure == "truth.half"
    assert read(file, nodes=4, overrides=("cpu.alu=2",)).start.overrides == (
        "cpu.call=9", "cpu.alu=2")
    file.write_text('bench = ["rtt"]\n[[points]]\n"link.latency" = 4\n'
                    '[[points]]\nlink.latency = 9\n')
    assert [dict(one) for one in read(file).points] == [{"link.latency": 4}, {"link.latency": 9}]


@pytest.mark.parametrize(("text", "said"), [
    ("bench = 3", "bench must be a list"),
    ("bnech = []", "a study has no bnech; did you mean bench"),
    ("bench = [", "not TOML"), ('bench = ["rtt"]', "method grid needs knobs that vary"),
    ("points = true", "points must be a whole number or a list"), (None, "no such file"),
    ("bench = [1]", "each of bench must be a text, not 1"),
    ("constraints = [1]", "each of constraints must be a text"),
    ("points = [1]", "each of points must be a table, not 1"),
    ("[metrics]\nrtt = 3", "each of metrics must be a text"),
    ('[set]\n"nic.mtu" = [512]', "study.toml: nic.mtu: \\[512\\] is no value, which is a number"),
    ('[set]\n"nic.mut" = 512', "study.toml: nic.mut: no knob is called nic.mut; did you mean")])
def test_a_wrong_study_file_is_one_line(tmp_path: Path, text: str | None, said: str) -> None:
    file = tmp_path / "study.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UserError, match=said):
        read(file)


class Jobs:
    """Jobs of all beds, done at once; a point may be made to fail, or to interrupt."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.latencies: list[int] = []
        self.failing: dict[int, BaseException] = {}
        monkeypatch.setattr(Testbed, "job", lambda bed, job, **_: self(job.description))

    def __call__(self, description: Any) -> Any:
        latency = description.link.latency
        if latency in self.failing:
            raise self.failing[latency]
        self.latencies.append(latency)
        return round_trips(latency)


def test_an_interrupted_study_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path
                                                   ) -> None:
    jobs, store = Jobs(monkeypatch), Store(tmp_path / "store")
    jobs.failing = {16: KeyboardInterrupt()}
    with pytest.raises(KeyboardInterrupt):
        measured(prepare(plan()), Local(1, store=store))
    assert jobs.latencies == [4, 8]
    jobs.failing = {}
    table = measured(prepare(plan()), Local(2, store=store))
    assert jobs.latencies == [4, 8, 16] and [row["rtt"] for row in table.rows] == [4, 8, 16]
    assert measured(prepare(plan()), Local(2, store=store)).document == table.document
    assert jobs.latencies == [4, 8, 16]


def test_the_limit_of_a_study_file_holds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    limits = []
    monkeypatch.setattr(Testbed, "job", lambda bed, *_, **__: (
        limits.append(bed.limit), round_trips(1))[1])
    monkeypatch.setenv("NICBED_STORE", "none")
    file = tmp_path / "study.toml"
    file.write_text('bench = ["rtt"]\nlimit = 900\n[vary]\n"link.latency" = [4]\n[metrics]\n'
                    'rtt = "rtt:results.words.1.rtt"\n')
    for limit in (None, 500):
        run_sweep(file, SweepOptions(seed=1), RunOptions(limit=limit, workers=1, out=tmp_path))
    assert limits == [900, 500]


def test_the_seed_of_the_command_stands_in_place_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text('bench = ["rtt"]\nmethod = "lhs"\npoints = 5\nseed = 3\n'
                    '[vary]\n"link.latency" = "4:64"\n')
    assert read(file, seed=None) == read(file) == read(file, seed=3) != read(file, seed=4)
    executor = Sums()
    run_sweep(file, SweepOptions(seed=4), RunOptions(out=tmp_path), executor)
    assert sorted(one.wanted.description.link.latency for one in executor.done) == sorted(
        one["link.latency"] for one in read(file, seed=4).points)


def test_a_failure_of_a_worker_is_a_row(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    jobs, store = Jobs(monkeypatch), Store(tmp_path / "store")
    jobs.failing = {8: UserError("the simulator gave no result", status=1)}
    table = measured(prepare(plan()), Local(2, store=store))
    assert [row["error"] for row in table.rows] == [None, "the simulator gave no result", None]
    assert len(store.entries()) == 2


def test_the_command_writes_and_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = SweepOptions(vary=["link.latency=4,8", "cpu.call=6,7"], benches="rtt",
                         constraints=["link.latency + cpu.call < 15"],
                         metrics=["rtt=rtt:results.words.1.rtt"], front=("rtt", "rtt"))
    run_sweep(None, asked, RunOptions(out=tmp_path), Sums(fails=[8]))
    out = capsys.readouterr().out
    assert "3 points" in out and "1 point is excluded by the constraints" in out
    assert "link.latency=8, cpu.call=6: at cycle 7: nothing goes" in out
    path = Path(out.splitlines()[-1])
    assert {one.suffix for one in tmp_path.glob(f"{path.stem}.*")} >= {".json", ".csv", ".png"}
    assert (tmp_path / f"{path.stem}-pareto.svg").exists()
    assert len(json.loads(path.read_text())["rows"]) == 3


def test_conflicts_are_told_before_anything_runs(tmp_path: Path,
                                                 capsys: pytest.CaptureFixture[str]) -> None:
    class Looking(Sums):
        told = ""

        def outcomes(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
            self.told = capsys.readouterr().err
            yield from super().outcomes(tasks)

    executor = Looking()
    asked = SweepOptions(vary=["nic.receive_ring=4,5"], benches="rtt",
                         metrics=["rtt=rtt:results.words.1.rtt"])
    run_sweep(None, asked, RunOptions(out=tmp_path), executor)
    assert executor.told.splitlines()[-1] == "nicbed: 1 of 2 points is left"


def test_the_command_on_the_target(tmp_path: Path) -> None:
    """Two threads, each with a simulator; the second time all is from the store."""
    arguments = ["sweep", "--vary", "link.latency=4,40", "--bench", "rtt", "--metric",
                 "rtt:RTT, 1 word", "--out", str(tmp_path)]
    runs = [nicbed(*arguments, NICBED_STORE=str(tmp_path / "store")) for _ in range(2)]
    assert [run.returncode for run in runs] == [0, 0], runs[0].stderr
    assert runs[0].stdout == runs[1].stdout
    rows = json.loads(Path(runs[0].stdout.splitlines()[-1]).read_text())["rows"]
    near, far = (row["rtt:RTT, 1 word"] for row in rows)
    assert far - near == pytest.approx(144, abs=2)


@pytest.mark.parametrize(("arguments", "said"), [
    ([], "sweep needs --vary"), (["--vary", "x"], "must be KNOB=VALUES"),
    (["--vary", "link.latency=4", "--vary", "link.latency=5"], "link.latency is varied twice"),
    (["nowhere.toml"], "nowhere.toml: no such file"),
    (["s.toml", "--vary", "a=1"], "a study's file says itself"),
    (["s.toml", "--points", "0"], "a study's file says itself"),
    (["--vary", "link.latency=4", "--metric", "a=rtt:x", "--metric", "a=rtt:y"],
     "--metric a=rtt:y: there are two metrics called a"),
    (["--vary", "link.latency=4", "--sim", "board"], "--sim board"),
    (["--vary", "link.latency=-4"], "the point cannot be measured: link.latency = -4")])
def test_mistakes_are_one_line(arguments: list[str], said: str) -> None:
    run = nicbed("sweep", *arguments)
    assert run.returncode == 2 and run.stdout == ""
    assert said in run.stderr and len(run.stderr.splitlines()) == 1
