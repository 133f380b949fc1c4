"""Benchmarks on the target: what is measured is what the trace says, and moves as it must."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from nicbed.layouts.description import Description
from nicbed.testbench.backends.session import run_job
from nicbed.testbench.benches import get
from nicbed.testbench.descriptions import load as descriptions
from nicbed.testbench.results import document as files

SMALL = {"issues": 256, "words": 1, "delays": ["0", "1/16", "1/4", "1", "3/2", "2"]}
POLL = 2.0
"""Cycles of a check that finds nothing, at most, with the default costs."""


def measured(name: str, description: Description, sim: str = "verilator", **parameters):
    chosen = {**get(name).module("am").parameters(description), **parameters}
    outcome = run_job(description, sim, function="nicbed.testbench.benches:run",
                      arguments={"name": name, "layer": "am", "parameters": chosen})
    return files.build(name, "am", sim, description, chosen, outcome)


@pytest.fixture(scope="module")
def logp():
    return measured("logp", descriptions.load(), **SMALL)


def test_every_check_holds(logp):
    assert not [check for check in logp["checks"] if not check["ok"]]


def test_estimates_agree_with_the_truth(logp):
    results, truth = logp["results"], logp["truth"]
    for name in ("o_s", "g"):
        assert results[name] == pytest.approx(truth[name], rel=0.02)
    for row in logp["comparison"]:
        named = sum(bias["cycles"] for bias in row["bias"])
        assert row["estimate"] == pytest.approx(row["truth"] + named, abs=0.02 * row["truth"])
    # Each leg is rounded to a millionth of a cycle.
    assert results["rtt"] == pytest.approx(sum(truth["legs"].values()), abs=1e-5)


def test_two_runs_are_the_same_bytes(logp):
    assert files.text(measured("logp", descriptions.load(), **SMALL)) == files.text(logp)


class Forced:
    """A lab whose runs have some options as they are given here, whatever a benchmark asks for."""

    def __init__(self, lab, **options):
        self._lab, self._options = lab, options

    def __getattr__(self, name):
        return getattr(self._lab, name)

    async def run(self, programs, **options):
        return await self._lab.run(programs, **{**options, **self._options})


async def measure_forced(lab, parameters, options):
    """The raw data of logp, measured with ``options`` forced upon each run."""
    return await get("logp").module("am").measure(Forced(lab, **options), "am", parameters,
                                            lambda *_: None)


def forced_raw(**options):
    description = descriptions.load()
    parameters = {**get("logp").module("am").parameters(description), **SMALL}
    return run_job(description, function=f"{__name__}:measure_forced",
                   arguments={"parameters": parameters, "options": options})


def forced(**options):
    raw = forced_raw(**options)
    return raw, get("logp").module("am").evaluate(raw, descriptions.load(), {})


def test_skipping_changes_no_byte():
    (raw, found), (raw_without, without) = forced(skip=True), forced(skip=False)
    assert raw == raw_without
    assert files.plain(found) == files.plain(without)


def without_events(raw):
    if isinstance(raw, dict):
        return {key: without_events(value) for key, value in raw.items() if key != "events"}
    return [without_events(value) for value in raw] if isinstance(raw, list) else raw


def test_tracing_changes_no_point():
    (traced, _), untraced = forced(), forced_raw(trace=False)
    assert traced["curves"][0]["events"] and not untraced["curves"][0]["events"]
    assert without_events(traced) == without_events(untraced)


def test_a_longer_link_moves_the_flight_by_exactly_that(logp):
    far = measured("logp", descriptions.load(overrides=["link.latency=24"]), **SMALL)
    for leg in ("flight_out", "flight_back"):  # two links, 20 cycles each
        assert far["truth"]["legs"][leg] - logp["truth"]["legs"][leg] == 40
    assert far["truth"]["L"] - logp["truth"]["L"] == 40
    assert far["results"]["L"] - logp["results"]["L"] == pytest.approx(40, abs=POLL / 2)
    for name in ("o_s", "o_r"):
        assert far["results"][name] == pytest.approx(logp["results"][name], abs=0.01)


def test_a_slower_cpu_leaves_the_wire_alone(logp):
    slow = measured("logp", descriptions.load(overrides=["cpu.clock_mhz=100"]), **SMALL)
    assert slow["truth"]["hardware"] == logp["truth"]["hardware"]
    assert 1.6 < slow["truth"]["o_s"] / logp["truth"]["o_s"] < 2.1
    assert slow["truth"]["o_r"] > 1.3 * logp["truth"]["o_r"]  # cache misses stay what they are


@pytest.mark.parametrize("overrides", [
    ["link.bytes_per_cycle=1/7"],
    ["am.request_window=1", "am.reply_window=2"],
])
def test_every_check_holds_where_the_check_in_the_stream_costs_more(overrides):
    document = measured("logp", descriptions.load(overrides=overrides), **SMALL)
    assert not [check for check in document["checks"] if not check["ok"]]
    assert document["truth"]["o_s_check"] < POLL


def test_a_run_is_the_beginning_of_a_longer_one(logp):
    whole = next(run for run in logp["points"]["curves"] if run["delay"] == 0)
    for count in (5, 75, 100):
        alone = measured("logp", descriptions.load(), **{**SMALL, "issues": count})
        curve = next(run for run in alone["points"]["curves"] if run["delay"] == 0)
        assert curve["issued"] == whole["issued"][:count]


@pytest.mark.parametrize("name", ["rtt", "overhead", "prtt"])
def test_benchmark(name):
    document = measured(name, descriptions.load())
    assert not [check for check in document["checks"] if not check["ok"]]


@pytest.mark.full
@pytest.mark.parametrize("name", ["bulk", "pipelined", "exchange", "pairs", "one-to-many",
                                  "many-to-one"])
def test_large_benchmark(name):
    document = measured(name, descriptions.load(nodes=max(2, get(name).nodes)))
    assert not [check for check in document["checks"] if not check["ok"]]


@pytest.mark.full
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed")
def test_icarus_gives_the_same(logp):
    small = {**SMALL, "issues": 100, "delays": ["0", "2"]}
    one, other = (measured("logp", descriptions.load(), sim, **small)
                  for sim in ("verilator", "icarus"))
    for part in ("results", "truth", "points"):
        assert files.text(one[part]) == files.text(other[part])


def nicbed(*arguments: str, **options):
    return subprocess.Popen([sys.executable, "-m", "nicbed.testbench.cli", *arguments],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def test_the_last_line_is_the_result_files_path(tmp_path):
    run = nicbed("bench", "rtt", "--out", str(tmp_path / "new"), "--breakdown")
    out, err = run.communicate(timeout=300)
    assert run.returncode == 0, err
    path = Path(out.splitlines()[-1])
    document = json.loads(path.read_text())
    assert document["benchmark"] == "rtt" and document["unit"] == "cycles"
    assert "Mean life of a request" in out and "\x1b" not in out
    assert {one.suffix for one in path.parent.iterdir()} == {".json", ".png", ".svg"}


def test_an_interrupt_leaves_nothing(tmp_path):
    hang = tmp_path / "hang.py"
    hang.write_text("async def program(node):\n"
                    "    while True:\n        await node.port.delay(1)\n"
                    "        await node.port.flush()\n")
    run = nicbed("run", str(hang), "--out", str(tmp_path / "out"), start_new_session=True)
    time.sleep(4)
    os.kill(run.pid, signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert (run.returncode, out, err) == (130, "", "nicbed: interrupted\n")
    assert not (tmp_path / "out").exists()


def test_a_users_experiment(tmp_path):
    file = tmp_path / "ping.py"
    file.write_text("""
from nicbed.host.am import Gam

arguments = ["1"]

async def program(node):
    answers = []
    am = Gam(node, [lambda am, source, word: am.reply(1, word + 1),
                    lambda am, source, word: answers.append(word)])
    await am.enable()
    if node.number == 0:
        for count in range(int(arguments[0])):
            await am.request(1, 0, count)
            await am.wait(lambda: len(answers) > count)
        print("asked", len(answers))
    await am.disable()
    return answers
""")
    run = nicbed("run", str(file), "--out", str(tmp_path), "--", "3")
    out, err = run.communicate(timeout=300)
    assert run.returncode == 0, err
    assert "asked 3" in out
    document = json.loads(Path(out.splitlines()[-1]).read_text())
    assert document["results"]["nodes"] == [[1, 2, 3], []]
    file.write_text("async def program(node):\n    raise ValueError('oh no')\n")
    run = nicbed("run", str(file), "--out", str(tmp_path))
    out, err = run.communicate(timeout=300)
    assert (run.returncode, out, err) == (1, "", "nicbed: ping.py:2: ValueError: oh no\n")


def test_a_program_that_never_ends_is_diagnosed(tmp_path):
    file = tmp_path / "wait.py"
    file.write_text("""
from nicbed.host.am import Gam

async def measure(lab):
    async def program(node):
        am = Gam(node)
        await am.enable()
        await am.wait(lambda: False)
    await lab.run([program, program], limit=50_000)
""")
    run = nicbed("run", str(file), "--out", str(tmp_path / "out"))
    out, err = run.communicate(timeout=300)
    assert run.returncode == 1 and out == "" and len(err.splitlines()) == 1
    for part in ("cycle 50000", "node 0 waits for", "node 1 waits for", "since cycle"):
        assert part in err
