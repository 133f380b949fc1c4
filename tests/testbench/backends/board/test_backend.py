"""The back end of a board: commands, responses, resident pages, and what is done in which order."""

import random
import struct
from collections.abc import Sequence
from typing import Any

import pytest
from nicbed.layouts.board import (
    COMMAND,
    IDENTITY_WORDS,
    MAP_WORD,
    PAGE_BYTES,
    SECTION,
    STATUS,
    TRACE_WORD,
    Operation,
    Section,
)
from nicbed.layouts.operations import BLOCK, ENTRY_WORDS
from nicbed.layouts.timing import TIMING_REGISTERS
from nicbed.layouts.trace import Event
from nicbed.testbench.backends.board import commands
from nicbed.testbench.backends.board.backend import BoardBackend
from nicbed.testbench.backends.board.line import LineError
from nicbed.testbench.backends.board.memory import PagedMemory
from nicbed.testbench.backends.board.responses import Damaged, Written, parse
from nicbed.testbench.backends.switches import Switches

WORDS = PAGE_BYTES // 8
IDENTITY = bytes(range(4 * IDENTITY_WORDS))
SWITCHES = Switches([0] * len(TIMING_REGISTERS), trace=True, profile=False, skip=True, limit=77)


class Resident:
    """A board's memories, as the commands make them."""

    def __init__(self, nodes: int, frames: int) -> None:
        self.count = 64
        self.frames = [[0] * (frames * WORDS) for _ in range(nodes)]
        self.pages: list[dict[int, int]] = [{} for _ in range(nodes)]
        self.given: list[tuple[int, bytes]] = []
        self.operations: list[Operation] = []

    def execute(self, words: Sequence[int]) -> None:
        rest = list(words)

        def take(count: int = 1) -> list[int]:
            assert len(rest) >= count, "a command is cut"
            found = rest[:count]
            del rest[:count]
            return found

        while rest:
            command = COMMAND.unpack(take()[0])
            operation, index, count = (Operation(command["operation"]), command["index"],
                                       command["count"])
            self.operations.append(operation)
            if operation in (Operation.SET, Operation.TIMING, Operation.RUN):
                take()
                assert operation is not Operation.RUN or not rest, "RUN is not the last"
            elif operation in (Operation.WRITE, Operation.ZERO):
                place, = take()
                halves = take(2 * count) if operation is Operation.WRITE else [0] * 2 * count
                assert 0 < count and place // WORDS == (place + count - 1) // WORDS
                self.frames[index][place:place + count] = [
                    low | high << 32 for low, high in zip(halves[::2], halves[1::2], strict=True)]
            elif operation is Operation.MAP:
                entry = MAP_WORD.unpack(take()[0])
                if entry["valid"]:
                    assert entry["frame"] not in self.pages[index].values()
                    self.pages[index][entry["page"]] = entry["frame"]
                else:
                    raise AssertionError("a page is mapped nowhere")
            elif operation is Operation.FORGET:
                place, = take()
                assert 0 < count and place + count <= self.count
                for page in range(place, place + count):
                    self.pages[index].pop(page, None)
            else:
                assert operation is Operation.GIVE
                block = []
                for _ in range(count):
                    mask, = take()
                    block += [take()[0] if mask >> bit & 1 else 0 for bit in range(ENTRY_WORDS)]
                self.given.append((index, struct.pack(f"<{len(block)}I", *block)))

    def page(self, node: int, page: int) -> bytes:
        frame = self.pages[node][page]
        return struct.pack(f"<{WORDS}Q", *self.frames[node][frame * WORDS:(frame + 1) * WORDS])


@pytest.mark.parametrize("seed", range(5))
def test_give(seed: int) -> None:
    rng = random.Random(seed)
    board = Resident(1, 1)
    for _ in range(50):
        count = rng.randint(1, BLOCK)
        entries = bytes(rng.choice((0, 0, rng.randrange(256)))
                        for _ in range(4 * BLOCK * ENTRY_WORDS))
        board.execute(commands.give(5, entries, count))
        assert board.given.pop() == (5, entries[:4 * count * ENTRY_WORDS])


def test_frames_hold_whole_commands() -> None:
    rng = random.Random(1)
    given = [tuple([n] * rng.choice((2, 50, 258))) for n in range(200)]
    found = list(commands.frames(given))
    assert [word for frame in found for word in frame] == [word for one in given for word in one]
    ends = set()
    place = 0
    for one in given:
        place += len(one)
        ends.add(place)
    place = 0
    for frame in found:
        assert 0 < len(frame) <= commands.CAPACITY
        place += len(frame)
        assert place in ends
    assert len(found) <= sum(map(len, given)) // (commands.CAPACITY - 258) + 1
    assert list(commands.frames([])) == [[]]


@pytest.mark.parametrize("seed", range(8))
def test_resident_pages_are_the_memory(seed: int) -> None:
    rng = random.Random(seed)
    frames = rng.randint(1, 5)
    memory = PagedMemory(1, 16 * PAGE_BYTES, frames)
    board = Resident(2, frames)
    model = bytearray(memory.size)
    for _ in range(300):
        kind = rng.random()
        if kind < 0.4:
            length = rng.choice((1, 8, 9, 200, 3 * PAGE_BYTES))
            address = rng.randrange(memory.size - length)
            data = bytes(length) if rng.random() < 0.3 else rng.randbytes(length)
            memory.write(address, data)
            model[address:address + length] = data
        elif kind < 0.6:
            page = rng.randrange(16)
            if page not in board.pages[1]:
                for command in (*memory.changes(), *memory.load(page)):
                    board.execute(command)
        elif kind < 0.8 and board.pages[1]:
            # The target writes to its own copy, and tells.
            page, frame = rng.choice(sorted(board.pages[1].items()))
            for command in memory.changes():
                board.execute(command)
            offset, strobe, word = (rng.randrange(WORDS), rng.randrange(256), rng.getrandbits(64))
            place = 8 * (page * WORDS + offset)
            for byte in range(8):
                if strobe >> byte & 1:
                    model[place + byte] = word >> 8 * byte & 0xFF
            whole = struct.unpack_from("<Q", model, place)[0]
            board.frames[1][frame * WORDS + offset] = whole
            memory.take(place // 8, strobe, word)
        elif kind < 0.82:
            memory.clear()
            model[:] = bytes(len(model))
        assert memory.read(0, memory.size) == model
        for command in memory.changes():
            board.execute(command)
        assert memory.changes() == []
        assert len(board.pages[1]) <= frames
        for page in board.pages[1]:
            assert board.page(1, page) == model[page * PAGE_BYTES:(page + 1) * PAGE_BYTES]


def test_zeros_and_absent_pages_cost_nothing() -> None:
    memory = PagedMemory(0, 8 * PAGE_BYTES, 2)
    memory.write(100, b"x" * 500)
    assert memory.changes() == []
    assert sum(map(len, memory.load(3))) == 4
    assert 126 < sum(map(len, memory.load(0))) < 140
    memory.write(3 * PAGE_BYTES + 8, b"abc")
    assert list(map(len, memory.changes())) == [4]


def section(kind: Section, index: int, count: int, *words: int) -> list[int]:
    return [SECTION.pack(kind=kind, index=index, count=count), *words]


def status(cycle: int = 0, page: int = 0, **bits: int) -> list[int]:
    return [STATUS.pack(**bits), cycle & 0xFFFF_FFFF, cycle >> 32, page]


WHOLE = [
    *status(5 << 32 | 9, page=12, attention=1, miss=1, node=1, needs=0b10),
    *section(Section.ANSWERS, 1, 2, *range(10, 18)),
    *section(Section.CRASH, 0, 3, 7, 8, 9),
    *section(Section.READ, 0, 1, 1, 2),
    *section(Section.READ, 1, 1, 3, 4),
    *section(Section.MEMORY, 0, 2, 0x123456F0, 5, 6, 0xFFFFFF01, 7, 8),
    *section(Section.TRACE, 0, 1, 21,
             TRACE_WORD.pack(node=3, block=4, cycle=2), 0xABCDEF05, 99),
]


def test_parses_a_response() -> None:
    found = parse(WHOLE)
    assert (found.cycle, found.attention, found.expired, found.more) == (5 << 32 | 9, 1, 0, 0)
    assert (found.needs, found.miss, found.crash) == (2, (1, 12), [7, 8, 9])
    assert found.answers == {1: list(range(10, 18))}
    assert found.read == [1 | 2 << 32, 3 | 4 << 32]
    assert found.written == [Written(0x123456, 0xF0, 5 | 6 << 32),
                             Written(0xFFFFFF, 0x01, 7 | 8 << 32)]
    assert found.events == [Event(2 << 32 | 21, 3, 4, 5, 0xABCDEF, 99)]


def test_a_cut_response_is_damaged() -> None:
    whole = {4, 13, 17, 20, 23, 30, len(WHOLE)}
    for length in range(len(WHOLE)):
        if length in whole:
            parse(WHOLE[:length])
        else:
            with pytest.raises(Damaged):
                parse(WHOLE[:length])
    with pytest.raises(Damaged, match="kind 99"):
        parse([*WHOLE, SECTION.pack(kind=99, count=1), 0])


@pytest.mark.parametrize("size", [1 << 16, 1 << 23, 1 << 26])
def test_forgets_all_of_a_memory(size: int) -> None:
    pages = size // PAGE_BYTES
    board = Resident(1, 1)
    board.count = pages
    board.pages[0] = {0: 0, pages // 2: 1, pages - 1: 2}
    for command in PagedMemory(0, size, 1).begin():
        board.execute(command)
    assert board.pages == [{}]


class Script:
    """A transport whose responses are written down; what comes is kept."""

    def __init__(self, responses: Sequence[list[int]], identity: bytes = IDENTITY, ports: int = 2,
                 frames: int = 2) -> None:
        self.board = Resident(2, frames)
        self.responses = list(responses)
        self.greeting = [
            *status(), *section(Section.IDENTITY, 0, IDENTITY_WORDS + 3, 0xCAFE,
                                *struct.unpack(f"<{IDENTITY_WORDS}I", identity),
                                ports, frames)]
        self.frames: list[list[Operation]] = []

    def hello(self) -> list[int]:
        return self.greeting

    def transact(self, words: Sequence[int], *, on_busy: Any = None) -> list[int]:
        self.board.operations = []
        self.board.execute(words)
        self.frames.append(self.board.operations)
        return self.responses.pop(0)


def backend(script: Script, **other: Any) -> BoardBackend:
    return BoardBackend(script, memory_bytes=1 << 16, identity=IDENTITY, **other)


def run(coroutine: Any) -> Any:
    with pytest.raises(StopIteration) as end:
        coroutine.send(None)
    return end.value.value


def test_refuses_another_configurations_board() -> None:
    with pytest.raises(LineError, match="another configuration .1f1e1d1c1b1a1918, not "
                                        "0001020304050607.; do it"):
        backend(Script([], identity=IDENTITY[::-1]), advice="; do it")


def test_refuses_what_is_no_board() -> None:
    script = Script([])
    del script.greeting[-1]
    script.greeting[4] = SECTION.pack(kind=Section.IDENTITY, count=IDENTITY_WORDS + 2)
    with pytest.raises(LineError, match="not a board of this version"):
        backend(script)


def test_serves_attention() -> None:
    both = status(0, needs=3, attention=1)
    script = Script([
        both, both,                                                  # forget all; reset
        status(5, page=9, miss=1, node=1, more=1),                   # a page is wanted, and
        [*status(5, page=9, miss=1, node=1),                         # first the log is emptied
         *section(Section.MEMORY, 0, 1, (1 << 13 | 9 * WORDS + 2) << 8 | 0xFF, 0x33, 0x44)],
        [*status(6, more=1),                                         # the log is full
         *section(Section.MEMORY, 0, 1, (1 << 13 | 9 * WORDS) << 8 | 0x0F, 0x11, 0x22)],
        [*status(8, needs=2, attention=1, more=1), *section(Section.ANSWERS, 1, 1, 8, 0, 3, 4)],
        [*status(8, needs=2, attention=1),
         *section(Section.TRACE, 0, 1, 7, TRACE_WORD.pack(node=1, block=2), 0x300, 4)],
        status(9, expired=1)])
    script.board.pages = [{3: 1}, {9: 0}]
    found = backend(script)
    assert script.board.pages == [{}, {}]
    run(found.reset(SWITCHES))
    assert found.mailbox.look() == (0, 3, False)
    seen = []

    def attention() -> bool:
        box = found.mailbox
        now, needs, expired = box.look()
        seen.append((now, needs, expired,
                     struct.unpack_from("<2IQ", box.answers(1)), found.memories[1].read(
                         9 * PAGE_BYTES, 8)))
        for port in range(2):
            if needs >> port & 1:
                box.block(port)[:] = bytes([1]) * 4 * ENTRY_WORDS * BLOCK
                box.give(port, 1)
        return not expired

    found.memories[1].write(9 * PAGE_BYTES + 8, b"before!!")
    run(found.serve(attention))
    nothing = (0, 0, 0)
    data = bytes([0x11, 0, 0, 0, 0, 0, 0, 0])
    assert seen == [(0, 3, False, nothing, bytes(8)), (8, 2, False, (8, 0, 3 | 4 << 32), data),
                    (9, 0, True, (8, 0, 3 | 4 << 32), data)]
    assert script.frames[2:] == [
        [Operation.GIVE, Operation.GIVE, Operation.RUN],
        [],
        [Operation.ZERO, Operation.WRITE, Operation.ZERO, Operation.MAP, Operation.RUN],
        [Operation.RUN], [], [Operation.GIVE, Operation.RUN]]
    assert script.board.page(1, 9)[:24] == bytes(8) + b"before!!" + bytes([
        0x33, 0, 0, 0, 0x44, 0, 0, 0])
    assert run(found.events()) == [Event(7, 1, 2, 0, 3, 4)]
    script.responses = [both]
    run(found.reset(SWITCHES))
    assert found.memories[1].read(9 * PAGE_BYTES, 16) == bytes(16)
    assert script.board.page(1, 9) == bytes(PAGE_BYTES) and run(found.events()) == []


def test_a_board_that_stands_still() -> None:
    found = backend(Script([status(0, needs=3, attention=1)] * 2 + [status(3)]))
    run(found.reset(SWITCHES))
    with pytest.raises(LineError, match="stands still"):
        found.serve(lambda: True).send(None)
