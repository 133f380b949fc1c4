"""Knobs whose value names an object at a door."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationInfo
from pydantic_core import CoreSchema, core_schema

from ..doors import Door

__all__ = ["FOLDER", "At"]

FOLDER = "folder"
"""Key of a validation's context: the folder to which paths are relative, if it is not the current
one."""


@dataclass(frozen=True)
class At:
    """Marks a text as the name or path of an object at ``door``, or as one of ``also``. A value of
    an object from outside is a :class:`~nicbed.layouts.doors.Named`: as a text its name alone.
    """

    door: Door[Any]
    also: tuple[str, ...] = ()

    @property
    def choices(self) -> tuple[str, ...]:
        """Names of the choices that are built in."""
        return (*self.also, *self.door.builtin)

    def resolve(self, value: Any, info: ValidationInfo) -> str:
        """The knob's value.

        Raises
        ------
        ValueError
            No object is called so, or it cannot be loaded.
        """
        if not isinstance(value, str):
            raise ValueError("must be a name or a path")
        return self.named(value, (info.context or {}).get(FOLDER))

    def named(self, value: str, folder: Path | None = None) -> str:
        """The same for a text; a path is relative to ``folder``, by default the current one."""
        if value in self.also or self.door.is_builtin(value):
            return str(value)
        return self.door.resolve(value, folder)

    def plugin(self, value: str) -> Any:
        """The object that a knob of ``value`` names; None of one of ``also``."""
        return None if value in self.also else self.door.get(value)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(self.resolve)
