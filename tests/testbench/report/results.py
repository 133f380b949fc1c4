"""Result files for pages, from the functional model: no simulator runs."""

import asyncio
from pathlib import Path
from typing import Any

from nicbed.testbench import benches
from nicbed.testbench.descriptions.load import load
from nicbed.testbench.results import document as files

from tests.labs.model import ModelLab


def document(name: str, overrides: tuple[str, ...] = (), **changes: Any) -> dict[str, Any]:
    bench = benches.get(name)
    description = load(overrides=overrides, nodes=bench.nodes)
    parameters = {**bench.module("am").parameters(description), **changes}
    found = asyncio.run(benches.run(ModelLab(description), name, "am", parameters))
    return files.build(name, "am", "model", description, parameters, found)


def logp(folder: Path) -> Path:
    """A result of ``logp`` with a knob off its default."""
    path = folder / "logp.json"
    path.write_text(files.text(document("logp", ("link.latency=24",), issues=128,
                                        delays=["0", "1/8", "1", "2"])))
    return path


def rtt(folder: Path) -> Path:
    """A result of ``rtt``, which has bars."""
    path = folder / "rtt.json"
    path.write_text(files.text(document("rtt", words=[1, 4])))
    return path


def sweep(folder: Path) -> Path:
    """A table of 20 points."""
    path = folder / "sweep.csv"
    rows = [f"{2 ** (n % 5)},{'am' if n % 2 else 'via'},{1000 - 7 * n}" for n in range(20)]
    path.write_text("\n".join(["link.latency,layer,L", *rows]) + "\n")
    return path
