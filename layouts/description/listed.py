"""The knobs of a description as a list, for pages and ``nicbed list``."""

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from pydantic import BaseModel, Field

from .knob import Kind, Section
from .plugged import At

__all__ = ["Knob", "knobs_of"]


class Knob(BaseModel):
    """One knob, as ``nicbed list`` shows it."""

    name: str
    kind: Kind
    unit: str
    default: Any
    bounds: str
    doc: str
    multiple: int | None = Field(None, exclude=True)
    """Of what a number must be a multiple."""
    holds: str = Field("", exclude=True)
    """The property of its section that its register holds in place of the knob."""
    at: Any = Field(None, exclude=True)
    """Of one that names an object at a door: its :class:`~.plugged.At`."""

    @property
    def ends(self) -> tuple[str, str]:
        """The ends of the range of a number. The lower one is no value itself if the bounds begin
        with ">"."""
        low, high = self.bounds.removeprefix("> ").split(" to ")
        return low, high

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of a text; none of a number."""
        return tuple(self.bounds.split("|")) if isinstance(self.default, str) else ()

    def of(self, description: Any) -> Any:
        """Its value in ``description``: the default where that has no such section."""
        section, key = self.name.split(".")
        return getattr(getattr(description, section, None), key, self.default)


def knobs_of(sections: Mapping[str, type[Section]]) -> list[Knob]:
    """The knobs of ``sections``, by name, in the order of their declaration."""
    return [knob for name, section in sections.items() for knob in _knobs(name, section)]


@cache
def _knobs(section: str, declared: type[Section]) -> tuple[Knob, ...]:
    found = []
    for name, info in declared.model_fields.items():
        extra = info.json_schema_extra
        assert isinstance(extra, dict)
        limits = {type(rule).__name__: rule for rule in info.metadata}
        low = getattr(limits.get("Ge"), "ge", None)
        if isinstance(info.default, Fraction) and low is not None:
            low = Fraction(low)
        if "Gt" in limits:
            low = f"> {limits['Gt'].gt}"
        high = getattr(limits.get("Le"), "le", None)
        pattern = next((rule.pattern for rule in info.metadata if hasattr(rule, "pattern")), "")
        bounds = f"{low} to {high}" if high is not None else str(pattern).strip("^$()")
        at = next((rule for rule in info.metadata if isinstance(rule, At)), None)
        if at is not None:
            bounds = "|".join(at.choices)
        if isinstance(info.default, bool):
            bounds = "false|true"
        found.append(Knob(name=f"{section}.{name}", kind=Kind(extra["kind"]),
                          unit=str(extra["unit"]), default=info.default, bounds=bounds,
                          doc=str(info.description), holds=str(extra.get("holds", "")), at=at,
                          multiple=getattr(limits.get("MultipleOf"), "multiple_of", None)))
    return tuple(found)
