"""A gate that the target passed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from nicbed.testbench.commands.gate import run_init
from nicbed.testbench.descriptions.load import find


@pytest.fixture(scope="session")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A gate file on a copy of the default NIC, ``mine.toml`` beside it, accepted as it is; its
    results are in a store of its own, ``store`` beside it."""
    folder = tmp_path_factory.mktemp("gate")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NICBED_STORE", str(folder / "store"))
        (folder / "mine.toml").write_text(find("default").read_text())
        run_init(folder / "gate.toml", nic=str(folder / "mine.toml"), benches="rtt", overrides=(),
                 nodes=None, layer=None)
        yield folder / "gate.toml"
