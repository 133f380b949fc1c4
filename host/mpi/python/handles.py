"""Objects of MPI as programs have them: handles, which stand for something or for nothing.

What stands for the same thing is equal. The handles that MPI defines are the same for all ranks, as
all ranks import one module; what they stand for may be each rank's own.
"""

from typing import Any, TypeVar

from ..sync import current

__all__ = ["GIVEN", "Handle", "given"]

Own = TypeVar("Own", bound="Handle")

GIVEN: dict[str, "Handle"] = {}
"""The handles that MPI defines, by name."""


def given(name: str) -> "Handle":
    """The handle that MPI calls ``name``."""
    return GIVEN[name]


class Numbers:
    """The numbers by which a rank's program knows its handles."""

    def __init__(self) -> None:
        self._things: list[Any] = [None]
        self._number: dict[int, int] = {}

    @classmethod
    def mine(cls) -> "Numbers":
        """Those of the rank whose program is running."""
        return current().keep("numbers", cls)

    def of(self, thing: Any) -> int:
        """The number of ``thing``; 0 of nothing."""
        if thing is None:
            return 0
        number = self._number.setdefault(id(thing), len(self._things))
        if number == len(self._things):
            self._things.append(thing)  # so that nothing else has its id
        return number

    def thing(self, number: int) -> Any:
        """Returns what has ``number``.

        Raises
        ------
        ValueError
            Nothing has.
        """
        if not 0 <= number < len(self._things):
            raise ValueError(f"{number} is no handle")
        return self._things[number]


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
        """A number that stands for the same, for the program of one rank."""
        return self.toint()

    def free(self) -> None:
        """Free what it stands for, if that can be; never a handle that MPI defines."""
        if self and not any(one is self for one in GIVEN.values()):
            if self.is_predefined:
                self._of = None
            else:
                self.Free()

    def Free(self) -> None:
        """Free what it stands for."""
        self._of = None

    @property
    def is_predefined(self) -> bool:
        """Tells whether MPI defines what it stands for."""
        return not self or any(one._of is self._of and isinstance(self, one.kind())
                               for one in GIVEN.values())

    def toint(self) -> int:
        return Numbers.mine().of(self._of)

    @classmethod
    def fromint(cls: type[Own], number: int, /) -> Own:
        return cls.standing_for(Numbers.mine().thing(number))

    py2f = toint
    fromhandle = f2py = fromint
