"""Remembers how a datatype was made: its constructor's name and arguments, as MPI tells them."""

from typing import Any, NamedTuple

__all__ = ["COMBINERS", "Origin"]

COMBINERS = {name: number for number, name in enumerate(
    "NAMED DUP CONTIGUOUS VECTOR HVECTOR INDEXED HINDEXED INDEXED_BLOCK HINDEXED_BLOCK STRUCT "
    "SUBARRAY DARRAY F90_REAL F90_COMPLEX F90_INTEGER RESIZED VALUE_INDEX".split())}
"""Constructors by MPI's names."""
_ADDRESSES = {"HVECTOR": ("stride",), "HINDEXED": ("displacements",),
              "HINDEXED_BLOCK": ("displacements",), "STRUCT": ("displacements",),
              "RESIZED": ("lb", "extent")}
"""Arguments that are addresses; all others are integers."""
_COUNTED = {"INDEXED": "blocklengths", "HINDEXED": "blocklengths", "STRUCT": "blocklengths",
            "INDEXED_BLOCK": "displacements", "HINDEXED_BLOCK": "displacements",
            "SUBARRAY": "sizes"}
"""The list whose length is the first integer."""


class Origin(NamedTuple):
    """A constructor, of one of COMBINERS, the datatypes that it took, and its other arguments."""

    how: str
    types: tuple[Any, ...]
    arguments: dict[str, Any]

    @property
    def integers(self) -> list[int]:
        """The integers among its arguments, as Get_contents has them."""
        found = [len(self.arguments[_COUNTED[self.how]])] if self.how in _COUNTED else []
        for name, one in self.arguments.items():
            if name not in _ADDRESSES.get(self.how, ()):
                found += one if isinstance(one, list) else [one]
        return found

    @property
    def addresses(self) -> list[int]:
        """The addresses among them."""
        found: list[int] = []
        for name in _ADDRESSES.get(self.how, ()):
            one = self.arguments[name]
            found += one if isinstance(one, list) else [one]
        return found
