"""The CPUs of a node with their operations on memory as atomic steps, taken in any order."""

from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from itertools import count
from random import Random
from types import SimpleNamespace, coroutine
from typing import Any

from nicbed.host.am2.copying import Copying
from nicbed.host.am2.costs import Prices
from nicbed.host.am2.looking import Looking
from nicbed.host.am2.shared.contention import Contention
from nicbed.host.port.suspension import NOTHING
from nicbed.host.port.words import F_NOT_EQUAL, TIMEOUT

__all__ = ["Explored", "Failed", "World", "explore", "wander"]

Program = Coroutine[Any, Any, Any]


@coroutine
def _step(*operation: Any) -> Generator[Any, Any, Any]:
    return (yield operation)


class _Nothing:
    """A price, a mark, or what makes them: it takes no step."""

    def __getattr__(self, name: str) -> "_Nothing":
        return self

    __getitem__ = __getattr__

    def __call__(self, *_: Any) -> "_Nothing":
        return self


NO_PRICE: Any = _Nothing()


class _Port:
    """What the library uses of a port. Work takes no step."""

    def __init__(self) -> None:
        self.status = self.data = 0
        self.waiting_text = ""
        self._watches: list[tuple[int, int]] = []
        self.begin = self.span = self.mark = self.spend = self.work = self.put_touch = NO_PRICE
        self.waits = False

    def waiting_for(self, text: Any) -> None:
        """A wait that only polls has a text that does not change; others delay."""
        self.waits = text.__class__ is str and text != ""

    def room(self, entries: int) -> Any:
        return NOTHING

    def put_watch(self, address: int, compare: int, mask: int, flags: int) -> None:
        assert flags == F_NOT_EQUAL and not compare
        self._watches.append((address, mask))

    def put_poll(self, address: int, compare: int, mask: int, timeout: int, flags: int) -> None:
        assert flags & F_NOT_EQUAL and not compare
        self._watches.append((address, mask))

    @property
    def executed(self) -> Any:
        watches, self._watches = self._watches, []
        return _step("look", watches)

    async def cas(self, address: int, expected: int, new: int) -> int:
        await _step("cas", address, expected, new)
        return self.data

    async def delay(self, cycles: int) -> None:
        await _step("delay")


class _Copying:
    """Bulk data are a word: its first."""

    async def copy(self, source: int, destination: int, length: int, number: int = 0) -> None:
        await _step("store", destination, await _step("load", source, 8))


class _Contention:
    """A pause takes no step: whatever others do in it they may do anyway."""

    async def pause(self, losses: int) -> None:
        pass


class _Node:
    """CPU ``cpu`` of a World."""

    number, nics = 0, 1

    def __init__(self, world: "World", cpu: int) -> None:
        self.cpu, self.cpus = cpu, world.cpus
        self.port = _Port()
        self.memory = world
        self.description = world.description
        self.shared = world.shared
        self.ends: list[Callable[[], Program]] = []
        self.at_end = self.ends.append
        self._services: dict[Any, Any] = {Prices: NO_PRICE, Looking: NO_PRICE,
                                          Copying: _Copying(), Contention: _Contention()}
        self._traces = count(cpu + 1, world.cpus)

    def service(self, kind: Any) -> Any:
        if kind not in self._services:
            self._services[kind] = kind(self)
        return self._services[kind]

    def trace_number(self) -> int:
        return next(self._traces)

    def allocate(self, length: int, align: int = 64) -> int:
        return self.memory.shared(f"{self.cpu} {next(self._traces)}", length)

    async def store(self, address: int, data: bytes) -> None:
        await _step("store", address, data)

    async def load(self, address: int, length: int) -> bytes:
        return await _step("load", address, length)


class _Process:
    """A program, and the kernel behind it. It ends after ``ends_at`` steps, if that is not None,
    and closed."""

    def __init__(self, node: _Node, program: Program, ends_at: int | None) -> None:
        self.node = node
        self.ends_at = ends_at
        self.over = False
        """Whether the program has ended; the kernel may still work behind it."""
        self.own_steps = 0
        self.coroutine: Program | None = program
        self.operation: tuple[Any, ...] = ()
        self.steps = self.history = 0
        self.stale = True
        """Whether memory has changed since it last found nothing to do."""

    def begin(self) -> None:
        """To its first operation."""
        self._resume(None)

    def _resume(self, result: Any) -> None:
        """To the next operation."""
        if self.steps == self.ends_at and not self.over:
            assert self.coroutine is not None
            self.coroutine.close()
            self._behind()
            return
        try:
            assert self.coroutine is not None
            self.operation = self.coroutine.send(result)
        except StopIteration:
            self._behind()

    def _behind(self) -> None:
        """What runs behind the program."""
        if not self.over:
            self.over, self.own_steps = True, self.steps
        self.coroutine = None
        while self.node.ends and self.coroutine is None:
            self.coroutine = self.node.ends.pop()()
            try:
                self.operation = self.coroutine.send(None)
            except StopIteration:
                self.coroutine = None

    def done(self, result: Any) -> None:
        """Its operation has been executed."""
        self.history = hash((self.history, result))
        self.steps += 1
        self._resume(result)


class World:
    """Node of ``cpus`` with queues of so many ``packets`` and ``blocks``.

    A process that waits (``waits`` of its port) goes on only when there is something new: a
    message, or another word in memory. So does one behind a delay. That leaves out what only
    repeats itself.
    """

    def __init__(self, cpus: int, packets: int, blocks: int = 1) -> None:
        self.cpus = cpus
        self.size = 1 << 30
        self.description: Any = SimpleNamespace(
            am2=SimpleNamespace(protocol="shared", queue_packets=packets, queue_blocks=blocks,
                                poll="fractional", poll_every=1, poll_apart=0),
            cpu=SimpleNamespace(line_bytes=64), fabric=SimpleNamespace(nodes=1),
            node=SimpleNamespace(cpus=cpus))
        self._words: dict[int, int] = {}
        self._digest = 0
        self._segments: dict[str, int] = {}
        self._end = 64
        self.nodes = [_Node(self, cpu) for cpu in range(cpus)]
        self.processes: list[_Process] = []

    def shared(self, name: str, length: int, align: int = 64) -> int:
        if name not in self._segments:
            self._segments[name] = self._end
            self._end += -(-length // 64) * 64
        return self._segments[name]

    def word(self, address: int) -> int:
        return self._words.get(address, 0)

    def set_word(self, address: int, value: int) -> bool:
        """Whether it has changed."""
        before = self.word(address)
        self._digest ^= hash((address, before)) ^ hash((address, value))
        self._words[address] = value
        return value != before

    def run(self, program: Program, cpu: int) -> None:
        """Run it to its end at once."""
        result = None
        while True:
            try:
                operation = program.send(result)
            except StopIteration:
                return
            result, _ = self._execute(self.nodes[cpu].port, operation)

    def start(self, *programs: Program, ends_at: dict[int, int] | None = None) -> None:
        """The programs, whose steps are taken in any order."""
        self.processes = [_Process(node, program, (ends_at or {}).get(node.cpu))
                          for node, program in zip(self.nodes, programs, strict=True)]
        for process in self.processes:
            process.begin()

    def may_go(self, number: int) -> bool:
        """Whether process ``number`` has something new to do."""
        process = self.processes[number]
        if process.coroutine is None:
            return False
        kind, *rest = process.operation
        if kind == "delay":
            return process.stale
        if kind == "look" and process.node.port.waits:
            return process.stale or self._found(rest[0]) is not None
        return True

    def step(self, number: int) -> bool:
        """Take a step of process ``number``; whether another may well go on behind it."""
        process = self.processes[number]
        kind = process.operation[0]
        if kind == "store" and process.steps + 1 == process.ends_at:
            # The data of a store are in memory when the program goes on behind it.
            process.done(None)
            return False
        result, changed = self._execute(process.node.port, process.operation)
        paused = kind == "delay" or (kind == "look" and process.node.port.waits and result is None)
        if paused:
            process.stale = False
        if paused and kind == "look":
            process.steps += 1
            process._resume(None)
        else:
            process.done(result)
        if changed or process.coroutine is None:
            for other in self.processes:
                other.stale = True
        return paused

    @property
    def state(self) -> int:
        """What the further run depends on."""
        return hash((self._digest, *((one.history, one.stale, one.over, one.coroutine is None)
                                     for one in self.processes)))

    def _found(self, watches: list[tuple[int, int]]) -> int | None:
        return next((index for index, (address, mask) in enumerate(watches)
                     if self.word(address) & mask), None)

    def _execute(self, port: _Port, operation: tuple[Any, ...]) -> tuple[Any, bool]:
        """The result, and whether memory has changed."""
        kind, *rest = operation
        if kind == "load":
            address, length = rest
            return b"".join(self.word(address + at).to_bytes(8, "little")
                            for at in range(0, length, 8)), False
        if kind == "store":
            address, data = rest
            return None, any([self.set_word(address + at, int.from_bytes(data[at:at + 8], "little"))
                              for at in range(0, len(data), 8)])
        if kind == "cas":
            address, expected, new = rest
            port.data = self.word(address)
            if port.data != expected:
                return port.data, False
            return expected, self.set_word(address, new)
        if kind == "look":
            [watches] = rest
            found = self._found(watches)
            port.status = TIMEOUT if found is None else found << 4
            port.data = 0 if found is None else self.word(watches[found][0])
            return None if found is None else (found, port.data), False
        return None, False


class Failed(Exception):
    """An order of steps in which something is wrong."""


@dataclass
class Explored:
    """Orders of steps that were tried, different states among them, and the most steps."""

    orders: int = 0
    states: int = 0
    steps: int = 0


def explore(make: Callable[[], tuple[World, Callable[[], None]]], bound: int) -> Explored:
    """Take the steps of the processes of a world in all orders with at most ``bound`` delays: a
    process goes on until it waits, then the next one does; a delay has the next one go on in place
    of one that could (delay-bounded scheduling: Emmi, Qadeer, Rakamaric, POPL 2011). ``make`` makes
    the world anew, and what checks it at the end.

    Raises
    ------
    Failed
        In some order, which it tells.
    """
    found = Explored()
    seen: dict[tuple[int, int], int] = {}
    todo: list[tuple[int, ...]] = [()]

    def choose(world: World, taken: list[int], able: list[int], left: int) -> int | None:
        key = world.state, able[0]
        if seen.get(key, -1) >= left:
            return None
        seen[key] = left
        todo.extend((*taken, delays) for delays in range(1, min(left + 1, len(able))))
        return 0

    while todo:
        begin = todo.pop()
        found.orders += 1
        found.steps = max(found.steps, _one_order(make, begin, bound, choose))
    found.states = len(seen)
    return found


def wander(make: Callable[[], tuple[World, Callable[[], None]]], draw: Random, orders: int
           ) -> Explored:
    """The same in ``orders`` random orders: each step may be any process's, or each process goes on
    for a while."""
    found = Explored(orders)
    for _ in range(orders):
        often = draw.choice((0.05, 0.3, 1))

        def choose(world: World, taken: list[int], able: list[int], left: int,
                   often: float = often) -> int:
            return draw.randrange(len(able)) if draw.random() < often else 0

        found.steps = max(found.steps, _one_order(make, (), 1 << 30, choose))
    return found


Choose = Callable[[World, list[int], list[int], int], int | None]


def _one_order(make: Callable[[], tuple[World, Callable[[], None]]], begin: tuple[int, ...],
               bound: int, choose: Choose) -> int:
    """Delay as often as ``begin`` says before each step, then as often as is chosen; None ends it.
    Return the number of steps."""
    world, check = make()
    taken: list[int] = []
    numbers, last, left = len(world.processes), 0, bound
    try:
        while able := [number for number in (*range(last, numbers), *range(last))
                       if world.may_go(number)]:
            delays = begin[len(taken)] if len(taken) < len(begin) else choose(
                world, taken, able, left)
            if delays is None:
                return len(taken)
            left -= delays
            taken.append(delays)
            last = able[delays]
            if world.step(last):
                last = (last + 1) % numbers
            assert len(taken) < 3000, "it does not end"
        stuck = [(number, process.operation) for number, process in enumerate(world.processes)
                 if process.coroutine is not None]
        assert not stuck, f"stuck: {stuck}"
        check()
    except Exception as error:
        where = {at: delays for at, delays in enumerate(taken) if delays}
        raise Failed(f"{type(error).__name__}: {error}; delays {where} of {len(taken)} "
                     "steps") from error
    return len(taken)
