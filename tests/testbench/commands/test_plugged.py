"""``nicbed list``: what is plugged in, where it is from, and what cannot be loaded."""

import json
import os
import subprocess
import sys

import pytest

WIRE = '''
from nicbed.layouts.description import Section, structure
from nicbed.layouts.doors import NicDesign

class Knobs(Section):
    ring: int = structure(16, unit="entries", ge=2, le=256, doc="the ring has so many slots")

class Wire(NicDesign):
    name = "wire_nic"
    title = "a wire"
    knobs = Knobs
'''


@pytest.fixture
def nicbed(tmp_path):
    """The command line in a folder with a design in a file; a distribution brings another one, and
    some that are broken."""
    (tmp_path / "design.py").write_text(WIRE.replace("wire_nic", "file_nic"))
    (tmp_path / "file.toml").write_text('[nic]\ndesign = "./design.py"\n')
    about = tmp_path / "site" / "wire_nic-1.2.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: wire-nic\nVersion: 1.2\n")
    (about / "entry_points.txt").write_text(
        "[nicbed.nics]\nwire_nic = outside_wire:Wire\nlost_nic = outside_lost:Wire\n"
        "[nicbed.layers]\nbad_layer = outside_bad:LAYER\n"
        "[nicbed.benches]\nbad-bench = outside_bad:Bench\n"
        "[nicbed.studies]\nbad_study = outside_bad:STUDY\n"
        "[nicbed.boards]\nbad_board = outside_bad:BOARD\n"
        "[nicbed.cores]\nbad_core = outside_bad:CORE\n")
    (tmp_path / "site" / "outside_wire.py").write_text(WIRE)
    (tmp_path / "site" / "outside_bad.py").write_text("raise RuntimeError('no\\nway')\n")

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "nicbed.testbench.cli", *arguments], cwd=tmp_path, text=True,
            capture_output=True, timeout=60,
            env={**os.environ, "PYTHONPATH": str(tmp_path / "site")})
    return run


def test_the_list_says_where_each_is_from_and_what_is_broken(nicbed):
    run = nicbed("list", "--json", "--nic", "file.toml")
    assert (run.returncode, run.stderr) == (0, "")
    found = json.loads(run.stdout)
    designs = {one["name"]: (one["from"], one["title"]) for one in found["doors"]["designs"]}
    assert designs.pop("rings")[0] == "built in"
    assert designs.pop("lost_nic") == (
        "wire-nic 1.2", "cannot be loaded: wire-nic 1.2: entry point lost_nic = outside_lost:Wire "
        "(nicbed.nics): ModuleNotFoundError: No module named 'outside_lost'")
    assert designs == {"wire_nic": ("wire-nic 1.2", "a wire"),
                       "file_nic": ("./design.py", "a wire")}
    layers = {one["name"]: one for one in found["doors"]["layers"]}
    assert layers["am"]["from"] == "built in"
    assert layers["bad_layer"]["title"].endswith("outside_bad.py:1: RuntimeError: no way")
    for kind, ours in (("cores", {"serv", "picorv32", "vexriscv"}), ("boards", {"ecpix5", "ulx3s"}),
                       ("studies", {"assessment", "sp2"}), ("topologies", {"chain", "mesh"})):
        there = {one["name"]: one for one in found["doors"][kind]}
        assert ours <= {name for name, one in there.items() if one["from"] == "built in"}
        broken = [one for name, one in there.items() if name.startswith("bad_")]
        assert all("cannot be loaded: wire-nic 1.2" in one["title"] for one in broken)
        assert len(broken) == (kind != "topologies")
    [bench] = [one for one in found["benchmarks"] if one["from"] != "built in"]
    assert bench["name"] == "bad-bench" and "cannot be loaded: wire-nic 1.2" in bench["title"]
    assert {"wire_nic.ring", "file_nic.ring"} <= {one["name"] for one in found["knobs"]}


def test_the_tables_say_the_same(nicbed):
    run = nicbed("list")
    assert (run.returncode, run.stderr) == (0, "")
    for text in ("wire-nic 1.2", "built in", "cannot be loaded", "wire_nic.ring", "bad-bench"):
        assert text in run.stdout
    assert "file_nic" not in run.stdout


def test_a_broken_one_is_a_line_for_who_asks_for_it(nicbed):
    run = nicbed("list", "--nic", "nowhere.toml")
    assert run.returncode == 2 and len(run.stderr.splitlines()) == 1
    run = nicbed("bench", "rtt", "--set", "nic.design=lost_nic")
    assert run.returncode == 2 and run.stderr == (
        "nicbed: --set: nic.design = 'lost_nic': wire-nic 1.2: entry point lost_nic = "
        "outside_lost:Wire (nicbed.nics): ModuleNotFoundError: No module named 'outside_lost'\n")
    run = nicbed("bench", "rtt", "--layer", "bad_layer")
    assert run.returncode == 2 and len(run.stderr.splitlines()) == 1
    assert "bad_layer" in run.stderr and "no way" in run.stderr


def test_help_and_an_import_look_for_nothing_that_is_installed(nicbed):
    code = ("import sys, nicbed; from nicbed.testbench.cli.entry import run_command\n"
            "sys.argv = ['nicbed', '--help']; run_command()\n"
            "assert 'nicbed.layouts.doors' not in sys.modules\n"
            "from nicbed.layouts.doors import finding; finding.entry_points = None\n"
            "from nicbed.testbench.descriptions import load; load.load(overrides=['nic.mtu=512'])\n"
            "assert not [name for name in sys.modules if name.startswith('nicbed.host')]")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "") and "Usage" in run.stdout
