"""``nicbed app``: a program over Split-C or MPI, its answer checked, its time by process."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..testbed.bed import Testbed
from .measure import Plots, check_places, show_result, store
from .output import Terminal, finish

__all__ = ["run_app"]


def run_app(name: str, given: Mapping[str, Any], *, layer: str | None, nic: str,
            overrides: Sequence[str], nodes: int | None, sim: str, port: str | None, out: Path,
            wave: Path | None, timeline: Path | None, limit: int | None, fresh: bool = False
            ) -> None:
    """Run program ``name`` with the parameters ``given`` and print the results."""
    with Testbed(nic, overrides=overrides, nodes=nodes, sim=sim, limit=limit, port=port,
                 fresh=fresh, listener=Terminal()) as bed:
        wanted = bed.program(name, layer=layer, **given)
        check_places(out, wave, timeline)
        plots = Plots()
        result = bed.measure(wanted, wave=wave, timeline=timeline)
    path = store(result, out, plots)
    finish(result.text, lambda: show_result(result), path)
