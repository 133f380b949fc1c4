"""Declares a knob, and a section of them."""

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Kind", "Section", "cost", "knob", "power_of_two", "structure", "timing"]


class Kind(StrEnum):
    """Kind of a knob: what a change of it costs."""

    STRUCTURE = "structure"
    TIMING = "timing"
    COST = "cost"


def knob(default: Any, *, kind: Kind, unit: str, doc: str, **bounds: Any) -> Any:
    return Field(default, description=doc, json_schema_extra={"kind": kind.value, "unit": unit},
                 **bounds)


def structure(default: Any, *, unit: str = "", doc: str, **bounds: Any) -> Any:
    return knob(default, kind=Kind.STRUCTURE, unit=unit, doc=doc, **bounds)


def timing(default: Any, *, unit: str = "cycles", doc: str, holds: str = "", **bounds: Any) -> Any:
    """``holds``: the property of the section that the register holds in place of the knob."""
    made = knob(default, kind=Kind.TIMING, unit=unit, doc=doc, **bounds)
    if holds:
        made.json_schema_extra["holds"] = holds
    return made


def cost(default: Any, *, unit: str = "CPU cycles", doc: str, **bounds: Any) -> Any:
    return knob(default, kind=Kind.COST, unit=unit, doc=doc, **bounds)


class Section(BaseModel):
    """A table of a NIC description."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    @classmethod
    def cost_items(cls) -> tuple[str, ...]:
        """The cost items that the section declares, which paths are made of: its cost knobs in
        whole CPU cycles."""
        return tuple(name for name, info in cls.model_fields.items()
                     if info.annotation is int and isinstance(info.json_schema_extra, dict)
                     and info.json_schema_extra["kind"] == Kind.COST
                     and info.json_schema_extra["unit"] == "CPU cycles")


def power_of_two(name: str, value: int) -> None:
    if value & (value - 1):
        raise ValueError(f"{name} = {value}: must be a power of two")
