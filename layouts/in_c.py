"""The part of the C header of firmware that a module of layouts declares."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from .bits import Word

__all__ = ["InC", "picked"]


@dataclass(frozen=True)
class InC:
    """A module of layouts that firmware reads has one, as ``IN_C``.

    Attributes
    ----------
    constants
        Whole numbers by the name that follows ``NICBED_`` in C.
    words
        Words by the prefix of their fields' masks and shifts.
    enums
        Enums by the prefix of their members.
    """

    constants: Mapping[str, int] = field(default_factory=dict)
    words: Mapping[str, Word] = field(default_factory=dict)
    enums: Mapping[str, type[Enum]] = field(default_factory=dict)

    def with_(self, other: "InC") -> "InC":
        """Both together.

        Raises
        ------
        ValueError
            Both have something of one name.
        """
        for mine, theirs in ((self.constants, other.constants), (self.words, other.words),
                             (self.enums, other.enums)):
            for name in {*mine} & {*theirs}:
                raise ValueError(f"two modules of layouts declare {name} for C")
        return InC({**self.constants, **other.constants}, {**self.words, **other.words},
                   {**self.enums, **other.enums})


def picked(module: Mapping[str, Any], layer: str, names: Iterable[str]) -> dict[str, int]:
    """The constants ``names`` of a module, given by its ``globals()``, each with the layer's name
    before it, once."""
    return {f"{layer}_{name.removeprefix(f'{layer}_')}": module[name] for name in names}
