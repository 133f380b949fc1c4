"""``nicbed compare --app``: the worth of o, g and L to kernels, on several NIC descriptions."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..descriptions import load
from ..errors import UserError
from .compare import named
from .measure import Plots, check_places
from .options import RunOptions
from .output import finish

__all__ = ["run_worth"]


def run_worth(nics: Sequence[str], programs: str, options: RunOptions, *, size: str) -> None:
    """Measure the kernels in ``programs``, separated by commas, on each of ``nics``; print, plot
    and store the results."""
    from ..apps.nas import worth
    from ..apps.nas import worth_report as report
    from ..results import comparison
    from ..results import document as files
    from ..results.tables import console

    chosen = _chosen(programs)
    names = named(nics) if len(nics) != 1 else [Path(nics[0]).stem]
    beds = {name: replace(options, nic=nic).bed() for name, nic in zip(names, nics, strict=True)}
    models = {}
    given: dict[str, Any] = {"class": size}
    for name, bed in beds.items():
        each = [bed.program(app, layer=options.layer, **given) for app in chosen]
        models[name] = max(each, key=lambda one: (one.description.memory.bytes,
                                                  one.description.via.translations))
    check_places(options.out)
    plots = Plots()
    documents = {}
    for name, like in models.items():
        parts = {part: beds[name].measure(one, label=f"{part} on {name}").document
                 for part, one in worth.measurements(like, chosen, size).items()}
        documents[name] = worth.together(like, chosen, size, parts)
    differences = load.difference([one.description for one in models.values()])
    document = comparison.build("mpi", options.sim, names, differences, {"worth": documents})
    path = options.out / f"{files.stem(document)}.json"
    plots.save(lambda whole, figure: report.draw_compared(whole["documents"]["worth"], figure),
               document, path)
    text = files.text(document)
    files.save(path, text.encode())

    def show() -> None:
        printed = console(pipe=140)
        printed.print(comparison.difference_table(document))
        for item in report.compared(documents):
            printed.print(item)

    finish(text, show, path)


def _chosen(programs: str) -> list[str]:
    """The kernels in ``programs``.

    Raises
    ------
    UserError
        One does not exist, is no kernel, or is named twice; or none is named.
    """
    from ..apps import get

    names = [name.strip() for name in programs.split(",") if name.strip()]
    if not names:
        raise UserError(f"--app {programs!r}: must name at least one kernel, such as --app is,cg")
    for name in names:
        if get(name).layer != "mpi":
            raise UserError(f"--app {name}: is no NAS kernel; is, cg and their like are")
        if names.count(name) > 1:
            raise UserError(f"--app {programs}: {name} is given twice")
    return names
