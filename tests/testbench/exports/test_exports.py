"""LogGP for other simulators: the figures, the formats, what is refused."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from nicbed.testbench.errors import UserError
from nicbed.testbench.exports import Parameters, parameters, written

CONFIG = {"fabric": {"nodes": 5}}
FOUND = Parameters(2e-6, 1e-6, 3e-6, 5e-6, 4e-9, 5, "nicbed, am: logp a, bulk b")


def result(folder: Path, benchmark: str, results: dict[str, Any], name: str = "", **more: Any
           ) -> Path:
    path = folder / f"{name or benchmark}.json"
    path.write_text(json.dumps({"benchmark": benchmark, "layer": "am", "clock_mhz": 50,
                                "config": CONFIG, "config_hash": "0123456789ab",
                                "results": results, **more}))
    return path


def logp(folder: Path, **more: Any) -> Path:
    return result(folder, "logp", {"L": 100, "o_s": 50, "o_r": 150, "g": 250}, **more)


def bulk(folder: Path, **more: Any) -> Path:
    return result(folder, "bulk", {"store_async": {"G": 0.2}}, **more)


def test_cycles_become_seconds(tmp_path: Path) -> None:
    found = parameters([bulk(tmp_path), logp(tmp_path)])
    assert (found.latency, found.send, found.receive, found.gap, found.byte_gap) == pytest.approx(
        (2e-6, 1e-6, 3e-6, 5e-6, 4e-9))
    assert found.nodes == 5 and "logp 0123456789, bulk 0123456789" in found.source


def test_bandwidth_gives_g_a_byte(tmp_path: Path) -> None:
    found = parameters([logp(tmp_path), result(tmp_path, "bandwidth", {"best": 4})])
    assert found.byte_gap == pytest.approx(0.25 / 50e6)


def test_other_results_are_passed_over(tmp_path: Path) -> None:
    """And each figure is its own: every one of these is another."""
    files = [result(tmp_path, "rtt", {}, "a"), logp(tmp_path), result(tmp_path, "mm", {}, "b"),
             bulk(tmp_path)]
    assert parameters(files) == parameters([logp(tmp_path), bulk(tmp_path)])


def test_a_platform_says_where_it_is_from() -> None:
    text = written("simgrid", FOUND)
    assert text.startswith('<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM')
    assert "<!-- nicbed, am: logp a, bulk b -->" in text and "\n  <cluster " in text


def test_options_of_loggopsim() -> None:
    comment, options = written("loggopsim", FOUND).splitlines()
    assert comment.startswith("# nicbed, am: logp a, bulk b")
    assert options == "-L 2000 -o 2000 -g 5000 -G 4 -O 0"


def test_a_platform_of_simgrid() -> None:
    platform = ElementTree.fromstring(written("simgrid", FOUND))
    settings = {one.get("id"): one.get("value") for one in platform.iter("prop")}
    assert settings["smpi/os"] == "0:1e-06:0" and settings["smpi/or"] == "0:3e-06:0"
    [cluster] = platform.iter("cluster")
    assert (cluster.get("radical"), cluster.get("lat"), cluster.get("bw")) == (
        "0-4", "1e-06s", "250000000Bps")


@pytest.mark.parametrize("make, told", [
    (lambda d: [logp(d)], "bulk is missing"),
    (lambda d: [bulk(d)], "logp is missing"),
    (lambda d: [logp(d), logp(d, name="b"), bulk(d)], "takes one result of logp"),
    (lambda d: [logp(d), bulk(d, config={})], "of different descriptions"),
    (lambda d: [logp(d), bulk(d, layer="via")], "of different layers"),
    (lambda d: [d / "none.json"], "cannot be read"),
])
def test_results_that_do_not_fit_are_refused(tmp_path: Path, make: Any, told: str) -> None:
    with pytest.raises(UserError, match=told):
        parameters(make(tmp_path))


def test_what_is_no_result_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[]")
    with pytest.raises(UserError, match="is no result file"):
        parameters([tmp_path / "a.json"])
