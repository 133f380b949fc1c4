"""Bit fields of a word: packing, unpacking, and the order that RTL structs follow."""

from dataclasses import dataclass

__all__ = ["Field", "Word"]


@dataclass(frozen=True)
class Field:
    """``width`` bits of a word, named; ``doc`` says what they mean."""

    name: str
    width: int
    doc: str = ""


class Word:
    """A word of bit fields, least significant first.

    Raises
    ------
    ValueError
        ``pack`` was given a value that does not fit, or a field that is not there.
    """

    def __init__(self, name: str, *fields: Field, width: int = 64) -> None:
        self.name = name
        self.width = width
        self.fields = fields
        used = sum(field.width for field in fields)
        if used > width:
            raise ValueError(f"{name} has {used} bits of fields, more than its {width}")
        self._shift = {}
        at = 0
        for field in fields:
            self._shift[field.name] = (at, (1 << field.width) - 1)
            at += field.width

    def offset(self, name: str) -> int:
        """Lowest bit of the field ``name``."""
        return self._shift[name][0]

    def mask(self, name: str) -> int:
        """The field's bits, in place."""
        shift, mask = self._shift[name]
        return mask << shift

    def pack(self, **values: int) -> int:
        """The word with ``values`` in its fields, zero elsewhere."""
        word = 0
        for name, value in values.items():
            if name not in self._shift:
                raise ValueError(f"{self.name} has no field {name!r}")
            shift, mask = self._shift[name]
            if not 0 <= value <= mask:
                raise ValueError(f"{self.name}.{name} = {value}: must be 0 to {mask}")
            word |= value << shift
        return word

    def unpack(self, word: int) -> dict[str, int]:
        """All fields of ``word``."""
        return {name: word >> shift & mask for name, (shift, mask) in self._shift.items()}

    def get(self, word: int, name: str) -> int:
        """One field of ``word``."""
        shift, mask = self._shift[name]
        return word >> shift & mask
