"""``nicbed app``: a program over Split-C or MPI, its answer checked, its time by process."""

from collections.abc import Mapping
from typing import Any

from .measure import Plots, check_places, show_result, store
from .options import RunOptions
from .output import finish

__all__ = ["run_app"]


def run_app(name: str, given: Mapping[str, Any], options: RunOptions) -> None:
    """Run program ``name`` with the parameters ``given`` and print the results."""
    with options.bed() as bed:
        wanted = bed.program(name, layer=options.layer, **given)
        check_places(options.out, options.wave, options.timeline)
        plots = Plots()
        result = bed.measure(wanted, wave=options.wave, timeline=options.timeline)
    path = store(result, options.out, plots)
    finish(result.text, lambda: show_result(result), path)
