"""The benchmarks over the functional model: complete documents, checks that hold, figures drawn."""

import asyncio
import json

import pytest
from nicbed.testbench import benches
from nicbed.testbench.benches.fields import plain
from nicbed.testbench.descriptions import load as descriptions
from nicbed.testbench.errors import UserError
from nicbed.testbench.results import document as files
from nicbed.testbench.results import plots
from nicbed.testbench.results.tables import checks, console

from tests.labs.model import ModelLab

SMALL = {
    "logp": {"issues": 256, "delays": ["0", "1/8", "1", "2"]},
    "rtt": {"words": [1, 4]},
    "bare": {"trips": 4},
    "overhead": {"words": [0, 1, 4], "waiting": [0, 1, 4]},
    "prtt": {"sizes": [64, 256, 1024]},
    "bulk": {"sizes": [4, 61, 64, 67, 1024, 4096, 16384], "stream_sizes": [4, 1024, 4096]},
    "pipelined": {"total": 16384, "sizes": [64, 1024, 16384], "most": 64},
    "exchange": {"sizes": [64, 4096], "bytes": 8192},
    "pairs": {"issues": 192},
    "one-to-many": {"issues": 192, "receivers": [1, 3]},
    "many-to-one": {"issues": 192, "senders": [1, 3]},
    "incast": {"senders": [1, 3], "sizes": [16, 256], "bytes": 4096, "loss": [0.0, 0.02]},
    "alltoall": {"nodes": [2, 4], "sizes": [16, 256], "bytes": 8192},
    "nics": {"sizes": [16, 256], "bytes": 4096},
    "latency": {"sizes": [4, 16, 64, 4096], "trips": 3},
    "bandwidth": {"sizes": [4, 64, 1024, 16384], "bytes": 65536},
}


def outcome(name: str, overrides: tuple[str, ...] = (), **changes):
    bench = benches.get(name)
    description = descriptions.load(overrides=overrides, nodes=bench.nodes)
    parameters = {**bench.module("am").parameters(description), **SMALL[name], **changes}
    found = asyncio.run(benches.run(ModelLab(description), name, "am", parameters))
    return bench.module("am"), files.build(name, "am", "model", description, parameters, found)


@pytest.mark.parametrize("name", SMALL)
def test_benchmark(name, capsys):
    module, document = outcome(name)
    text = files.text(document)
    assert {"results", "truth", "points", "checks"} <= set(document) and document["results"]
    assert plain(module.bench.results(document)) == document["results"]
    assert not [check for check in document["checks"] if not check["ok"]]
    if names := getattr(module, "FIGURES", None):
        assert tuple(one.name for one in module.headline(document)) == names
    out, said = console(), []
    for one in (document, json.loads(text)):
        for item in [*module.tables(one), *checks(one["checks"])]:
            out.print(item)
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert len(said[0].splitlines()) > 4
    figure = plots.render(module.draw, json.loads(text))
    assert figure[".png"].startswith(b"\x89PNG") and b"</svg>" in figure[".svg"]


def test_a_request_larger_than_the_buffers_has_one_buffer() -> None:
    """The rings take a quarter of this memory, so two of the larger one have no room."""
    overrides = ("memory.bytes=1048576",)
    _, document = outcome("pipelined", overrides, kinds=["store_async"], total=0,
                          sizes=[196608, 614400])
    assert {size: one["requests"] for size, one in document["points"]["store_async"].items()} == {
        "196608": 1, "614400": 1}
    assert not [check for check in document["checks"] if not check["ok"]]
    with pytest.raises(MemoryError, match="host memory is full: 1048576 bytes asked"):
        outcome("pipelined", overrides, kinds=["store_async"], total=0, sizes=[1048576])


def test_the_senders_of_incast_may_be_in_any_order():
    results = outcome("incast", senders=[2, 1])[1]["results"]
    assert results == outcome("incast", senders=[1, 2])[1]["results"]


def test_a_stream_needs_the_single_transfers_of_its_size():
    with pytest.raises(UserError, match="^bench bulk: .*: 100 is not among the sizes$"):
        outcome("bulk", stream_sizes=[100])


@pytest.mark.parametrize(("given", "count"), [(8192, 2), (65536, 16)])
def test_a_stream_of_bulk_has_the_bytes_that_are_asked_for(given, count):
    rows = outcome("bulk", stream_bytes=given)[1]["results"]["get"]["by_size"]
    assert [row["count"] for row in rows if row["size"] == 4096] == [count]


def test_names_of_figures_are_known_beforehand():
    """Those of so many; that they are the names is in :func:`test_benchmark`."""
    assert {name for name in SMALL if hasattr(benches.get(name).module("am"), "FIGURES")} == {
        "bare", "logp", "overhead", "pairs", "prtt"}


def test_no_benchmark_is_left_out():
    """Of those whose checks hold in plausible times. The model has no caches."""
    assert {name for name in benches.BENCHES.names()
            if "am" in benches.get(name).layers} == {*SMALL, "memory"}


def test_two_runs_give_the_same_bytes():
    assert files.text(outcome("rtt")[1]) == files.text(outcome("rtt")[1])


def test_every_benchmark_is_a_module_with_its_parts():
    for bench in map(benches.get, benches.BENCHES.names()):
        description = descriptions.load(nodes=bench.nodes)
        for module in map(bench.module, bench.layers):
            json.dumps(files.plain(module.parameters(description)))
            for part in ("measure", "evaluate", "tables", "draw", "headline"):
                assert callable(getattr(module, part))


def test_a_run_is_the_beginning_of_a_longer_one():
    from nicbed.testbench.benches.am.logp import measure_curve

    lab = ModelLab(descriptions.load())
    whole = asyncio.run(measure_curve(lab, "am", 200, 0))["issued"]
    for count in (1, 7, 76, 120):
        assert asyncio.run(measure_curve(lab, "am", count, 0))["issued"] == whole[:count]


def test_a_slower_cpu_moves_the_overheads_and_not_the_flight():
    fast = outcome("rtt")[1]["truth"]["words"]["1"]["legs"]
    slow = outcome("rtt", ("cpu.clock_mhz=100",))[1]["truth"]["words"]["1"]["legs"]
    for leg in ("o_s_request", "o_s_reply", "o_r_request", "o_r_reply"):
        assert 1.8 < slow[leg] / fast[leg] < 2.1
    assert abs(slow["flight_out"] - fast["flight_out"]) < 2


def test_a_longer_link_moves_the_flight_alone():
    near = outcome("rtt")[1]["truth"]["words"]["1"]["legs"]
    far = outcome("rtt", ("link.latency=24",))[1]["truth"]["words"]["1"]["legs"]
    assert abs(far["flight_out"] - near["flight_out"] - 40) < 0.5
    assert far["o_s_request"] == pytest.approx(near["o_s_request"], abs=0.01)


def test_g_is_the_senders_own_when_it_is_the_bottleneck():
    document = outcome("logp", ("cpu.clock_mhz=20",))[1]
    assert document["results"]["bound"]["block"] == "host"
    assert not document["results"]["g_visible"]
    assert document["results"]["g"] >= 0.98 * (document["truth"]["o_s"]
                                               + document["truth"]["o_r"])
    assert all(check["ok"] for check in document["checks"])


def test_a_small_window_bounds_g():
    document = outcome("logp", ("link.latency=400", "am.request_window=4"))[1]
    assert document["results"]["bound"]["block"] == "window"
    assert document["results"]["g_visible"]
    rtt = document["results"]["rtt"]
    assert document["results"]["g"] == pytest.approx(rtt / 4, rel=0.1)


def test_gaps_are_drawn_where_they_were_measured():
    from matplotlib.figure import Figure
    from nicbed.testbench.benches.common.gap_bound import GapBound
    from nicbed.testbench.benches.common.gap_report import GapResults, draw_gaps, gap_rows

    results = GapResults(
        gap={"1": 66.0, "3": 198.0}, ratio={"1": 1.0, "3": 3.0}, predicted_gap={},
        predicted_stage={}, share={},
        bound={count: GapBound("link", 0.5, []) for count in ("1", "3")})
    axes = Figure().add_subplot()
    draw_gaps(results, axes, lambda count: f"at {count}", 250, 66)
    (line,) = axes.lines
    assert line.get_xydata().tolist() == [[1, 66], [3, 198]]
    assert [(text.get_text(), text.xy) for text in axes.texts] == [("at 1", (1, 66)),
                                                                   ("at 3", (3, 198))]
    assert axes.get_ylim() == (0, 250) and list(axes.get_xticks()) == [1, 3]
    assert gap_rows(results, 66, lambda count: [f"of {count}"]) == [
        ("1", "66", "1.000", "1.000", "of 1", "link 50 %"),
        ("3", "198", "3.000", "3.000", "of 3", "link 50 %")]
