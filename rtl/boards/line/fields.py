"""Words of the serial protocol as Amaranth layouts."""

from amaranth.lib import data

from ....layouts.bits import Word

__all__ = ["layout"]


def layout(word: Word) -> data.StructLayout:
    """Layout of the fields of ``word``; the rest of its width is the field ``_``."""
    fields = {field.name: field.width for field in word.fields}
    left = word.width - sum(fields.values())
    return data.StructLayout({**fields, **({"_": left} if left else {})})
