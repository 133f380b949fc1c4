"""Checks what programs give to calls."""

from collections.abc import Sequence
from typing import Any

from ...layouts.am2 import ARGUMENTS, HANDLERS, LONG, TRANSLATIONS
from .control_block import ControlBlock
from .translation import Translation

__all__ = ["entry", "is_data", "is_endpoint", "is_index", "is_message", "is_word"]


def is_word(value: Any, bits: int) -> bool:
    """Tells whether it is an unsigned number of so many ``bits``."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << bits


def is_endpoint(endpoint: Any) -> bool:
    """Tells whether it is an endpoint that is allocated."""
    return endpoint.__class__ is ControlBlock and endpoint.open


def is_index(index: Any, most: int = TRANSLATIONS) -> bool:
    """Tells whether a table of ``most`` entries has this index."""
    return isinstance(index, int) and 0 <= index < most


def entry(endpoint: Any, index: Any) -> Translation | None:
    """The entry of the endpoint's translation table; None: there is none."""
    if not is_endpoint(endpoint) or not is_index(index):
        return None
    found: Translation | None = endpoint.translations[index]
    return found


def is_message(handler: Any, arguments: Sequence[Any]) -> bool:
    """Tells whether a message may have this handler and these arguments."""
    return (is_index(handler, HANDLERS) and handler > 0 and len(arguments) <= ARGUMENTS
            and all(isinstance(word, int) and 0 <= word < 1 << 32 for word in arguments))


def is_data(source: Any, length: Any, offset: Any, memory: int) -> bool:
    """Tells whether a message may carry ``length`` bytes at ``source`` of ``memory`` bytes, to
    ``offset`` of a segment."""
    return (is_word(length, 32) and length <= LONG and is_word(offset, 32)
            and isinstance(source, int) and 0 <= source <= memory - length
            and (source > 0 or not length))
