"""Machines that have the same typical and fitted values, and the test figures measured on them.

The wide nodes of a machine have the adapter and the layer of its thin nodes, so what nobody
measured has one value for both: one point is measured on all machines of a family.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....layouts.description import Description, KnobError
from ...descriptions import load
from ...descriptions.typical import Range, typical
from ...errors import UserError
from ...lab import apply_settings
from ..calibration import Parameter, Target, plan
from ..studies import Figure, Study, Table
from .weighting import tolerance

__all__ = ["Family", "Wanted", "families"]


@dataclass(frozen=True)
class Wanted:
    """A test figure of a table, and the description on which it is measured."""

    table: Table
    figure: Figure
    nic: str


@dataclass(frozen=True)
class Family:
    """Typical values with their ranges, fitted knobs with their figures, and the test figures."""

    head: str
    ranges: tuple[Range, ...]
    parameters: tuple[Parameter, ...]
    targets: tuple[Target, ...]
    wanted: tuple[Wanted, ...]

    @property
    def name(self) -> str:
        """The name of the description that has the ranges."""
        return Path(self.head).stem

    @property
    def tolerances(self) -> list[float]:
        """At which residual each figure of the fit is met."""
        return [tolerance(one.published, one.rounding) for one in self.targets]

    @property
    def start(self) -> tuple[int, ...]:
        """The description's fitted values, as indices."""
        description = load.load(self.head)
        return tuple(min(max(round((value(description, one.knob) - one.low) / one.step), 0),
                         one.count) for one in self.parameters)

    def settings(self, typical_values: dict[str, Any], point: Sequence[int]) -> dict[str, Any]:
        """The knobs at a point: typical values, and fitted ones by index."""
        fitted = {one.knob: one.value(index)
                  for one, index in zip(self.parameters, point, strict=True)}
        return {**typical_values, **fitted}


def families(tables: Sequence[tuple[Study, Sequence[Table]]]) -> list[Family]:
    """The families of the machines in ``tables``, without machines that have no typical values.

    Raises
    ------
    UserError
        There is none, or a table of a description is wrong.
    """
    by_head: dict[str, list[Wanted]] = {}
    for _, several in tables:
        for table in several:
            for figure in table.figures:
                if figure.use == "test" and not figure.needs:
                    nic = table.description(figure.machine)
                    head = typical(nic).head or nic
                    if typical(head).ranges:
                        by_head.setdefault(head, []).append(Wanted(table, figure, nic))
    if not by_head:
        names = ", ".join(one.path for _, several in tables for one in several)
        raise UserError(f"{names}: no test figure is of a machine with typical values, which its "
                        "description gives in a table [typical]")
    return [_family(head, wanted) for head, wanted in by_head.items()]


def _family(head: str, wanted: Sequence[Wanted]) -> Family:
    has_fit = set(load.fit_table(head)) - {"programs"}
    parameters, targets = plan(head) if has_fit else ((), ())
    ranges = typical(head).ranges
    base = load.load(head)
    for one in ranges:
        for end in (one.values[0], one.values[-1]):
            try:
                apply_settings(base, {one.knob: end})
            except KnobError as error:
                raise UserError(f"{head}: [{load.TYPICAL}]: {error}") from None
    return Family(head, ranges, tuple(parameters), tuple(targets), tuple(wanted))


def value(description: Description, knob: str) -> Any:
    """The value of a knob by its full name."""
    section, key = knob.split(".")
    return getattr(getattr(description, section), key)
