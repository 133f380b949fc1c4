"""Commands to a board, as words (:mod:`nicbed.layouts.board`)."""

import struct
from collections.abc import Iterator, Sequence

from ....layouts.board import COMMAND, COMMAND_FRAME, MAP_WORD, SWITCHES, Operation, Register
from ....layouts.operations import ENTRY_WORDS
from ..switches import Switches

__all__ = ["CAPACITY", "RUN", "forget", "frames", "give", "map_page", "reset", "write"]

CAPACITY = COMMAND_FRAME - 2
"""Words of commands in a frame, without header and CRC."""
RUN = (COMMAND.pack(operation=Operation.RUN), 0)
_ENTRY = struct.Struct(f"<{ENTRY_WORDS}I")
_INDEX = COMMAND.offset("index")
_COUNT = COMMAND.offset("count")


def _command(operation: Operation, index: int, count: int = 0) -> int:
    return operation | index << _INDEX | count << _COUNT


def _set(register: Register, value: int) -> tuple[int, int]:
    return _command(Operation.SET, register), value


def reset(switches: Switches) -> list[tuple[int, ...]]:
    """Commands that reset the target with its registers set, and end the reset."""
    held = {"trace": int(switches.trace), "skip": int(switches.skip)}
    return [
        _set(Register.SWITCHES, SWITCHES.pack(reset=1, **held)),
        *((_command(Operation.TIMING, register.index), value)
          for register, value in zip(switches.registers, switches.timing, strict=True)),
        _set(Register.LIMIT_LOW, switches.limit & 0xFFFF_FFFF),
        _set(Register.LIMIT_HIGH, switches.limit >> 32),
        _set(Register.SWITCHES, SWITCHES.pack(**held)),
    ]


def give(port: int, entries: bytes | bytearray | memoryview, count: int) -> tuple[int, ...]:
    """Give ``port`` the first ``count`` of ``entries``; words that are zero are left out."""
    words = [_command(Operation.GIVE, port, count)]
    for entry in range(count):
        found = _ENTRY.unpack_from(entries, _ENTRY.size * entry)
        words.append(sum(1 << bit for bit, word in enumerate(found) if word))
        words += filter(None, found)
    return tuple(words)


def map_page(node: int, page: int, frame: int) -> tuple[int, int]:
    """Make ``page`` of the node's memory resident in ``frame``."""
    return (_command(Operation.MAP, node), MAP_WORD.pack(page=page, frame=frame, valid=1))


def forget(node: int, page: int, count: int) -> tuple[int, int]:
    """Remove ``count`` pages of the node's memory, from ``page`` on, from the resident ones."""
    return _command(Operation.FORGET, node, count), page


def write(node: int, place: int, words: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Write 8-byte ``words`` to the node's resident memory from ``place`` (in 8-byte words) on;
    longer runs of zeros become ZERO commands."""
    begin = 0
    while begin < len(words):
        zero = not words[begin]
        end = begin + 1
        while end < len(words) and (not words[end] if zero else any(words[end:end + 2])):
            end += 1
        run = words[begin:end]
        if zero:
            yield _command(Operation.ZERO, node, len(run)), place + begin
        else:
            yield (_command(Operation.WRITE, node, len(run)), place + begin,
                   *(half for word in run for half in (word & 0xFFFF_FFFF, word >> 32)))
        begin = end


def frames(commands: Sequence[tuple[int, ...]]) -> Iterator[list[int]]:
    """The ``commands`` in order, in as few frames as possible, none of them cut."""
    frame: list[int] = []
    for command in commands:
        if len(frame) + len(command) > CAPACITY:
            yield frame
            frame = []
        frame += command
    yield frame
