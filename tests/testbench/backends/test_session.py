"""From a job to its result: back ends agree, options change no cycle, failures are one line."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from nicbed.layouts.description import Description, Fabric, Link, Memory
from nicbed.rtl.target import Target
from nicbed.testbench.backends.job import Job
from nicbed.testbench.backends.session import RunError, perform, run_job
from nicbed.testbench.simulators import cache, simulator
from nicbed.testbench.simulators.verilog import rtlil

from tests.labs.rows import more

ROOT = Path(__file__).parents[3]
TOY = "tests.models.toy_target:make"
DEFAULT = Description()


def toy(sim="verilator", function="tests.programs.toy_jobs:delays", **arguments):
    return perform(Job(Description(), sim, function=function, arguments=arguments, target=TOY))


def exchanges(sim="verilator", description=DEFAULT, **arguments):
    return run_job(description, sim, function="tests.programs.target_jobs:exchanges",
                   arguments=arguments)


@pytest.fixture(scope="module")
def reference():
    return exchanges(requests=12, trace=True)[0]


def test_toy_agrees_on_both_simulators(icarus):
    assert toy(count=50, trace=True, runs=2) == toy("icarus", count=50, trace=True, runs=2)


def test_runs_of_one_simulator_are_the_same(reference):
    assert exchanges(requests=12, trace=True, runs=3) == [reference] * 3


def test_trace_changes_no_cycle(reference):
    assert exchanges(requests=12)[0] == {**reference, "events": []}


def test_skipping_changes_nothing(reference):
    assert exchanges(requests=12, trace=True, skip=False)[0] == reference


def test_skipping_changes_nothing_for_slow_programs():
    one = exchanges(requests=4, step=3000, trace=True)[0]
    assert one["cycles"] > 9000
    assert exchanges(requests=4, step=3000, trace=True, skip=False)[0] == one


def test_icarus_gives_the_same(reference, icarus):
    assert exchanges("icarus", requests=12, trace=True)[0] == reference


@pytest.mark.full
def test_icarus_with_the_boards_memory_gives_the_same(icarus):
    small = Description(memory=Memory(bytes=1 << 16), nic={"receive_ring": 16})
    one = exchanges(description=small, requests=6, trace=True, runs=2)
    assert exchanges("icarus", small, requests=6, trace=True, runs=2) == one


def test_settings_need_no_rebuild_and_equal_a_description(reference):
    run = exchanges(requests=12, trace=True, settings={"link.latency": 24, "cpu.load": 5})[0]
    assert run["cycles"] > reference["cycles"]
    assert simulator.structure(Description(link=Link(latency=24))) == \
        simulator.structure(Description())
    table = Description().model_dump()
    table["link"]["latency"], table["cpu"]["load"] = 24, 5
    assert exchanges(description=Description.model_validate(table), requests=12,
                     trace=True)[0] == run


@pytest.mark.parametrize("settings, text", [
    ({"fabric.nodes": 4}, "fabric.nodes is structure"),
    ({"link.speed": 4}, "no knob is called link.speed"),
    ({"link.latency": -1}, "link.latency"),
])
def test_bad_settings(settings, text):
    with pytest.raises(RunError, match=text) as caught:
        exchanges(settings=settings)
    assert "\n" not in str(caught.value)


def test_limit_ends_with_a_diagnosis():
    with pytest.raises(RunError, match="at cycle 500, the limit.*node 0.*since cycle") as caught:
        exchanges(limit=500)
    assert caught.value.kind == "Stuck" and "\n" not in str(caught.value)


def test_the_jobs_limit_is_that_of_runs_without_their_own():
    def waits(**options):
        return run_job(DEFAULT, function="tests.programs.target_jobs:exchanges", limit=500,
                       arguments=options)
    with pytest.raises(RunError, match=r"at cycle 500, the limit \(--limit raises it"):
        waits()
    assert waits(limit=100_000, requests=1)


def test_exception_in_a_program_is_one_line(tmp_path):
    with pytest.raises(RunError, match="ZeroDivisionError: .*program of node 1 at cycle 7") as one:
        toy(function=f"{ROOT / 'tests/programs/toy_jobs.py'}:failing")
    assert "toy_jobs.py" in one.value.details and "\n" not in str(one.value)


def test_what_an_attention_answers_or_raises():
    """Its truth counts, and what it raises ends the run, not the simulator."""
    found, raised = run_job(DEFAULT, function="tests.programs.target_jobs:answers")
    assert len(found) == 4 and found == [found[0]] * 4
    assert raised == ["integer division or modulo by zero (20)", "asked for its truth (20)"]


def test_what_serving_a_port_gives_or_raises():
    """What it raises ends the run, not the simulator, and so does what is no number."""
    found, raised = run_job(DEFAULT, function="tests.programs.target_jobs:served")
    assert len(found) == 3 and found == [found[0]] * 3
    assert raised == ["integer division or modulo by zero (20)",
                      "'str' object cannot be interpreted as an integer (20)"]


def test_progress_is_told_now_and_then():
    cycles, (end, often) = run_job(DEFAULT, function="tests.programs.target_jobs:reported")
    assert cycles == sorted(cycles) and cycles[-1] <= end
    assert 5 <= len(cycles) <= 8 and max(
        later - one for one, later in zip(cycles, cycles[1:], strict=False)) <= 4 * often


def test_a_crash_of_the_simulator_is_one_line():
    with pytest.raises(RunError, match="no result: it was killed by SIGKILL") as caught:
        toy(function="tests.programs.toy_jobs:crashing")
    assert caught.value.kind == "Crash"


def test_a_job_on_a_full_disk_ends(monkeypatch, capsys):
    """What it raises when it cannot even write its log would have the simulator go on. The user
    reads one line."""
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("no end after 60 s"))
    signal.alarm(60)
    try:
        with pytest.raises(RunError, match="no result: it ended with status 1"):
            toy(function="tests.programs.toy_jobs:full")
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    usage = shutil.disk_usage("/tmp")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=0))
    with pytest.raises(RunError, match=r"^the disk of .* is full: TMPDIR=FOLDER chooses another "):
        toy(function="tests.programs.toy_jobs:full")
    assert not capsys.readouterr().err


def test_an_unanswered_attention_ends_the_run():
    with pytest.raises(RunError, match="attention at cycle 0 was not answered"):
        toy(function="tests.programs.toy_jobs:silent")


def test_what_a_function_prints_and_reports_comes_back():
    printed, reported = [], []
    perform(Job(Description(), function="tests.programs.toy_jobs:talking", target=TOY),
            output=printed.append,
            progress=lambda *report: reported.append(report))
    assert "".join(printed) == "half way\n"
    assert ("measuring", 1, 2) in reported


def test_what_a_function_writes_to_standard_error_comes_there(capsys):
    toy(function="tests.programs.toy_jobs:complaining")
    assert capsys.readouterr() == ("", "a complaint\n")


@pytest.mark.parametrize("reads, read", [(True, "given\n"), (False, "")])
def test_a_function_has_its_callers_folder_and_its_input_if_it_reads(tmp_path, monkeypatch, reads,
                                                                     read):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").write_text("the caller's")
    (tmp_path / "given").write_text("given\n")
    with open("given") as given, _as_standard_input(given):
        found = perform(Job(Description(), function="tests.programs.toy_jobs:copying", target=TOY,
                            arguments={"source": "in", "to": "out"}, reads=reads))
        assert (found, given.read()) == (read, "" if reads else "given\n")
    assert (tmp_path / "out").read_text() == "the caller's"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["given", "in", "out"]


@contextmanager
def _as_standard_input(file):
    before = os.dup(0)
    os.dup2(file.fileno(), 0)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)


def test_a_function_runs_where_its_callers_folder_is_gone(tmp_path, monkeypatch):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert toy(count=2)


def test_no_process_survives_its_parent(tmp_path):
    mark = tmp_path / "pid"
    # A shell's background jobs begin with SIGINT ignored.
    script = ("import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
              f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
              "from nicbed.layouts.description import Description\n"
              "from nicbed.testbench.backends.job import Job\n"
              "from nicbed.testbench.backends.session import perform\n"
              "perform(Job(Description(), function='tests.programs.toy_jobs:endless', "
              f"target={TOY!r}, arguments={{'mark': {str(mark)!r}}}))")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        mark.unlink(missing_ok=True)
        parent = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
        limit = time.monotonic() + 60
        while not (mark.exists() and mark.read_text()):
            assert time.monotonic() < limit and parent.poll() is None
            time.sleep(0.05)
        child = int(mark.read_text())
        parent.send_signal(number)
        parent.wait(20)
        while _alive(child):
            assert time.monotonic() < limit, f"the simulator survives {number.name}"
            time.sleep(0.05)


def _alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_built_simulator_starts_at_once():
    assert toy(count=1)
    begin = time.process_time()
    assert simulator.find(Description(), target=TOY) is not None
    assert time.process_time() - begin < 0.3


def test_an_interrupted_build_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("NICBED_CACHE", str(tmp_path))

    def interrupted(place):
        (place / "half").write_text("")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.entry("kind", ["key"], interrupted)
    assert cache.find("kind", ["key"]) is None
    assert [path.name for path in (tmp_path / "kind").iterdir() if path.is_dir()] == []
    place = cache.entry("kind", ["key"], lambda work: (work / "whole").write_text(""))
    assert cache.find("kind", ["key"]) == place and (place / "whole").exists()


def test_what_a_killed_build_left_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setenv("NICBED_CACHE", str(tmp_path))

    def killed(place):
        (place / "half").write_text("")
        os.kill(os.getpid(), signal.SIGKILL)

    def folders():
        return {path for path in (tmp_path / "kind").iterdir() if path.is_dir()}

    found = []
    for name in ("a", "b"):
        builder = multiprocessing.get_context("fork").Process(
            target=cache.entry, args=("kind", [name], killed))
        builder.start()
        builder.join(60)
        assert builder.exitcode == -signal.SIGKILL
        found.append(folders())
    of_b = found[1] - found[0]
    assert len(found[0]) == len(of_b) == 1
    place = cache.entry("kind", ["a"], lambda work: (work / "whole").write_text(""))
    assert folders() == {place} | of_b and list(place.iterdir()) == [place / "whole"]


@pytest.mark.parametrize("sim", simulator.SIMULATORS)
def test_structure_alone_chooses_the_simulator(sim, request):
    """Of the instances the fabric is not part: they are joined as the simulator starts."""
    if sim == "icarus":
        request.getfixturevalue("icarus")

    def parts(description):
        return simulator._parts(description, sim, None, False, "nicbed.rtl.target:Target")
    base = parts(Description())
    assert parts(Description(link=Link(latency=9))) == base
    assert parts(Description(link=Link(buffer=2048))) != base
    for fabric in (Fabric(nodes=3), Fabric(topology="fat_tree"), Fabric(nodes=16, switches=2)):
        assert (parts(Description(fabric=fabric)) == base) == (sim == "verilator")


def test_another_fabric_needs_no_build(monkeypatch):
    def build(*_):
        raise AssertionError("a simulator is built")

    exchanges(requests=1)
    monkeypatch.setattr(simulator, "build_instances", build)
    for fabric in ({"nodes": 16}, {"nodes": 64, "topology": "fat_tree"},
                   {"nodes": 64, "topology": "mesh", "columns": 8}):
        exchanges(requests=1, description=Description.model_validate({"fabric": fabric}))
    with pytest.raises(AssertionError, match="a simulator is built"):
        exchanges(requests=1, description=Description(link=Link(buffer=32768)))


ENGINE = {"via": {"design": "engine"}}
SERV = {"nic": {"processor": "serv"}}


@pytest.mark.parametrize(("here", "there"), [
    ({}, {"via": {"vis": 64, "design": "kernel"}, "processor": {"memory": 1 << 15}}),
    more(SERV, SERV | {"via": {"vis": 64, "design": "firmware"}}),
    more(ENGINE, ENGINE | {"processor": {"memory": 1 << 15}}),
])
def test_knobs_of_absent_parts_choose_no_simulator(here, there):
    """Knobs of an engine or a processor that the NIC has not got: the same netlist, the same
    simulator."""
    one, other = Description.model_validate(here), Description.model_validate(there)
    assert simulator.structure(one) == simulator.structure(other)
    texts = [[rtlil(component, name) for name, component in
              Target(description=description, memory="dpi", gated=True).modules]
             for description in (one, other)]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(("here", "there"), [
    (ENGINE, {"via": {"design": "engine", "vis": 64}}),
    (ENGINE, {}),
    (SERV, SERV | {"processor": {"memory": 1 << 15}}),
])
def test_knobs_of_present_parts_choose_a_simulator(here, there):
    one, other = Description.model_validate(here), Description.model_validate(there)
    assert simulator.structure(one) != simulator.structure(other)


@pytest.mark.parametrize("sim", [more("verilator"), "icarus"])
def test_waveform_is_recorded_and_changes_nothing(sim, tmp_path, request):
    if sim == "icarus":
        request.getfixturevalue("icarus")
    file = tmp_path / "waves"
    run = perform(Job(Description(), sim, function="tests.programs.toy_jobs:delays",
                      arguments={"count": 20}, target=TOY, wave=file))
    assert run == toy(count=20)
    assert file.stat().st_size > 500


def test_missing_icarus_is_said_in_one_line(monkeypatch):
    from nicbed.testbench.simulators import icarus
    icarus.icarus_version.cache_clear()
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(RunError, match="no Icarus Verilog here: install it with"):
        toy("icarus", count=1)
    icarus.icarus_version.cache_clear()


def test_a_failing_build_says_nothing_of_what_was_made_for_it(tmp_path):
    import warnings

    from amaranth.hdl import UnusedElaboratable

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError, match="half-way"):
            perform(Job(DEFAULT, function="tests.programs.toy_jobs:delays",
                        target="tests.models.toy_target:make_half"))
        warnings.warn("created but never used", UnusedElaboratable, stacklevel=1)
    assert not said
