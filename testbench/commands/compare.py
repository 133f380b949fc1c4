"""``nicbed compare``: benchmarks on several NIC descriptions, or on the points of a design axis,
side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..descriptions import load
from ..descriptions.axes import points
from ..errors import UserError
from .measure import Plots, check_places
from .options import RunOptions
from .output import finish

__all__ = ["chosen_benches", "named", "on_axes", "run_compare"]


@dataclass(frozen=True)
class _Column:
    """A column of the comparison: a name, a NIC description, the knobs on top of it, and its
    position on the axes."""

    name: str
    nic: str
    overrides: tuple[str, ...] = ()
    place: dict[str, str] = field(default_factory=dict)


def run_compare(nics: Sequence[str], benches: str | None, options: RunOptions, *,
                axes: Sequence[str] = ()) -> None:
    """Run each of ``benches`` on each of ``nics``, or on each point of ``axes``; print, plot and
    store the results."""
    if benches is None and not axes:
        raise UserError("compare needs --bench NAME, such as --bench latency,logp, or --axis")
    chosen = chosen_benches(benches or "logp,bandwidth")
    layer = options.layer or _common_layer(chosen)
    modules = {bench.name: bench.module(layer) for bench in chosen}
    columns = on_axes(nics, axes) if axes else [
        _Column(name, nic) for name, nic in zip(named(nics), nics, strict=True)]
    names = [column.name for column in columns]
    beds = {column.name: replace(options, nic=column.nic, overrides=(
        *column.overrides, *options.overrides)).bed() for column in columns}
    wanted = {bench.name: {name: bed.benchmark(bench.name, layer=layer)
                           for name, bed in beds.items()} for bench in chosen}
    check_places(options.out)
    plots = Plots()

    from ..results import comparison as report
    from ..results import document as files

    documents = {bench: {name: beds[name].measure(one, label=f"{bench} on {name}").document
                         for name, one in each.items()} for bench, each in wanted.items()}
    differences = load.difference([one.description for one in wanted[chosen[0].name].values()])
    document = report.build(layer, options.sim, names, differences, documents)
    if axes:
        document |= {"axes": list(axes), "points": {one.name: one.place for one in columns}}
    path = options.out / f"{files.stem(document)}.json"
    if axes:
        from ..results.axes import draw

        plots.save(draw, document, path)
    for bench in () if axes else chosen:
        if len(chosen) > 1:
            place = path.with_name(f"{path.stem}-{bench.name}.json")
        else:
            place = path
        plots.save(report.drawing(bench, modules[bench.name]), document, place)
    text = files.text(document)
    files.save(path, text.encode())
    finish(text, lambda: report.show(document, modules), path)


def chosen_benches(text: str) -> list[Any]:
    """The benchmarks in ``text``, separated by commas, each once.

    Raises
    ------
    UserError
        A benchmark does not exist, is named twice, or none is named.
    """
    from ..benches import get

    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UserError(f"--bench {text!r}: must name at least one benchmark, such as --bench "
                        "latency,logp")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise UserError(f"--bench {text}: {twice} is given twice")
    return [get(name) for name in names]


def on_axes(nics: Sequence[str], axes: Sequence[str]) -> list[_Column]:
    """The points of ``axes`` on top of the one description in ``nics``, or of the default.

    Raises
    ------
    UserError
        There is more than one description, or an axis does not exist.
    """
    if len(nics) > 1:
        raise UserError("--axis takes one NIC description to start from, not "
                        + " and ".join(nics))
    base = nics[0] if nics else load.DEFAULT
    return [_Column(point.name, base, point.overrides, dict(point.place)) for point in points(axes)]


def named(nics: Sequence[str]) -> list[str]:
    """A short name for each of ``nics``: the file's name, with its folder if two are alike.

    Raises
    ------
    UserError
        There are fewer than two descriptions, or one is given twice.
    """
    if len(nics) < 2:
        raise UserError("compare needs at least two NIC descriptions"
                        + (f", not only {nics[0]}" if nics else "")
                        + "; `nicbed list` shows those that come with nicbed")
    places = [load.find(nic).resolve() for nic in nics]
    for index, place in enumerate(places):
        if place in places[:index]:
            raise UserError(f"{nics[index]}: is given twice: compare different descriptions")
    stems = [place.stem for place in places]
    return [stem if stems.count(stem) == 1 else str(place.with_suffix(""))
            for stem, place in zip(stems, places, strict=True)]


def _common_layer(chosen: Sequence[Any]) -> str:
    """The first layer that all of ``chosen`` support.

    Raises
    ------
    UserError
        There is none.
    """
    layers = [layer for layer in chosen[0].layers
              if all(layer in bench.layers for bench in chosen)]
    if not layers:
        each = ", ".join(f"{bench.name}: {' or '.join(bench.layers)}" for bench in chosen)
        raise UserError(f"--bench: no layer has all of these ({each}): compare them one by one")
    return layers[0]
