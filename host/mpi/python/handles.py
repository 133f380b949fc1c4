"""Objects of MPI as programs have them: handles, which stand for something or for nothing.

What stands for the same thing is equal. The handles that MPI defines are the same for all ranks, as
all ranks import one module; what they stand for may be each rank's own.
"""

import itertools
from typing import Any, TypeVar

__all__ = ["GIVEN", "Handle", "given"]

Own = TypeVar("Own", bound="Handle")

_NUMBERS = itertools.count(1)
_OF: dict[int, Any] = {}
_NUMBER: dict[int, int] = {}


GIVEN: dict[str, "Handle"] = {}
"""The handles that MPI defines, by name."""


def given(name: str) -> "Handle":
    """The handle that MPI calls ``name``."""
    return GIVEN[name]


class Handle:
    """Base of all handles. ``_of`` is what it stands for; None: the null handle. ``abstract`` says
    of a class that it is none of MPI's."""

    abstract = True
    __slots__ = ("_of", "__weakref__", "__dict__")
    _of: Any

    def __new__(cls: type[Own], other: "Handle | None" = None) -> Own:
        made = object.__new__(cls)
        if other is not None and not isinstance(other, cls.kind()):
            raise TypeError(f"{cls.__name__} of {type(other).__name__}")
        made._of = None if other is None else other._of
        return made

    def __init__(self, *_: Any) -> None:
        pass

    @classmethod
    def kind(cls) -> type["Handle"]:
        """The class of MPI to which it belongs."""
        return next(one for one in reversed(cls.__mro__)
                    if issubclass(one, Handle) and not vars(one).get("abstract"))

    @classmethod
    def standing_for(cls: type[Own], thing: Any) -> Own:
        """A new handle of ``thing``."""
        made = cls.__new__(cls)
        made._of = thing
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, self.kind()):
            return NotImplemented
        return self._of is other._of

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return self._of is not None

    def __reduce__(self) -> Any:
        found = [name for name, one in GIVEN.items() if one._of is self._of
                 and isinstance(one, self.kind())]
        if not found:
            raise ValueError(f"cannot pickle a {type(self).__name__} that the program has made")
        same = next((name for name in found if GIVEN[name] is self), None)
        return (type(self), (given(found[0]),)) if same is None else (given, (same,))

    @property
    def handle(self) -> int:
        """A number that stands for the same."""
        return self.toint()

    def toint(self) -> int:
        if self._of is None:
            return 0
        number = _NUMBER.get(id(self._of))
        if number is None:
            number = _NUMBER[id(self._of)] = next(_NUMBERS)
            _OF[number] = self._of
        return number

    @classmethod
    def fromint(cls: type[Own], number: int, /) -> Own:
        return cls.standing_for(_OF[number] if number else None)

    py2f = toint
    fromhandle = f2py = fromint
