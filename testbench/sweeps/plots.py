"""Plots of a study's table: lines, heat map, Pareto front, parallel coordinates."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Protocol

from ..errors import UserError
from ..wording import counted

__all__ = ["MOST", "Table", "drawing", "front", "parallel", "pareto"]

MOST = 4
"""Metrics that are drawn side by side."""

Draw = Callable[[Mapping[str, Any], Any], None]


class Column(Protocol):
    """A column of a table."""

    @property
    def name(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def heading(self) -> str: ...


class Table(Protocol):
    """The members of a table that are drawn (:class:`.table.Table`)."""

    @property
    def rows(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def knobs(self) -> Sequence[Column]: ...
    @property
    def metrics(self) -> Sequence[Column]: ...
    def metric(self, name: str) -> Column: ...


def drawing(table: Table) -> Draw | None:
    """The plot that suits the table: lines over one knob, a heat map over two, parallel coordinates
    above that; None without a metric that has values."""
    varied = [one for one in table.knobs if len(_distinct(table, one)) > 1]
    if not _drawn(table) or not varied:
        return None
    draw = _lines if len(varied) == 1 else _heat if len(varied) == 2 else _parallel
    return wraps(draw)(lambda _, figure: draw(table, figure))


def pareto(table: Table, first: str, second: str) -> Draw:
    """A plot of all points by two metrics, less being better, with the points that none beats in
    both.

    Raises
    ------
    UserError
        The table has no such metric, or no point with both.
    """
    one, other = table.metric(first), table.metric(second)
    points = [(row[one.name], row[other.name]) for row in table.rows
              if row.get(one.name) is not None and row.get(other.name) is not None]
    if not points:
        raise UserError(f"no point has both {first} and {second}")
    best = front(points)

    def draw(document: Mapping[str, Any], figure: Any) -> None:
        from ..results.plots import PALETTE

        axes = figure.add_subplot()
        axes.plot(*zip(*points, strict=True), "o", color="#9fb8cf", ms=4, label="points")
        axes.step(*zip(*best, strict=True), "-", where="post", color=PALETTE[1], lw=1)
        axes.plot(*zip(*best, strict=True), "o", color=PALETTE[1], ms=5, label="none beats in both")
        axes.set_xlabel(one.title)
        axes.set_ylabel(other.title)
        axes.legend()
        axes.set_title(f"{one.name} against {other.name}")
    return draw


def front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points that no other beats in both coordinates, by the first one; less is better."""
    found: list[tuple[float, float]] = []
    for point in sorted(set(points)):
        if not found or point[1] < found[-1][1]:
            found.append(point)
    return found


def _distinct(table: Table, column: Column) -> list[Any]:
    """The values of a column in order: numbers by size, texts by their first row."""
    values = list(dict.fromkeys(_number(row.get(column.name)) for row in table.rows))
    values = [value for value in values if value is not None]
    return sorted(values) if all(isinstance(one, (int, float)) for one in values) else values


def _number(value: Any) -> Any:
    """A fraction as a number."""
    numerator, slash, denominator = value.partition("/") if isinstance(value, str) else ("", "", "")
    if slash and numerator.isdigit() and denominator.isdigit():
        return int(numerator) / int(denominator)
    return value


def _drawn(table: Table) -> list[Column]:
    return [one for one in table.metrics
            if any(row.get(one.name) is not None for row in table.rows)][:MOST]


def _place(value: Any, values: Sequence[Any]) -> float:
    """A value on an axis: itself, or its position among texts."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) \
        else values.index(value)


def _grid(figure: Any, count: int) -> list[Any]:
    columns = 1 if count == 1 else 2
    found = figure.subplots(-(-count // columns), columns, squeeze=False)
    every = [axes for row in found for axes in row]
    for axes in every[count:]:
        axes.set_axis_off()
    return every[:count]


def _lines(table: Table, figure: Any) -> None:
    """Each metric over the one knob that varies."""
    from ..results.plots import PALETTE

    [knob] = [one for one in table.knobs if len(_distinct(table, one)) > 1]
    values = _distinct(table, knob)
    metrics = _drawn(table)
    for axes, colour, metric in zip(_grid(figure, len(metrics)), PALETTE, metrics, strict=False):
        points = sorted((_place(_number(row[knob.name]), values), row[metric.name])
                        for row in table.rows if row.get(metric.name) is not None)
        axes.plot(*zip(*points, strict=True), "o-", color=colour)
        _ticks(axes.set_xticks, values)
        axes.set_xlabel(knob.title)
        axes.set_ylabel(metric.unit)
        axes.set_title(metric.name)


def _heat(table: Table, figure: Any) -> None:
    """Each metric as colours over the two knobs that vary."""
    first, second = [one for one in table.knobs if len(_distinct(table, one)) > 1]
    across, up = _distinct(table, first), _distinct(table, second)
    metrics = _drawn(table)
    for axes, metric in zip(_grid(figure, len(metrics)), metrics, strict=True):
        cells = [[float("nan")] * len(across) for _ in up]
        for row in table.rows:
            if row.get(metric.name) is not None:
                cells[up.index(_number(row[second.name]))][
                    across.index(_number(row[first.name]))] = row[metric.name]
        shown = axes.imshow(cells, origin="lower", aspect="auto", cmap="viridis")
        axes.grid(visible=False)
        axes.set_xticks(range(len(across)), [_text(value) for value in across])
        axes.set_yticks(range(len(up)), [_text(value) for value in up])
        axes.set_xlabel(first.title)
        axes.set_ylabel(second.title)
        axes.set_title(metric.title)
        figure.colorbar(shown, ax=axes)


def _parallel(table: Table, figure: Any) -> None:
    """A line a point through all knobs that vary and the metrics, coloured by the first metric."""
    from matplotlib import colormaps

    metrics = _drawn(table)
    colours = colormaps["viridis"]
    parallel(table, figure, metrics, lambda row, share: {"lw": 1, "alpha": 0.7,
                                                         "color": colours(share)},
             f"{counted(len(table.rows), 'point')}, coloured by {metrics[0].name}")


def parallel(table: Table, figure: Any, metrics: Sequence[Column],
             style: Callable[[Mapping[str, Any], float], Mapping[str, Any]], title: str) -> None:
    """A line a point through all knobs that vary and ``metrics``. ``style``: how that of a row is
    drawn, whose first metric is at a share, 0 to 1, of the way from the least value to the
    greatest."""
    from ..results.plots import INK

    columns = [*(one for one in table.knobs if len(_distinct(table, one)) > 1), *metrics]
    scales = [_distinct(table, one) for one in columns]
    axes = figure.add_subplot()
    for row in table.rows:
        if all(row.get(one.name) is not None for one in columns):
            heights = [_share(_number(row[one.name]), scale)
                       for one, scale in zip(columns, scales, strict=True)]
            axes.plot(range(len(columns)), heights, **style(row, heights[-len(metrics)]))
    axes.set_xticks(range(len(columns)), [one.heading for one in columns])
    axes.set_yticks([])
    for index, scale in enumerate(scales):
        for value, height, align in ((scale[0], -0.03, "top"), (scale[-1], 1.03, "bottom")):
            axes.text(index, height, _text(value), ha="center", va=align, fontsize=8, color=INK)
    axes.set_ylim(-0.1, 1.1)
    axes.set_title(title)


def _share(value: Any, values: Sequence[Any]) -> float:
    low, high = _place(values[0], values), _place(values[-1], values)
    return (_place(value, values) - low) / (high - low) if high > low else 0.5


def _ticks(put: Callable[..., Any], values: Sequence[Any]) -> None:
    if any(isinstance(value, (str, bool)) for value in values):
        put(range(len(values)), [_text(value) for value in values])


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
