"""``nicbed app``: what it prints and writes, and one line for mistakes."""

import json
import os
import subprocess
import sys

import pytest


def app(*arguments):
    plain = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    return subprocess.run([sys.executable, "-m", "nicbed.testbench.cli", "app", *arguments],
                          capture_output=True, text=True, timeout=900, env=plain)


@pytest.mark.parametrize(("arguments", "parts"), [
    ([], ["NAME"]),
    (["mn"], ["no program is called mn; did you mean mm"]),
    (["mm", "--keys", "5"], ["--keys: mm has no such parameter", "--blocks, --block, --seed"]),
    (["sample-sort", "--passes", "2"], ["--passes: sample-sort has no such parameter"]),
    (["sample-sort", "--variant", "md"], ["--variant md: must be sm or lg"]),
    (["radix-sort", "--passes", "1"], ["--passes 1: must be 2 to 8"]),
    (["radix-sort", "--keys", "0"], ["--keys 0: must be 1 to 1048576"]),
    (["mm", "--block", "x"], ["--block", "'x' is not a valid integer"]),
    (["mm", "--seed", "-1"], ["--seed -1: must be 0 to 4294967295"]),
    (["mm", "--blocks", "16", "--block", "128"],
     ["mm needs", "memory.bytes = 8388608; try --set memory.bytes=16777216, or less data"]),
    (["sample-sort", "--keys", "800000"], ["sample-sort needs", "memory.bytes = 8388608"]),
    (["mm", "--set", "nic.send_ring=0"], ["layer am needs a send ring"]),
    (["mm", "--nodes", "1"], ["fabric.nodes = 1", "2 to 64"]),
    (["mm", "--sim", "vcs"], ["no simulator is called vcs"]),
    (["mm", "--set", "apps.flop=-1"], ["apps.flop"]),
    (["mm", "--layer", "mpi"], ["--layer mpi: mm runs over am"]),
    (["is", "--layer", "am"], ["--layer am: is runs over mpi"]),
    (["is", "--class", "Z"], ["--class Z: must be S or W or A"]),
    (["is", "--keys", "5"], ["is has no such parameter", "--class, --compute, --iterations"]),
    (["cg", "--iterations", "16"], ["--iterations 16: cg of class S has 15"]),
    (["cg", "--iterations", "0"], ["--iterations 0: must be 1 to 1000"]),
    (["cg", "--compute", "none"], ["--compute none: must be whole or charged"]),
    (["is", "--nodes", "3"], ["IS of class S on 3 processes: must be a power of two"]),
    (["is", "--class", "A", "--set", "memory.bytes=8388608"],
     ["is needs", "try --set memory.bytes=33554432"]),
])
def test_mistakes_are_one_line(arguments, parts):
    run = app(*arguments)
    assert run.returncode == 2 and run.stdout == ""
    assert len(run.stderr.splitlines()) == 1 and run.stderr.startswith("nicbed: ")
    for part in parts:
        assert part in run.stderr


SMALL = ["sample-sort", "--nodes", "4", "--keys", "100"]


def test_a_run_prints_its_phases_and_writes_the_same_bytes_again(tmp_path):
    first = app(*SMALL, "--out", str(tmp_path / "one"))
    assert first.returncode == 0, first.stderr
    for part in ("answer: the 400 keys are in numpy's order", "on 4 nodes", "local sort first",
                 "all communication", "  of it waiting", "bulk_store", "checks: all 4 hold"):
        assert part in first.stdout
    assert app(*SMALL, "-q", "--out", str(tmp_path / "two")).returncode == 0
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
                for name in ("one", "two"))
    assert one == two
    assert sorted(name.split(".")[-1] for name in one) == ["json", "png", "svg"]
    document = json.loads(next(data for name, data in one.items() if name.endswith("json")))
    results = document["results"]
    assert document["benchmark"] == "sample-sort" and len(results["processes"]) == 4
    for node, mine in enumerate(results["processes"]):
        parts = [phase["cycles"][node] for phase in results["phases"]]
        kinds = mine["computation"]["cycles"] + mine["communication"]["cycles"]
        assert sum(parts) == pytest.approx(kinds) and kinds <= results["cycles"]


def test_json_prints_the_document_alone(tmp_path):
    run = app("mm", "--nodes", "2", "--block", "4", "--blocks", "2", "--json", "--out",
              str(tmp_path))
    document = json.loads(run.stdout)
    assert document["parameters"] == {"blocks": 2, "block": 4, "seed": 1}
    assert all(check["ok"] for check in document["checks"])


def test_a_run_beyond_the_limit_says_who_waits(tmp_path):
    run = app("sample-sort", "--nodes", "2", "--limit", "9000", "--out", str(tmp_path))
    assert run.returncode == 1
    assert run.stderr.startswith("nicbed: stopped at cycle 9000, the limit")


def test_a_kernel_verifies_on_the_target(tmp_path):
    """EP of class S, of which least has to be simulated: real deviates, summed over MPI."""
    run = app("ep", "--layer", "mpi", "--out", str(tmp_path))
    assert run.returncode == 0, run.stderr
    for part in ("EP, class S, 4 processes, MPI over via", "VERIFICATION SUCCESSFUL",
                 "Shares of the time by rank", "checks: all 4 hold"):
        assert part in run.stdout
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".png", ".svg"]


GM = ("--set", "mpi.channel=gm", "--set", "nic.processor=vexriscv", "--set",
      "processor.memory=131072")
TCP = ("--set", "mpi.channel=tcp", "--set", "nic.mtu=1500")


@pytest.mark.full
@pytest.mark.parametrize("name", ["is", "ep", "cg", "mg", "ft", "lu", "sp", "bt"])
@pytest.mark.parametrize("knobs", [(), GM, TCP], ids=["via", "gm", "tcp"])
def test_kernels_verify_on_each_channel(name, knobs, tmp_path):
    run = app(name, *knobs, "--out", str(tmp_path))
    assert run.returncode == 0, run.stderr
    assert "VERIFICATION SUCCESSFUL" in run.stdout and "checks: all 4 hold" in run.stdout
