"""The launcher: which groups of dependencies a command line asks for; how it sets them up when
calls come at once, are killed, or find no room."""

import os
import runpy
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

LAUNCHER = runpy.run_path(str(Path(__file__).parents[2] / "nicbed"), run_name="launcher")


@pytest.mark.parametrize(("words", "named"), [
    (["--metric", "area:lut"], True), (["--minimise=area:ff"], True),
    (["--bench", "logp,area"], True),
    (["--metric", "a=area:lut"], True), (["--where", "area.lut < 800"], True),
    (["--out", "results/area-1"], False), (["--vary", "link.latency=4"], False), ([], False)])
def test_an_area_among_the_words(words: list[str], named: bool) -> None:
    assert LAUNCHER["names_area"]("sweep", words) is named


def test_an_area_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("search.toml").write_text('minimise = ["logp:L", "area:lut"]\n')
    Path("other.toml").write_text('metrics = ["logp:L"]\n')
    assert LAUNCHER["names_area"]("optimise", ["search.toml", "--trials", "4"])
    assert not LAUNCHER["names_area"]("sweep", ["other.toml", "gone.toml"])
    assert not LAUNCHER["names_area"]("gate", ["check"])
    Path("nicbed-gate.toml").write_text('[[gate]]\nbench = ["rtt", "area"]\n')
    assert LAUNCHER["names_area"]("gate", ["check"])
    assert not LAUNCHER["names_area"]("gate", ["check", "other.toml"])


class Launcher:
    """The launcher with an environment of its own, in which nothing is installed really."""

    def __init__(self, venv: Path) -> None:
        found = runpy.run_path(str(Path(__file__).parents[2] / "nicbed"), run_name="launcher")
        self.names: dict[str, Any] = found["set_up"].__globals__
        self.venv = venv
        self.ran: list[list[str]] = []
        self.pause = 0.0
        self.fails = ""
        self.names.update(VENV=venv, PYTHON=venv / "bin" / "python", run_quietly=self.run,
                          check_python=lambda: None)

    def run(self, command: list[str], **variables: str) -> subprocess.CompletedProcess:
        self.ran.append(command)
        time.sleep(self.pause)
        if "venv" in command:
            self.names["PYTHON"].parent.mkdir(exist_ok=True)
            self.names["PYTHON"].touch()
        return subprocess.CompletedProcess(command, bool(self.fails), self.fails, "")

    def set_up(self, *groups: str) -> None:
        self.names["set_up"](list(groups))


@pytest.fixture
def launcher(tmp_path: Path) -> Launcher:
    return Launcher(tmp_path / "vénv")


def test_what_is_set_up_is_not_touched_again(launcher: Launcher) -> None:
    """A later call asks no network, and may be of a user who cannot write there."""
    launcher.set_up("core", "lab")
    assert [("venv" in one, "--require-hashes" in one, "-e" in one) for one in launcher.ran] == [
        (True, False, False), (False, True, False), (False, False, True), (False, True, False)]
    assert {path.name for path in launcher.venv.iterdir()} == {
        "bin", "nicbed.lock", "nicbed-core.stamp", "nicbed-lab.stamp"}
    launcher.ran.clear()
    (launcher.venv / "nicbed.lock").unlink()
    launcher.set_up("core", "lab")
    assert launcher.ran == [] and not (launcher.venv / "nicbed.lock").exists()
    (launcher.venv / "nicbed-lab.stamp").write_text("of another state")
    launcher.set_up("core", "lab")
    assert [one[-1].split("/")[-1] for one in launcher.ran] == ["lab.txt"]


def test_of_two_first_calls_one_sets_up(launcher: Launcher, capfd: pytest.CaptureFixture[str]
                                        ) -> None:
    launcher.pause = 0.1
    threads = [threading.Thread(target=launcher.set_up, args=("core",)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(launcher.ran) == 3
    assert capfd.readouterr().err.count("waiting for another call that sets up vénv") == 2


def test_an_environment_that_was_killed_while_it_was_made(launcher: Launcher) -> None:
    """It has a Python, and no pip."""
    (launcher.venv / "bin").mkdir(parents=True)
    (launcher.venv / "bin" / "python").touch()
    (launcher.venv / "lib").mkdir()
    (launcher.venv / "lib" / "half").touch()
    (launcher.venv / "nicbed-venv.begun").touch()
    launcher.set_up("core")
    assert "venv" in launcher.ran[0] and not (launcher.venv / "lib").exists()
    assert not list(launcher.venv.glob("*.begun"))


def test_an_environment_of_the_users_own_is_kept(launcher: Launcher) -> None:
    (launcher.venv / "bin").mkdir(parents=True)
    (launcher.venv / "bin" / "python").touch()
    (launcher.venv / "lib").mkdir()
    launcher.set_up("core")
    assert not any("venv" in one for one in launcher.ran) and (launcher.venv / "lib").exists()


def test_an_installation_that_was_killed(launcher: Launcher) -> None:
    """pip takes a package for installed when it has begun to write about it."""
    packages = launcher.venv / "lib" / "python3.11" / "site-packages"
    for name, files in (("whole", ["METADATA", "INSTALLER", "RECORD"]), ("half", ["METADATA"]),
                        ("most", ["METADATA", "INSTALLER"])):
        (packages / f"{name}-1.dist-info").mkdir(parents=True)
        for file in files:
            (packages / f"{name}-1.dist-info" / file).touch()
    (launcher.venv / "bin").mkdir()
    (launcher.venv / "bin" / "python").touch()
    launcher.fails = "ERROR: No space left on device"
    with pytest.raises(SystemExit):
        launcher.set_up("core")
    assert len(list(packages.iterdir())) == 3  # nothing was killed yet
    assert (launcher.venv / "nicbed-install.begun").exists()
    launcher.fails = ""
    launcher.set_up("core")
    assert [path.name for path in packages.iterdir()] == ["whole-1.dist-info"]


def test_a_failure_is_one_line(launcher: Launcher, capfd: pytest.CaptureFixture[str]) -> None:
    launcher.fails = "Collecting\nERROR: [Errno 28] No space left on device\nmore\n"
    with pytest.raises(SystemExit, match="1"):
        launcher.set_up("core")
    assert capfd.readouterr().err.splitlines()[-1] == (
        f"nicbed: could not make {launcher.venv}: more")
    (launcher.venv / "nicbed-venv.begun").unlink()
    with pytest.raises(SystemExit, match="1"):
        launcher.set_up("core")
    assert capfd.readouterr().err.splitlines()[-1] == (
        "nicbed: pip could not install the core dependencies: "
        "ERROR: [Errno 28] No space left on device")


@pytest.mark.parametrize(("place", "told"), [
    ("/dev/null/venv", "/dev/null/venv cannot be written, Not a directory: NICBED_VENV="),
    ("/tmp/a:b", "/tmp/a:b has ':' in it, which Python's environments cannot: NICBED_VENV=")])
def test_a_place_where_no_environment_can_be(place: str, told: str) -> None:
    done = subprocess.run([sys.executable, str(Path(__file__).parents[2] / "nicbed"), "--version"],
                          capture_output=True, text=True, timeout=60,
                          env={**os.environ, "NICBED_VENV": place})
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == f"nicbed: {told}FOLDER puts the environment elsewhere\n"
    assert not Path(place).exists()


def test_files_of_the_users_folder_are_no_modules_of_nicbeds(tmp_path: Path) -> None:
    """A folder may have a random.py."""
    for name in ("random", "json", "rich", "nicbed"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong one')\n")
    ran: list[list[str]] = []
    found = runpy.run_path(str(Path(__file__).parents[2] / "nicbed"), run_name="launcher")
    found["main"].__globals__.update(
        sys=SimpleNamespace(argv=["nicbed", "--version"], exit=sys.exit),
        set_up=lambda groups: None, check_python=lambda: None, PYTHON=Path(sys.executable),
        os=SimpleNamespace(execv=lambda path, command: ran.append(command)))
    found["main"]()
    done = subprocess.run(ran[0], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("nicbed ")
