"""Decodes the words of a board's response (:mod:`nicbed.layouts.board`)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ....layouts.board import (
    LOG_ADDRESS_BITS,
    MEMORY_RECORD,
    SECTION,
    STATUS,
    STATUS_WORDS,
    TRACE_RECORD,
    TRACE_WORD,
    Section,
)
from ....layouts.operations import ANSWER_WORDS
from ....layouts.trace import Event

__all__ = ["Damaged", "Response", "Written", "parse"]

_ITEM_WORDS = {Section.IDENTITY: 1, Section.ANSWERS: ANSWER_WORDS, Section.CRASH: 1,
               Section.READ: 2, Section.MEMORY: MEMORY_RECORD, Section.TRACE: TRACE_RECORD}


class Damaged(Exception):
    """The words are no valid response of a board."""


@dataclass(frozen=True, slots=True)
class Written:
    """A write of the target to host memory: the bytes of the 8-byte ``word`` that ``strobe``
    selects, at ``address`` in 8-byte words over the memories of all nodes, one after the other."""

    address: int
    strobe: int
    word: int


@dataclass(slots=True)
class Response:
    """A response's status and sections.

    Attributes
    ----------
    cycle
        The cycle counter.
    attention, expired, more, needs
        The fields of STATUS.
    miss
        Node and page that are needed, if any.
    answers
        By host port, as words.
    """

    cycle: int
    attention: bool
    expired: bool
    more: bool
    needs: int
    miss: tuple[int, int] | None
    identity: Sequence[int] = ()
    answers: dict[int, Sequence[int]] = field(default_factory=dict)
    crash: Sequence[int] = ()
    read: list[int] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)


def parse(words: Sequence[int]) -> Response:
    """Decode the response whose words after the header are ``words``.

    Raises
    ------
    Damaged
        The words end inside an item, or name something that does not exist.
    """
    if len(words) < STATUS_WORDS:
        raise Damaged(f"{len(words)} words are no response")
    status = STATUS.unpack(words[0])
    response = Response(
        words[1] | words[2] << 32, bool(status["attention"]), bool(status["expired"]),
        bool(status["more"]), status["needs"],
        (status["node"], words[3]) if status["miss"] else None)
    at = STATUS_WORDS
    while at < len(words):
        head = SECTION.unpack(words[at])
        if head["kind"] not in _ITEM_WORDS:
            raise Damaged(f"word {at} begins a section of kind {head['kind']}")
        kind = Section(head["kind"])
        size = _ITEM_WORDS[kind]
        items = words[at + 1:at + 1 + size * head["count"]]
        if len(items) < size * head["count"]:
            raise Damaged(f"section {kind.name} ends within its items")
        at += 1 + len(items)
        _take(response, kind, head["index"], items)
    return response


def _take(response: Response, kind: Section, index: int, items: Sequence[int]) -> None:
    if kind is Section.IDENTITY:
        response.identity = items
    elif kind is Section.ANSWERS:
        response.answers[index] = items
    elif kind is Section.CRASH:
        response.crash = items
    elif kind is Section.READ:
        response.read += (low | high << 32
                          for low, high in zip(items[::2], items[1::2], strict=True))
    elif kind is Section.MEMORY:
        response.written += (
            Written(head >> 32 - LOG_ADDRESS_BITS, head & 0xFF, low | high << 32)
            for head, low, high in zip(items[::3], items[1::3], items[2::3], strict=True))
    else:
        response.events += map(_event, items[::4], items[1::4], items[2::4], items[3::4])


def _event(cycle: int, place: int, what: int, arg: int) -> Event:
    where = TRACE_WORD.unpack(place)
    return Event(cycle | where["cycle"] << 32, where["node"], where["block"], what & 0xFF,
                 what >> 8, arg)
