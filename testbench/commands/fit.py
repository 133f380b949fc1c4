"""``nicbed fit``: knobs of a description chosen by published or own figures."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..descriptions import load
from ..errors import UserError
from ..machines.calibration import Calibration, calibrate, plan
from ..machines.sharpness import ERROR
from .measure import check_places
from .output import finish, progress_bar

__all__ = ["document_of", "lines", "run_fit"]


def run_fit(nic: str, figures: Path | None, *, overrides: Sequence[str], write: bool, out: Path,
            programs: bool = False) -> None:
    """Fit the parameters of description ``nic``, or what its ``programs`` compute with; print,
    store, and with ``write`` rewrite its file."""
    if programs and figures is not None:
        raise UserError("--programs and --figures: give one of them")
    parameters, targets = plan(nic, figures, programs=programs)
    check_places(out)
    place = load.find(nic)
    for text in overrides:
        name, _ = load.parse_set(text)
        if write:
            raise UserError(f"--set {text}: --write would fit {place.name} to a knob that is not "
                            f"in it: set {name} in the file")
    with progress_bar(f"fit {Path(nic).stem}") as tell:
        found = calibrate(nic, parameters, targets, overrides, tell)

    from ..results import document as files

    document = document_of(found)
    path = out / f"fit-{Path(nic).stem}{'-programs' if programs else ''}.json"
    text = files.text(document)
    files.save(path, text.encode())
    if write:
        from ..machines.writing import write as rewrite

        rewrite(place, found.values)
    finish(text, lambda: _show(document, place if write else None), path)


def document_of(found: Calibration) -> dict[str, Any]:
    """The result file's content."""
    from ..results.document import plain

    parameters = []
    for parameter, index, before, spread in zip(found.parameters, found.point, found.before,
                                                found.sharpness.spread, strict=True):
        width = parameter.high - parameter.low
        parameters.append({
            "knob": parameter.knob, "unit": parameter.unit, "before": _text(before),
            "value": _text(parameter.value(index)), "low": _text(parameter.low),
            "high": _text(parameter.high), "step": _text(parameter.step),
            "fixed_to": None if spread is None else float(width) * spread})
    figures = [{"quantity": target.quantity.name, "title": target.quantity.title,
                "unit": target.quantity.unit, "published": target.published, "ours": ours,
                "residual": residual, "source": target.source}
               for target, ours, residual in zip(found.targets, found.ours, found.residuals,
                                                 strict=True)]
    sharp = asdict(found.sharpness)
    return plain({"fit": Path(found.nic).stem, "parameters": parameters, "figures": figures,
                  "singular_values": sharp["singular"], "measured": found.measured,
                  "alike": [[found.parameters[one].knob, found.parameters[other].knob]
                            for one, other in found.sharpness.alike]})


def lines(document: Mapping[str, Any]) -> list[str]:
    """Returns what is said below the tables."""
    values = ", ".join(f"{value:.3g}" for value in document["singular_values"])
    said = [f"singular values of the Jacobian (figures over ranges, both relative): {values}; "
            f"{document['measured']} points measured"]
    for one, other in document["alike"]:
        said.append(f"{one} and {other} cannot be told apart by these figures: more of one and "
                    "less of the other changes none of them; fit one, or add a figure")
    return said


def _show(document: Mapping[str, Any], written: Path | None) -> None:
    from ..results.tables import amount, console, percent, table

    out = console()
    rows = []
    for one in document["parameters"]:
        fixed = "not fixed" if one["fixed_to"] is None else f"± {amount(one['fixed_to'], 3)}"
        rows.append((one["knob"], one["unit"], f"{one['low']} to {one['high']}", one["before"],
                     one["value"], fixed))
    out.print(table(f"Parameters of {document['fit']}",
                    ["knob", "unit", "bounds", "before", "fitted", f"by figures ± {ERROR:.0%}"],
                    rows, left=2))
    out.print(table("Figures they are fitted to", ["figure", "unit", "published", "ours", "error"],
                    [(one["title"], one["unit"], f"{one['published']:g}", f"{one['ours']:.4g}",
                      percent(one["residual"]))
                     for one in document["figures"]], left=2))
    for line in lines(document):
        out.print(line, markup=False, soft_wrap=True)
    if written is not None:
        out.print(f"written into {written}", markup=False, soft_wrap=True)


def _text(value: Any) -> str:
    return str(Fraction(value)) if not isinstance(value, float) else f"{value:g}"
