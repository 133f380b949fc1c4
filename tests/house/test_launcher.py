"""The launcher: which groups of dependencies a command line asks for."""

import runpy
from pathlib import Path

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
