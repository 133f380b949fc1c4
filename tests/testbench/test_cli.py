"""The command line: one line for what a user did wrong, and nothing imported that is not needed."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

GATES = "nicbed.testbench.synth.gates_command"


def nicbed(*arguments: str, module: str = "nicbed.testbench.cli", **variables: str
           ) -> subprocess.CompletedProcess:
    plain = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    return subprocess.run([sys.executable, "-m", module, *arguments],
                          capture_output=True, text=True, timeout=300, env={**plain, **variables})


@pytest.mark.parametrize(("arguments", "parts"), [
    (["bnech"], ["no command is called bnech", "bench"]),
    (["bench", "lgop"], ["no benchmark is called lgop", "logp"]),
    (["bench", "qqqqq"], ["there are: rtt"]),
    (["bench", "logp", "--layer", "an"], ["no layer is called an", "am"]),
    (["bench", "logp", "--sim", "vcs"], ["no simulator is called vcs", "verilator"]),
    (["bench", "logp", "--sim", "board"], ["serial port", "--port /dev/ttyUSB0"]),
    (["bench", "logp", "--port", "/dev/x"], ["--port /dev/x", "only --sim board"]),
    (["run", "x.py", "--sim", "uart", "--wave", "w"], ["--wave w", "--sim uart records none"]),
    (["bench", "rtt", "--timeline", f"{__file__}/w"], [f"--timeline {__file__}", "no folder"]),
    (["bench", "rtt", "--timeline", "w", "--sim", "uart"], ["--sim uart draws no time line"]),
    (["report", "no.json"], ["no.json", "no such file"]),
    (["report", "--export", "simgird", "no.json"], ["simgird", "simgrid"]),
    (["why", "default", "nowhere"], ["nowhere"]),
    (["gate", "check", "no.toml"], ["no.toml", "no such file"]),
    (["gate", "check", "pyproject.toml"], ["pyproject.toml", "a gate file has no build-system"]),
    (["gate", "accept"], ["--reason"]),
    (["gate", "accept", "--reason", ""], ["--reason", "one line"]),
    (["gate", "init", "no.toml", "--bench", "lgop"], ["no benchmark is called lgop", "logp"]),
    (["why", "default", "default", "--layer", "mpi"], ["layer mpi", "am, am2, via"]),
    (["bench", "rtt", "--set", "node.cpus=2", "--sim", "uart"],
     ["--sim uart", "one CPU", "node.cpus = 2"]),
    (["synth", "--board", "ecpix5", "--set", "node.cpus=2"], ["one CPU", "node.cpus = 2"]),
    (["bench", "rtt", "--set", "node.cpus=9"], ["node.cpus = 9", "1 to 8"]),
    (["bench", "rtt", "--nodes", "16", "--set", "node.cpus=8"], ["node.cpus", "128", "64"]),
    (["bench", "rtt", "--set", "node.nics=5"], ["node.nics = 5", "1 to 4"]),
    (["bench", "latency", "--set", "node.nics=2", "--layer", "mpi"],
     ["latency on layer mpi", "one NIC", "node.nics = 2"]),
    (["profile", "--set", "node.nics=2", "--set", "nic.processor=serv"],
     ["profile", "one NIC", "node.nics = 2"]),
    (["speed", "--set", "node.nics=2"], ["speed", "one NIC", "node.nics = 2"]),
    (["speed", "--set", "node.nics=2", "--layer", "tcp"], ["tcp", "node.nics = 2"]),
    (["bench", "rtt", "--set", "node.nics=2", "--set", "node.cpus=2", "--set",
      "am.message_processor=cpu"], ["node.nics = 2", "am.message_processor = 'cpu'"]),
    (["run", "tests/programs/board_experiment.py", "--set", "node.nics=2", "--sim", "uart"],
     ["--sim uart", "one NIC", "node.nics = 2"]),
    (["synth", "--board", "ecpix5", "--set", "node.nics=2"], ["one NIC", "node.nics = 2"]),
    (["bench", "rtt", "--nodes", "9", "--set", "node.nics=2"], ["node.nics = 18", "switch.ports"]),
    (["bench", "rtt", "--nodes", "33", "--set", "node.nics=2"], ["node.nics = 66", "64"]),
    (["bench", "memory", "--set", "memory.bytes=65536"], ["memory needs 327680", "memory.bytes"]),
    (["compare", "default", "ideal", "--bench", "rtt", "--sim", "board"],
     ["one configuration", "--sim uart"]),
    (["speed", "--sim", "uart"], ["speed", "leave out --sim"]),
    (["profile", "--set", "nic.processor=serv", "--sim", "gates"], ["profile needs verilator"]),
    (["bench", "logp", "--nic", "dfault"], ["dfault", "default"]),
    (["bench", "logp", "--set", "link.latency=ten"], ["link.latency", "'ten'", "whole number"]),
    (["bench", "logp", "--set", "latency=3"], ["latency", "link.latency"]),
    (["bench", "logp", "--nodes", "65"], ["--nodes", "fabric.nodes", "65", "2 to 64"]),
    (["bench", "logp", "--nodes", "two"], ["--nodes", "two"]),
    (["bench", "logp", "--nope"], ["--nope"]),
    (["bench"], ["NAME"]),
    (["app", "none.c"], ["none.c: no such file"]),
    (["app", "none.py"], ["none.py", "No such file"]),
    (["app", "tests/conftest.py", "x.c"], ["tests/conftest.py", "one file"]),
    (["app", "tests/conftest.py", "--cflags", "-DN"], ["--cflags -DN", "programs in C"]),
    (["app", "tests/programs"], ["tests/programs", "no C file"]),
    (["app", "x.c", "--keys", "3"], ["--keys", "programs that come with nicbed"]),
    (["app", "mm", "--", "3"], ["mm", "arguments after --", "programs of MPI"]),
    (["speed", "--layer", "an"], ["no layer is called an", "am"]),
    (["speed", "--wave", "x.fst"], ["--wave"]),
    (["bench", "rtt", "--limit", "0"], ["--limit", "0"]),
    (["run", __file__, "--limit", "1e6"], ["--limit", "1e6"]),
    (["run", "nowhere.py"], ["nowhere.py"]),
    (["bench", "rtt", "--out", f"{__file__}/sub"], [f"{__file__}/sub", "no folder"]),
    (["bench", "rtt", "--wave", f"{__file__}/x.fst"], [f"--wave {__file__}", "no folder"]),
])
def test_mistakes_are_one_line(arguments, parts):
    run = nicbed(*arguments)
    assert run.returncode == 2
    assert run.stdout == ""
    assert len(run.stderr.splitlines()) == 1 and run.stderr.startswith("nicbed: ")
    for part in parts:
        assert part in run.stderr


@pytest.mark.parametrize(("arguments", "part"), [
    (["--nic", "nosuch", "--out", "g.v"], "nosuch: no such NIC description"),
    (["--set", "nic.mtu=1", "--out", "g.v"], "--set: nic.mtu = 1: must be a whole number"),
    (["--layer", "foo", "--out", "g.v"], "'--layer': 'foo' is not one of 'am', 'am2', 'via'"),
    (["--layer", "gm", "--out", "g.v"], "layer gm is firmware of the NIC processor"),
    (["--divisor", "1", "--out", "g.v"], "'--divisor': 1 is not in the range"),
    ([], "Missing option '--out'."),
    (["--out", "/"], "'--out': File '/' is a directory"),
    (["--out", "g.v"], "NICBED_YOSYS = /nowhere/yosys: no such program"),
])
def test_mistakes_of_gates_are_one_line(arguments, part):
    run = nicbed(*arguments, module=GATES, NICBED_YOSYS="/nowhere/yosys")
    assert run.returncode == 2
    assert run.stdout == ""
    assert len(run.stderr.splitlines()) == 1 and run.stderr.startswith("nicbed: ")
    assert part in run.stderr


def test_help_of_gates_says_how_it_is_run():
    run = nicbed("--help", module=GATES)
    assert run.returncode == 0
    assert run.stdout.startswith(f"Usage: python -m {GATES} [OPTIONS]\n")


def test_a_command_that_fails_waits_for_the_library_that_it_loads():
    """What ends while another thread loads a library of C++ may abort."""
    code = """
import sys, time
from nicbed.testbench.commands.measure import Plots
Plots._load = staticmethod(lambda: (time.sleep(0.3), print("loaded")))
Plots()
sys.exit(3)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (3, "loaded\n", "")


def test_list_shows_everything():
    run = nicbed("list")
    assert run.returncode == 0 and run.stderr == ""
    for word in ("logp", "many-to-one", "am", "ideal", "link.latency", " 0 to 65535", "rebuilds",
                 "bytes/cycle", "CPU cycles", "> 0 to 1000 ", "> 0 to 10000 "):
        assert word in run.stdout


def test_list_fits_a_narrow_terminal():
    shown = subprocess.run([sys.executable, "-m", "nicbed.testbench.cli", "list"], text=True,
                           capture_output=True, env={**os.environ, "COLUMNS": "80"}).stdout
    for word in ("8388608", "65536 to", "134217728", "100 to 1073741824", "rebuilds",
                 "bytes/cycle"):
        assert word in shown
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize(("arguments", "status", "said"), [
    (["bench", "rtt", "-q", "--json"], 2, "give one of them"),
    (["bench", "rtt", "-v", "-q"], 2, "give one of them"),
])
def test_output_flags_exclude_each_other(arguments, status, said):
    run = nicbed(*arguments)
    assert (run.returncode, run.stdout) == (status, "") and said in run.stderr


def test_list_as_json():
    run = nicbed("list", "--json")
    assert run.returncode == 0 and run.stderr == ""
    found = json.loads(run.stdout)
    assert set(found) == {"benchmarks", "programs", "layers", "doors", "descriptions", "knobs"}
    assert {one["name"]: one["parameters"] for one in found["programs"]}["mm"] == [
        "blocks", "block", "seed"]
    assert {"rtt", "logp"} <= {one["name"] for one in found["benchmarks"]}
    assert any(one["name"] == "link.latency" and one["default"] == 4 for one in found["knobs"])


def run_main(body, **variables):
    """The command line, with ``body`` in place of what `bench rtt --json` runs."""
    code = ("import sys, os, signal; from nicbed.testbench import cli;"
            "from nicbed.testbench.testbed.bed import Testbed;"
            "from nicbed.testbench.errors import UserError\n"
            f"def found(*arguments, **named):\n    {body}\n"
            "Testbed.measure = found; sys.argv = ['nicbed', *sys.argv[1:]]; cli.main()")
    return subprocess.run([sys.executable, "-c", code, "bench", "bulk", "--json"], timeout=60,
                          capture_output=True, text=True, env={**os.environ, **variables})


@pytest.mark.parametrize(("body", "status", "said"), [
    ("raise UserError('the run failed', status=1)", 1, "nicbed: the run failed"),
    ("raise UserError('the input is wrong')", 2, "nicbed: the input is wrong"),
    ("os.kill(os.getpid(), signal.SIGINT)", 130, "nicbed: interrupted"),
    ("os.kill(os.getpid(), signal.SIGTERM)", 130, "nicbed: interrupted"),
    ("{}['nothing']", 70, "nicbed: internal error, KeyError: 'nothing' "),
])
def test_exit_codes(body, status, said, tmp_path):
    run = run_main(body)
    assert (run.returncode, run.stdout) == (status, "")
    assert run.stderr.startswith(said) and len(run.stderr.splitlines()) == 1


@pytest.mark.parametrize(("mode", "out"), [
    ("NORMAL", "a table\nr.json\n"), ("VERBOSE", "a table\nr.json\n"), ("QUIET", "r.json\n"),
    ("JSON", '{"checks": [{"ok": false}]}\n')])
def test_what_a_command_prints(mode, out, capsys):
    """A check that fails is in the result; it is no error."""
    from nicbed.testbench.commands.output import MODE, Mode, Terminal, finish

    token = MODE.set(Mode[mode])
    try:
        with Terminal().progress("rtt") as tell:
            tell("compiling", 0, 1)
            tell("compiling", 1, 1)
        Terminal().printed("a program's line\n")
        finish('{"checks": [{"ok": false}]}\n', lambda: print("a table"), "r.json")
    finally:
        MODE.reset(token)
    found = capsys.readouterr()
    alone = mode in ("QUIET", "JSON")
    assert found.out == ("" if alone else "a program's line\n") + out
    assert found.err == ("nicbed: rtt: compiling\n" if mode == "VERBOSE" else
                         "a program's line\n" if alone else "")


def test_what_a_command_is_told_ends_with_it(monkeypatch, capsys):
    """A process that calls two commands: the second one prints as it does alone."""
    from nicbed.testbench.cli import run_command
    from nicbed.testbench.commands.output import MODE, Mode

    monkeypatch.setattr(sys, "argv", ["nicbed", "list", "--json"])
    run_command()
    assert json.loads(capsys.readouterr().out) and MODE.get() is Mode.NORMAL


def test_help_says_the_exit_codes():
    text = " ".join(nicbed("--help").stdout.split())
    assert all(f" {code} " in text for code in (0, 1, 2, 70, 130, 141))


@pytest.mark.parametrize("command", [["gate", "check"], ["sweep"]])
def test_a_wrong_option_names_the_help_of_its_command(command):
    run = nicbed(*command, "--nope")
    assert run.returncode == 2
    assert run.stderr.rstrip().endswith(f"(nicbed {' '.join(command)} --help)")


def test_all_commands_are_named_where_they_begin():
    from nicbed.testbench import cli

    assert all(f"{name}``" in cli.__doc__ for name in cli.nicbed.commands)


def test_help_and_version():
    assert "bench" in nicbed("--help").stdout
    assert nicbed("bench", "--help").returncode == 0
    assert nicbed("--version").stdout.startswith("nicbed ")


@pytest.mark.parametrize("command", ["bench", "run"])
def test_the_default_limit_is_the_labs(command):
    from nicbed.testbench.lab import LIMIT

    assert f"[default: {LIMIT}]" in " ".join(nicbed(command, "--help").stdout.split())


def test_start_up_imports_only_what_is_needed():
    code = ("import sys, nicbed.testbench.cli, nicbed.testbench.descriptions.load as d; d.load();"
            "print([m for m in ('numpy', 'matplotlib', 'rich', 'amaranth', 'cocotb')"
            " if m in sys.modules])")
    begin = time.monotonic()
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "[]"
    assert time.monotonic() - begin < 5


def test_estimators_and_truth_are_apart():
    code = ("import sys, pkgutil, importlib, nicbed.testbench.truth as t;"
            "[importlib.import_module(t.__name__ + '.' + m.name)"
            " for m in pkgutil.iter_modules(t.__path__)];"
            "print([m for m in sys.modules if '.estimate' in m])")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "[]"


def test_a_benchmark_has_its_layers():
    run = nicbed("bench", "rtt", "--layer", "via")
    assert run.returncode == 2 and len(run.stderr.splitlines()) == 1
    assert "rtt does not exist for layer via: it takes --layer am" in run.stderr


def test_a_full_disk_is_one_line() -> None:
    """Of standard output, which is written when the command has ended, and of a cache."""
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "nicbed.testbench.cli", "list"], stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (1, "nicbed: No space left on device\n")


def test_a_cache_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = nicbed("bench", "rtt", "--out", str(tmp_path / "out"),
                  NICBED_CACHE=str(tmp_path / "file"))
    assert done.returncode == 1
    assert done.stderr == (f"nicbed: the cache {tmp_path}/file cannot be written: File exists; "
                           "NICBED_CACHE=FOLDER chooses another cache\n")
