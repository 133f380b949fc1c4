"""A gate that the target passed."""

from pathlib import Path

import pytest
from nicbed.testbench.commands.gate import run_init
from nicbed.testbench.descriptions.load import find


@pytest.fixture(scope="session")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a gate file on a copy of the default NIC, ``mine.toml`` beside it, accepted as
    it is; its results are in a store of its own, ``store`` beside it."""
    folder = tmp_path_factory.mktemp("gate")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NICBED_STORE", str(folder / "store"))
        (folder / "mine.toml").write_text(find("default").read_text())
        run_init(folder / "gate.toml", nic=str(folder / "mine.toml"), benches="rtt", overrides=(),
                 nodes=None, layer=None)
    return folder


@pytest.fixture
def accepted(first: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The gate file, in a test that has its store."""
    monkeypatch.setenv("NICBED_STORE", str(first / "store"))
    return first / "gate.toml"
