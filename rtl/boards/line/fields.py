"""Words of the serial protocol as Amaranth sees them."""

from amaranth.lib import data

from ....layouts.bits import Word

__all__ = ["layout"]


def layout(word: Word) -> data.StructLayout:
    """The fields of ``word``, in place: what is left of its width is the field ``_``."""
    fields = {field.name: field.width for field in word.fields}
    left = word.width - sum(fields.values())
    return data.StructLayout({**fields, **({"_": left} if left else {})})
