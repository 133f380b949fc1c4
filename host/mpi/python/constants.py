"""Constants that stand for a buffer."""

from typing import Any

__all__ = ["BOTTOM", "BUFFER_AUTOMATIC", "IN_PLACE", "BottomType", "BufferAutomaticType",
           "Constant", "InPlaceType"]


class Constant(int):
    """A constant with a name."""

    _name = ""

    def __repr__(self) -> str:
        return self._name

    def __bool__(self) -> bool:
        return self._name != "BOTTOM"

    def __reduce__(self) -> Any:
        return self._name


class BottomType(Constant):
    _name = "BOTTOM"

    def __new__(cls) -> "BottomType":
        return super().__new__(cls, 0)


class InPlaceType(Constant):
    _name = "IN_PLACE"

    def __new__(cls) -> "InPlaceType":
        return super().__new__(cls, -1)


class BufferAutomaticType(Constant):
    _name = "BUFFER_AUTOMATIC"

    def __new__(cls) -> "BufferAutomaticType":
        return super().__new__(cls, -2)


BOTTOM = BottomType()
IN_PLACE = InPlaceType()
BUFFER_AUTOMATIC = BufferAutomaticType()
