"""The back end's end of a board's word streams: frames, responses, and whole runs by them."""

import random
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge
from nicbed.layouts.board import (
    COMMAND,
    COMMAND_FRAME,
    HEADER,
    MAGIC,
    MAP_WORD,
    MEMORY_RECORD,
    PAGE_BYTES,
    RESPONSE_FRAME,
    SECTION,
    STATUS,
    STATUS_WORDS,
    SWITCHES,
    TRACE_RECORD,
    TRACE_WORD,
    Kind,
    Operation,
    Register,
    Section,
)
from nicbed.layouts.operations import ANSWER_WORDS, ENTRY, ENTRY_WORDS
from nicbed.layouts.processor import CRASH_WORDS
from nicbed.rtl.boards.line.deframer import WordLayout

from tests.labs.bench import Sink, Source, within
from tests.models.board import CRASH, ToyModel, merge

PAGE = PAGE_BYTES // 8


def command(operation: int, index: int = 0, count: int = 0) -> int:
    return COMMAND.pack(operation=operation, index=index, count=count)


def set_register(register: int, value: int) -> list[int]:
    return [command(Operation.SET, register), value]


def switches(**values: int) -> list[int]:
    return set_register(Register.SWITCHES, SWITCHES.pack(**values))


def run(cycles: int = 0) -> list[int]:
    return [command(Operation.RUN), cycles]


def page(node: int, number: int, frame: int | None) -> list[int]:
    word = MAP_WORD.pack(page=number, frame=frame or 0, valid=int(frame is not None))
    return [command(Operation.MAP, node), word]


def write(node: int, place: int, words: list[int]) -> list[int]:
    halves = [half for word in words for half in (word & 0xFFFF_FFFF, word >> 32)]
    return [command(Operation.WRITE, node, len(words)), place, *halves]


def zero(node: int, place: int, count: int) -> list[int]:
    return [command(Operation.ZERO, node, count), place]


def forget(node: int, number: int, count: int) -> list[int]:
    return [command(Operation.FORGET, node, count), number]


def read(node: int, place: int, count: int) -> list[int]:
    return [command(Operation.READ, node, count), place]


def entry(op: int, *, work: int = 0, strobe: int = 0, process: int = 0, address: int = 0,
          length: int = 0, data: tuple[int, int] = (0, 0), trace: int = 0) -> dict[str, Any]:
    return {"op": op, "work": work, "flags": strobe, "process": process, "address": address,
            "length": length, "data": data, "trace": trace}


def give(port: int, block: list[dict[str, Any]]) -> list[int]:
    words = [command(Operation.GIVE, port, len(block))]
    for item in block:
        packed = ENTRY.pack(item["op"] | item["flags"] << 8 | item["process"] << 20, item["work"],
                            item["address"], item["length"], *item["data"], 0, 0, item["trace"])
        split = [int.from_bytes(packed[at:at + 4], "little") for at in range(0, len(packed), 4)]
        assert len(split) == ENTRY_WORDS
        words.append(sum(1 << n for n, word in enumerate(split) if word))
        words += [word for word in split if word]
    return words


@dataclass
class Response:
    """A DONE response, taken to pieces."""

    status: dict[str, int]
    cycle: int
    page: int
    identity: list[int] = field(default_factory=list)
    answers: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)
    crash: list[int] = field(default_factory=list)
    reads: list[tuple[int, list[int]]] = field(default_factory=list)
    writes: list[tuple[int, int, int]] = field(default_factory=list)
    events: list[tuple[int, ...]] = field(default_factory=list)
    length: int = 0
    """Words of its frame."""

    @classmethod
    def parse(cls, words: list[int]) -> "Response":
        result = cls(STATUS.unpack(words[0]), words[1] | words[2] << 32, words[3],
                     length=len(words) + 2)
        at, last = STATUS_WORDS, -1
        sizes = (1, ANSWER_WORDS, 1, 2, MEMORY_RECORD, TRACE_RECORD)
        while at < len(words):
            header = SECTION.unpack(words[at])
            kind, size = header["kind"], sizes[header["kind"]]
            items = words[at + 1:at + 1 + size * header["count"]]
            at += 1 + len(items)
            assert header["count"] and len(items) == size * header["count"], "a section is short"
            assert kind > last or kind == last in (Section.ANSWERS, Section.READ), (kind, last)
            last = kind
            rows = [items[n:n + size] for n in range(0, len(items), size)]
            if kind == Section.IDENTITY:
                result.identity = items
            elif kind == Section.ANSWERS:
                assert header["index"] > max(result.answers, default=-1)
                result.answers[header["index"]] = [(a, b, c | d << 32) for a, b, c, d in rows]
            elif kind == Section.CRASH:
                result.crash = items
            elif kind == Section.READ:
                result.reads.append((header["index"], [a | b << 32 for a, b in rows]))
            elif kind == Section.MEMORY:
                result.writes = [(a & 0xFF, a >> 8, b | c << 32) for a, b, c in rows]
            else:
                for low, word, what, arg in rows:
                    where = TRACE_WORD.unpack(word)
                    result.events.append((low | where["cycle"] << 32, where["node"],
                                          where["block"], what & 0xFF, what >> 8, arg))
        return result


class Board:
    """Frames to and from a rig, whose streams stall at random."""

    def __init__(self, dut: Any, seed: int, *, stall: float = 0.0) -> None:
        self.dut = dut
        self.sequence = 0
        self.repeats = 0
        """How often the last response was wanted once more."""
        self.sink = Sink(dut, "response", shape=WordLayout, stall=stall, seed=seed + 1)
        self._source = Source(dut, "command", shape=WordLayout, stall=stall, seed=seed)
        self._last: list[int] = []
        self._counter = cocotb.start_soon(self._count())

    async def _count(self) -> None:
        edge = RisingEdge(self.dut.clk)
        while True:
            await edge
            self.repeats += int(self.dut.again.value)

    def send(self, kind: int, sequence: int, words: list[int]) -> None:
        frame = [HEADER.pack(magic=MAGIC, kind=kind, sequence=sequence), *words]
        assert len(frame) < COMMAND_FRAME
        self._source.send(*({"data": word, "last": int(at == len(frame) - 1)}
                            for at, word in enumerate(frame)))

    async def receive(self, limit: int = 30000) -> tuple[int, int, list[int]]:
        """Kind, sequence number and words of the next response."""
        words: list[int] = []
        while True:
            word, = await within(limit, self.sink.receive())
            words.append(word["data"])
            assert len(words) < RESPONSE_FRAME, "a response is too long"
            if word["last"]:
                header = HEADER.unpack(words[0])
                assert header["magic"] == MAGIC
                return header["kind"], header["sequence"], words[1:]

    async def ask(self, kind: int, sequence: int, words: list[int]) -> tuple[int, list[int]]:
        """Send a frame whatever its number, and receive its answer."""
        self.send(kind, sequence, words)
        answered, number, rest = await self.receive()
        assert number == sequence
        return answered, rest

    def begin(self, *commands: list[int]) -> None:
        """Send the next frame, of these commands."""
        self.sequence = self.sequence + 1 & 0xFF
        self._last = [word for words in commands for word in words]
        self.send(Kind.COMMAND, self.sequence, self._last)

    def repeat(self) -> None:
        """Send the last frame once more."""
        self.send(Kind.COMMAND, self.sequence, self._last)

    async def do(self, *commands: list[int]) -> Response:
        """Execute commands in a frame."""
        self.begin(*commands)
        kind, sequence, words = await self.receive()
        assert (kind, sequence) == (Kind.DONE, self.sequence), (Kind(kind), sequence, words)
        return Response.parse(words)

    async def refused(self, *commands: list[int]) -> int:
        """The place of the command that is refused."""
        self.begin(*commands)
        kind, sequence, words = await self.receive()
        assert (kind, sequence, len(words)) == (Kind.REFUSED, self.sequence, 1), (kind, words)
        return words[0]

    async def hello(self, number: int, word: int = 7) -> Response:
        kind, words = await self.ask(Kind.HELLO, number, [word])
        assert kind == Kind.DONE
        self.sequence = number
        return Response.parse(words)


class BackEnd:
    """Runs blocks on a rig's machine and on a model of it, and holds the one against the other.

    Host memory is more than the frames hold: a page that is missed takes the place of another.
    """

    def __init__(self, board: Board, model: ToyModel, frames: int, seed: int) -> None:
        self.board = board
        self.model = model
        self.misses = self.mores = self.busy = self.repeated = 0
        self._frames = frames
        self._random = random.Random(seed)
        self._image = [0] * (model.nodes * model.words)
        self._resident: list[dict[int, int]] = [{} for _ in range(model.nodes)]
        self._given: list[list[int]] = []

    async def restart(self, *, setting: int, limit: int = 0, trace: bool = True) -> None:
        """Reset, with a timing register set; all ports wait then. Memory keeps what it held."""
        model = self.model
        model.setting, model.limit = setting, limit
        model.reset()
        self._trace = trace
        self._writes: list[list[tuple[int, int, int]]] = [[] for _ in range(model.nodes)]
        self._events: list[tuple[int, ...]] = []
        # Some pages are forgotten; those and no others are missed.
        node, pages = self._random.randrange(model.nodes), model.words // PAGE
        first = self._random.randrange(pages)
        count = self._random.randint(1, pages - first)
        for number in range(first, first + count):
            self._resident[node].pop(number, None)
        response = await self.board.do(
            forget(node, first, count),
            switches(reset=1), [command(Operation.TIMING, 3), setting],
            [command(Operation.TIMING, 2), 99], set_register(Register.LIMIT_LOW, limit),
            set_register(Register.LIMIT_HIGH, 0), switches(trace=int(trace)))
        self.collect(response)
        self._compare(response)

    def give(self, port: int, block: list[dict[str, Any]]) -> None:
        self.model.give(port, block)
        self._given.append(give(port, block))

    async def serve(self, *, budget: int = 0, repeats: float = 0.0) -> None:
        """Let time run until the next attention, or for ``budget`` cycles."""
        model = self.model
        end = model.cycle + budget
        while not model.stalls() and not (budget and model.cycle == end):
            model.step()
        commands = [*self._given, run(budget)]
        self._given = []
        while True:
            self.board.begin(*commands)
            if self._random.random() < repeats:
                self.board.repeat()
                self.repeated += 1
            response = await self._done()
            self.collect(response)
            while response.status["more"]:
                self.mores += 1
                ended = response
                response = await self.board.do()
                self.collect(response)
                assert response.cycle == ended.cycle and response.answers == ended.answers
            status = response.status
            reached = response.cycle == model.cycle
            if reached and (not status["miss"] or response.cycle == end and budget):
                break
            assert response.cycle <= model.cycle and not (status["expired"] and not reached)
            commands = [run(end - response.cycle if budget else 0)]
            if status["miss"]:
                commands[:0] = await self._fetch(status["node"], response.page)
        if not status["miss"]:
            self._compare(response)

    async def _done(self) -> Response:
        """The response to the frame; before it, its repetition may have been answered."""
        while True:
            kind, sequence, words = await self.board.receive()
            assert sequence == self.board.sequence
            if kind == Kind.DONE:
                return Response.parse(words)
            assert kind == Kind.BUSY and words[0] | words[1] << 32 <= self.model.cycle
            self.busy += 1

    def collect(self, response: Response) -> None:
        """Note the records of a response."""
        for strobe, address, data in response.writes:
            self._image[address] = merge(self._image[address], data, strobe)
            self._writes[address // self.model.words].append((strobe, address, data))
        self._events += response.events

    async def _fetch(self, node: int, number: int) -> list[list[int]]:
        """Commands that make a page resident, after another one was taken out."""
        self.misses += 1
        resident = self._resident[node]
        assert number not in resident
        commands = []
        free = set(range(self._frames)) - set(resident.values())
        if free:
            frame = free.pop()
        else:
            victim = self._random.choice(list(resident))
            frame = resident.pop(victim)
            commands.append(page(node, victim, None))
            held = await self.board.do(read(node, frame * PAGE, PAGE // 2),
                                       read(node, frame * PAGE + PAGE // 2, PAGE // 2))
            first = node * self.model.words + victim * PAGE
            assert held.reads == [(node, self._image[at:at + PAGE // 2])
                                  for at in (first, first + PAGE // 2)]
        resident[number] = frame
        first = node * self.model.words + number * PAGE
        words = self._image[first:first + PAGE]
        commands.append(write(node, frame * PAGE, words) if any(words) else
                        zero(node, frame * PAGE, PAGE))
        return [*commands, page(node, number, frame)]

    def _compare(self, response: Response) -> None:
        """Everything that the board says is as the model has it."""
        model, status = self.model, response.status
        needs = model.needs()
        assert response.cycle == model.cycle
        assert (status["needs"], status["attention"], status["expired"], status["more"]) == (
            needs, int(needs != 0), int(model.expired), 0)
        assert response.answers == {
            port: model.answers[port][:model.counts[port]] for port in range(model.nodes)
            if needs >> port & 1 and model.counts[port]}
        assert response.crash == [CRASH >> 32 * at & 0xFFFF_FFFF
                                  for at in range(CRASH_WORDS) if model.expired]
        assert self._writes == model.writes
        assert sorted(self._events) == sorted(model.events if self._trace else [])
        assert self._image == [word for memory in model.memories for word in memory]
