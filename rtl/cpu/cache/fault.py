"""A flush that a program has forgotten."""

from amaranth.lib import data

from ....layouts.operations import Forgotten

__all__ = ["Fault"]


class Fault(data.Struct):
    """In a cycle with ``valid``: the line at ``address`` was not flushed, and ``what`` happened to
    it."""

    valid: 1
    what: Forgotten
    address: 32
