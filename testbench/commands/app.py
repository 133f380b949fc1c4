"""``nicbed app``: a program over Split-C, its answer checked, its time by phase and process."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..descriptions import load
from .measure import Plots, check_places, run_in_simulator, wanted_nodes
from .output import finish

__all__ = ["run_app"]


def run_app(name: str, given: Mapping[str, Any], *, nic: str, overrides: Sequence[str],
            nodes: int | None, sim: str, port: str | None, out: Path, wave: Path | None,
            limit: int | None) -> None:
    """Run program ``name`` with the parameters ``given`` and print the results."""
    from .. import apps

    app = apps.get(name)
    description = load.for_layer(
        load.load(nic, overrides, wanted_nodes(nic, overrides, nodes, apps.NODES)), "am")
    parameters = apps.parameters(app, given, description)
    check_places(out, wave)
    plots = Plots()
    outcome = run_in_simulator(description, sim, "nicbed.testbench.apps.measurement:run",
                               {"name": name, "parameters": parameters}, wave, limit, name, port)

    from ..apps import report
    from ..report import document as files
    from ..report.tables import console

    document = files.build(name, "am", sim, description, parameters, outcome)
    path = out / f"{files.stem(document)}.json"
    plots.save(report.draw, document, path)
    text = files.text(document)
    files.save(path, text.encode())

    def show() -> None:
        shown = console()
        for item in report.lines(document):
            shown.print(item)

    finish(text, show, path)
