"""The knobs of a description as a list, for pages and ``nicbed list``."""

from fractions import Fraction
from functools import cache
from typing import Any

from pydantic import BaseModel

from .knob import Kind
from .whole import Description

__all__ = ["Knob", "knobs"]


class Knob(BaseModel):
    """One knob, as ``nicbed list`` shows it."""

    name: str
    kind: Kind
    unit: str
    default: Any
    bounds: str
    doc: str

    @property
    def ends(self) -> tuple[str, str]:
        """The ends of the range of a number. The lower one is no value itself if the bounds begin
        with ">"."""
        low, high = self.bounds.removeprefix("> ").split(" to ")
        return low, high


def knobs() -> list[Knob]:
    """All knobs, in the order of their declaration."""
    return list(_knobs())


@cache
def _knobs() -> tuple[Knob, ...]:
    found = []
    for section, field in Description.model_fields.items():
        for name, info in field.annotation.model_fields.items():  # type: ignore[union-attr]
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
            if isinstance(info.default, bool):
                bounds = "false|true"
            found.append(Knob(name=f"{section}.{name}", kind=Kind(extra["kind"]),
                              unit=str(extra["unit"]), default=info.default, bounds=bounds,
                              doc=str(info.description)))
    return tuple(found)
