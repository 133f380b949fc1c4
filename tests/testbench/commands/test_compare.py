"""`nicbed compare`: several descriptions side by side, over the functional model."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace

import pytest
from nicbed.testbench import benches
from nicbed.testbench.benches.common.headline import Headline, Series
from nicbed.testbench.commands import compare
from nicbed.testbench.commands.options import RunOptions
from nicbed.testbench.errors import UserError
from nicbed.testbench.results import comparison
from nicbed.testbench.testbed.bed import Testbed
from nicbed.testbench.testbed.result import Result

from tests.labs.model import ModelLab
from tests.testbench.benches.test_benches import SMALL
from tests.testbench.test_cli import nicbed


def measure(bed, wanted, *, label):
    """As `Testbed.measure`, on the model."""
    wanted = replace(wanted, parameters={**wanted.parameters, **SMALL[wanted.name]})
    found = asyncio.run(benches.run(ModelLab(wanted.description), wanted.name, wanted.layer,
                                    wanted.parameters))
    return Result(wanted.document(found), wanted.presentation)


@pytest.fixture
def compared(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(Testbed, "measure", measure)
    monkeypatch.setenv("COLUMNS", "160")

    def run(*nics: str, benches: str = "rtt", layer: str | None = "am", axes: Sequence[str] = (),
            **options):
        compare.run_compare(nics, benches, RunOptions(layer=layer, out=tmp_path, **options),
                            axes=axes)
        text = capsys.readouterr().out
        path = text.splitlines()[-1]
        return json.loads(open(path).read()), text, sorted(one.name for one in tmp_path.iterdir())

    return run


def test_side_by_side(compared, tmp_path):
    far = tmp_path / "far.toml"
    far.write_text("[link]\nlatency = 40\n[cpu]\ncall = 12\n")
    document, text, files_ = compared("default", str(far), benches="rtt,overhead")
    assert document["descriptions"] == ["default", "far"]
    assert document["differences"] == {"link.latency": [4, 40], "cpu.call": [6, 12]}
    assert ["link.latency", "4", "40"] in [line.split() for line in text.splitlines()]
    runs = document["documents"]["rtt"]
    assert list(runs) == ["default", "far"] and runs["far"]["config"]["link"]["latency"] == 40
    near, far_ = (runs[name]["results"]["words"]["1"]["rtt"] for name in ("default", "far"))
    line = next(line for line in text.splitlines() if "RTT, 1 word" in line)
    assert f"{far_ / near:.2f}" in line and f"{near:,.2f}".rstrip("0").rstrip(".") in line
    stem = f"compare-rtt-overhead-am-{document['config_hash'][:10]}"
    assert {f"{stem}.json", f"{stem}-rtt.png", f"{stem}-rtt.svg", f"{stem}-overhead.png"} <= set(
        files_)


def test_the_same_again_is_the_same_file(compared):
    first, _, names = compared("default", "ideal")
    second, _, again = compared("default", "ideal")
    assert first == second and names == again


def test_two_clocks_are_told_in_microseconds(compared, tmp_path):
    fast = tmp_path / "fast.toml"
    fast.write_text("[nic]\nclock_mhz = 132\n")
    assert "µs" not in compared("default", "ideal")[1]
    document, text, _ = compared("default", str(fast))
    runs = document["documents"]["rtt"]
    line = next(line for line in text.splitlines() if "µs" in line).split()
    for name, clock in (("default", 66), ("fast", 132)):
        assert f"{runs[name]['results']['words']['1']['rtt'] / clock:.3f}" in line


def test_equal_descriptions_are_said_to_be(compared, tmp_path):
    same = tmp_path / "same.toml"
    same.write_text("")
    assert "do not differ in any knob" in compared("default", str(same))[1]


def test_failed_checks_name_their_description(compared, monkeypatch):
    def failing(bed, wanted, **options):
        result = measure(bed, wanted, **options)
        if wanted.description.memory.latency == 0:
            result.checks[0]["ok"] = False
        return result

    monkeypatch.setattr(Testbed, "measure", failing)
    text = compared("default", "ideal")[1]
    lines = [line for line in text.splitlines() if "check failed" in line]
    assert len(lines) == 1 and lines[0].startswith("rtt on ideal: check failed")


def test_names_of_files_with_one_name(tmp_path):
    places = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        places.append(tmp_path / folder / "nic.toml")
        places[-1].write_text("")
    assert compare.named([str(place) for place in places]) == [
        str(place.with_suffix("")) for place in places]
    with pytest.raises(UserError, match="is given twice"):
        compare.named([str(places[0]), str(tmp_path / "a/../a/nic.toml")])


@pytest.mark.parametrize("name", benches.BENCHES.names())
def test_every_benchmark_has_figures_to_compare(name):
    bench = benches.get(name)
    for layer in bench.layers:
        assert callable(bench.module(layer).headline)


@pytest.mark.parametrize(("arguments", "parts"), [
    ([], ["at least two NIC descriptions"]),
    (["default"], ["at least two", "not only default"]),
    (["default", "default"], ["default: is given twice"]),
    (["default", "idael"], ["idael: no such NIC description", "ideal"]),
    (["default", "ideal", "--layer", "an"], ["no layer is called an"]),
    (["default", "ideal", "--sim", "vcs"], ["no simulator is called vcs"]),
    (["default", "ideal", "--set", "link.latency=x"], ["link.latency", "'x'"]),
    (["default", "ideal", "--layer", "via"], ["rtt does not exist for layer via"]),
    (["default", "ideal", "--nodes", "1"], ["fabric.nodes = 1"]),
])
def test_mistakes_are_one_line(arguments, parts):
    run = nicbed("compare", *arguments, "--bench", "rtt")
    assert run.returncode == 2 and run.stdout == ""
    assert len(run.stderr.splitlines()) == 1 and run.stderr.startswith("nicbed: ")
    for part in parts:
        assert part in run.stderr


@pytest.mark.parametrize(("arguments", "parts"), [
    (["--app", "is,is"], ["--app is,is: is is given twice"]),
    (["--app", "mm"], ["--app mm: is no NAS kernel"]),
    (["--app", "iz"], ["no program is called iz; did you mean is"]),
    (["--app", ","], ["must name at least one kernel"]),
    (["--app", "is", "--bench", "rtt"], ["--app: goes without --bench and --axis"]),
    (["--app", "is", "--layer", "am"], ["--layer am: is runs over mpi"]),
    (["--app", "sp", "--nodes", "2"], ["SP of class S on 2 processes: must be a square"]),
    (["--app", "cg", "--class", "Q"], ["--class Q: must be S or W or A"]),
    (["--class", "S"], ["--class S: goes with --app alone"]),
])
def test_mistakes_with_kernels_are_one_line(arguments, parts):
    run = nicbed("compare", *arguments)
    assert run.returncode == 2 and run.stdout == ""
    assert len(run.stderr.splitlines()) == 1 and run.stderr.startswith("nicbed: ")
    for part in parts:
        assert part in run.stderr


@pytest.mark.full
def test_kernels_on_the_target(tmp_path):
    run = subprocess.run([sys.executable, "-m", "nicbed.testbench.cli", "compare", "default",
                          "via-kernel", "--app", "mg", "--out", str(tmp_path)],
                         capture_output=True, text=True, timeout=1200)
    assert run.returncode == 0, run.stderr
    found = json.loads(next(tmp_path.glob("*.json")).read_text())["documents"]["worth"]
    for one in found.values():
        assert all(check["ok"] for check in one["checks"]), one["checks"]
        assert all(one["results"]["kernels"]["mg"][name]["worth"] > 0 for name in "ogL")
    costs = {name: one["results"]["costs"]["o"] for name, one in found.items()}
    assert costs["via-kernel"] > 2 * costs["default"]


@pytest.mark.parametrize(("text", "said"), [
    ("rtt,rtt", "rtt is given twice"), (" ,", "at least one benchmark"),
    ("rtt,lgop", "no benchmark is called lgop; did you mean logp")])
def test_bad_lists_of_benchmarks(text, said):
    with pytest.raises(UserError, match=said):
        compare.chosen_benches(text)


class Told:
    """A benchmark that tells what it was made with."""

    def __init__(self, **values):
        self.values = values

    def headline(self, document):
        return [Headline(name, value) for name, value in document["figures"].items()]


def test_a_figure_that_one_run_does_not_show():
    document = {"layer": "am", "documents": {"x": {
        "a": {"figures": {"o": 4.0, "g": None}, "clock_mhz": 66},
        "b": {"figures": {"o": 6.0, "h": 1.0}, "clock_mhz": 66}}}}
    made = comparison.figures_table(document, "x", Told())
    cells = [list(column.cells) for column in made.columns]
    assert cells == [["o", "g", "h"], ["cycles"] * 3, ["4", "-", "-"], ["6", "-", "1"],
                     ["1.50", "-", "-"]]


def test_lines_and_bars_are_drawn():
    from nicbed.testbench.results import plots

    bench = benches.get("rtt")
    told = Told()
    document = {"layer": "am", "documents": {"rtt": {
        "a": {"figures": {"o": 4.0, "g": 5.0}}, "b": {"figures": {"o": 6.0, "g": None}}}}}
    bars = plots.render(comparison.drawing(bench, told), document)[".svg"]
    told.series = lambda document: Series("bytes", "cycles", [(4, 2.0), (1024, 50.0)], True, True)
    lines = plots.render(comparison.drawing(bench, told), document)[".svg"]
    assert b"</svg>" in bars and b"</svg>" in lines and bars != lines


def test_equal_lines_do_not_hide_each_other():
    import io

    from matplotlib.colors import to_rgb
    from matplotlib.image import imread
    from nicbed.testbench.results import plots

    told = Told()
    told.series = lambda document: Series("n", "y", [(1, 2.0), (2, 8.0), (4, 50.0)], log=True)
    document = {"layer": "via", "documents": {"latency": dict.fromkeys("abc")}}
    png = plots.render(comparison.drawing(benches.get("latency"), told), document)[".png"]
    picture = imread(io.BytesIO(png))[:, 650:, :3]  # the legend is on the left
    for index in range(3):
        off = abs(picture - to_rgb(plots.PALETTE[index])).max(axis=2)
        assert (off < 0.02).sum() > 100, f"line {index} is hidden"
