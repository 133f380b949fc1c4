"""Global pointers and spread arrays, and values as words of a message."""

import struct
from dataclasses import dataclass

__all__ = ["GlobalPointer", "SpreadArray", "size_of", "to_value", "to_words"]

_FORMS = {code: struct.Struct(f"<{code}") for code in "iIfqQd"}
_WORDS = {4: struct.Struct("<I"), 8: struct.Struct("<II")}


def size_of(code: str) -> int:
    """Bytes of a value of type ``code``, as :mod:`struct` writes it: i, I and f have 4; q, Q and d
    have 8.

    Raises
    ------
    ValueError
        There is no such type.
    """
    if code not in _FORMS:
        raise ValueError(f"a value has one of the types {', '.join(_FORMS)}, not {code!r}")
    return _FORMS[code].size


def to_words(code: str, value: int | float) -> tuple[int, ...]:
    """``value`` as the one or two words that a message carries.

    Raises
    ------
    ValueError
        It is no value of the type.
    """
    size = size_of(code)
    try:
        return _WORDS[size].unpack(_FORMS[code].pack(value))
    except (struct.error, OverflowError):
        raise ValueError(f"{value!r} is no value of type {code!r}") from None


def to_value(code: str, words: tuple[int, ...]) -> int | float:
    """The value of type ``code`` that ``words`` hold."""
    found: int | float = _FORMS[code].unpack(_WORDS[size_of(code)].pack(*words))[0]
    return found


@dataclass(frozen=True, slots=True)
class GlobalPointer:
    """A place in the memory of a process. ``type``: of the value there (see :func:`size_of`); empty
    for bytes, which only the bulk calls access.

    Arithmetic is local: ``pointer + n`` is n values (or bytes) further at the same process.
    """

    process: int
    address: int
    type: str = "q"

    @property
    def size(self) -> int:
        """Bytes of a value."""
        return size_of(self.type) if self.type else 1

    def __add__(self, values: int) -> "GlobalPointer":
        return GlobalPointer(self.process, self.address + values * self.size, self.type)

    def __str__(self) -> str:
        return f"{self.address:#x} of process {self.process}"


@dataclass(frozen=True, slots=True)
class SpreadArray:
    """An array whose elements lie on the processes in turn: element i on process i % ``procs``. A
    process's part is at the same ``address`` on all nodes; parts on one node lie one behind the
    other.

    Attributes
    ----------
    address
        Of the part of a node's first process.
    count
        Number of elements.
    element
        Bytes of an element.
    type
        Type of the elements, if each is one value; else empty.
    lanes
        Of each process, how many processes before it are on its node; empty where each has a node.
    part
        Bytes from the part of one process to that of the next one on its node.
    """

    address: int
    count: int
    procs: int
    element: int
    type: str = ""
    lanes: tuple[int, ...] = ()
    part: int = 0

    def at(self, process: int) -> int:
        """The address of the part of ``process``, on its node."""
        return self.address + (self.lanes[process] * self.part if self.lanes else 0)

    def __getitem__(self, index: int) -> GlobalPointer:
        if not 0 <= index < self.count:
            raise IndexError(f"element {index}: the spread array has {self.count}")
        place, process = divmod(index, self.procs)
        return GlobalPointer(process, self.at(process) + place * self.element, self.type)

    def __len__(self) -> int:
        return self.count

    def indices(self, process: int) -> range:
        """The elements that lie on ``process``, in the order of their addresses."""
        return range(process, self.count, self.procs)
