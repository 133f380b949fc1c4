"""``nicbed why``: the difference of two NICs, in parts that add up to it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...layouts.doors import LAYERS
from .measure import Plots, check_places, progress_bar
from .output import finish

__all__ = ["run_why"]


def run_why(sides: tuple[str, str], *, overrides: Sequence[str], layer: str | None,
            out: Path) -> None:
    """Measure both sides and print where they differ."""
    from ..why import common_layer, difference, prepared

    check_places(out)
    layer = common_layer(sides, layer)
    measures = [prepared(side, overrides, layer) for side in sides]
    plots = Plots()
    with progress_bar("why") as tell:
        first, second = (measure(tell) for measure in measures)

    from ..results import document as files
    from ..results.tables import console
    from ..why.report import draw, lines

    found = difference(first, second)
    document: dict[str, Any] = {
        "benchmark": "why", "layer": LAYERS.get(layer).name if LAYERS.is_path(layer) else layer,
        "sim": "verilator", "sides": list(sides),
        "overrides": list(overrides), "versions": files.versions("verilator"), "unit": "cycles",
        "clock_mhz": [files.number(one.clock_mhz) for one in (first, second)],
        "checks": found.pop("checks"), "results": found}
    document["config_hash"] = files.config_hash_of([first.plain(), second.plain()])
    path = out / f"{files.stem(document)}.json"
    plots.save(draw, document, path)
    text = files.text(document)
    files.save(path, text.encode())

    def show() -> None:
        shown = console(pipe=120)
        for item in lines(document):
            shown.print(item)

    finish(text, show, path)
