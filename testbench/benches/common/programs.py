"""Common parts of the benchmarks' host programs: parties with the same handlers, clocks,
streams."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from ....host.am import Gam
from ....host.port.node import Node, Program
from ....layouts.trace import Activity, Kind

__all__ = ["ANSWER", "ARRIVED", "ECHO", "SINK", "START", "STOP", "STORED", "Party", "Stamp",
           "Stream", "programs", "server", "stamp", "ticks_between"]

ECHO, ANSWER, STOP, STORED, SINK, START, ARRIVED = range(7)
"""The handler table, the same on all nodes. ECHO replies with its words, SINK leaves the reply to
the layer, STORED handles a store and replies; ANSWER and ARRIVED (for gets) count the answers."""

Stamp = list[int]
"""A reading of the CPU's clock, [ticks, …]. Its ticks are known after the run."""

WARM_UP = 8


def stamp(node: Node, number: int = 0) -> Stamp:
    """Read the CPU's clock. This costs nothing and flushes nothing."""
    now = node.port.mark(Activity.COMPUTE, Kind.BEGIN, number)
    node.port.mark(Activity.COMPUTE, Kind.END, number)
    return now


def ticks_between(start: Stamp, stop: Stamp) -> int:
    """Ticks from ``start`` to ``stop``, after the run."""
    return stop[0] - start[0]


class Party:
    """A node that takes part: Active Messages with the benchmarks' handlers."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.answers = 0
        """Replies handled, and data of gets that arrived."""
        self.requests = 0
        self.stopped = 0
        self.started = False
        self.reply_stamps: list[tuple[int, Stamp, Stamp]] | None = None
        self.answer_stamps: list[Stamp] | None = None
        self.am: Any = self.make(node)

    def make(self, node: Node) -> Any:
        """The layer, with the calls of Active Messages."""
        return Gam(node, [self._echo, self._answer, self._stop, self._stored, self._sink,
                          self._start, self._arrived])

    def peer(self, node: int) -> int:
        """Returns what the layer calls its peer on node ``node``."""
        return self.node.address_on(node)

    async def compute(self, cycles: int) -> None:
        """Compute for ``cycles``."""
        await self.node.port.delay(cycles)

    def _echo(self, am: Any, source: int, *words: int) -> Any:
        self.requests += 1
        if self.reply_stamps is None:
            return am.reply(ANSWER, *words)
        return self._timed_reply(am, words)

    async def _timed_reply(self, am: Any, words: Sequence[int]) -> None:
        start = stamp(self.node)
        await am.reply(ANSWER, *words)
        assert self.reply_stamps is not None
        self.reply_stamps.append((len(words), start, stamp(self.node)))

    def _answer(self, am: Any, source: int, *words: int) -> None:
        self.answered()

    def answered(self) -> None:
        """Count an answer."""
        self.answers += 1
        if self.answer_stamps is not None:
            self.answer_stamps.append(stamp(self.node))

    def _stop(self, am: Any, source: int) -> None:
        self.stopped += 1

    def _start(self, am: Any, source: int) -> None:
        self.started = True

    def _stored(self, am: Any, source: int, address: int, length: int, argument: int) -> Any:
        self.requests += 1
        return am.reply(ANSWER)

    def _sink(self, am: Any, source: int, *words: int) -> None:
        self.requests += 1

    def _arrived(self, am: Any, source: int, address: int, length: int, argument: int) -> None:
        self._answer(am, source)

    async def serve(self, requesters: int = 1) -> None:
        """Handle messages until ``requesters`` nodes have sent STOP."""
        await self.am.enable()
        await self.am.wait(lambda: self.stopped >= requesters)
        await self.am.disable()

    async def start(self, peers: Sequence[int], words: int = 1) -> None:
        """Enable the layer, and warm caches and windows by round trips to each of the nodes
        ``peers``."""
        await self.am.enable()
        for peer in peers:
            await self.trips(peer, WARM_UP, words)
        await self.am.poll()  # the next slot's line is in the cache

    async def finish(self, peers: Sequence[int]) -> None:
        """Send STOP to ``peers``, and end."""
        for peer in peers:
            await self.am.request(self.peer(peer), STOP)
        await self.am.disable()

    async def trips(self, peer: int, count: int, words: int = 1) -> list[tuple[Stamp, Stamp]]:
        """``count`` round trips to node ``peer``, one after the other; return when each began and
        ended."""
        found = []
        address = self.peer(peer)
        arguments = tuple(range(1, words + 1))
        for _ in range(count):
            wanted = self.answers + 1
            start = stamp(self.node)
            await self.am.request(address, ECHO, *arguments)
            await self.am.wait(lambda wanted=wanted: self.answers >= wanted)
            found.append((start, stamp(self.node)))
        return found

    async def stream(self, issue: Callable[[int], Coroutine[Any, Any, None]], count: int,
                     delay: int = 0) -> "Stream":
        """``count`` issues with ``delay`` cycles of computation after each, then the wait for all
        their answers."""
        node, base = self.node, self.answers
        found = Stream(delay, stamp(node))
        self.answer_stamps = found.answers
        for index in range(count):
            await issue(index)
            found.handled.append(self.answers - base)
            node.port.mark(Activity.COMPUTE, Kind.BEGIN, index)
            if delay:
                await self.compute(delay)
            found.ends.append(node.port.mark(Activity.COMPUTE, Kind.END, index))
        await self.am.wait(lambda: self.answers - base >= count)
        self.answer_stamps = None
        found.done = stamp(node)
        return found

    def requests_to(self, peers: Sequence[int], words: int = 1
                    ) -> Callable[[int], Coroutine[Any, Any, None]]:
        """Issue number i is a request to the nodes ``peers`` in turn."""
        am, count = self.am, len(peers)
        addresses = [self.peer(peer) for peer in peers]
        arguments = tuple(range(1, words + 1))

        def issue(index: int) -> Coroutine[Any, Any, None]:
            return am.request(addresses[index % count], ECHO, *arguments)

        return issue


class Stream:
    """Clock readings of a stream of issues."""

    def __init__(self, delay: int, begin: Stamp) -> None:
        self.delay = delay
        self.begin = begin
        self.ends: list[Stamp] = []
        self.handled: list[int] = []
        self.answers: list[Stamp] = []
        self.done: Stamp = begin

    def plain(self) -> dict[str, Any]:
        """Readings in ticks from the beginning of the stream, after the run."""
        start = self.begin[0]
        return {"delay": self.delay, "begin": start, "handled": list(self.handled),
                "issued": [end[0] - start for end in self.ends],
                "answered": [answer[0] - start for answer in self.answers],
                "done": self.done[0] - start}


def server(requesters: int = 1, kind: Callable[[Node], Party] = Party
           ) -> Callable[[Node], Coroutine[Any, Any, Any]]:
    """A host program that serves ``requesters`` nodes until they stop, as a party of ``kind``."""
    return lambda node: kind(node).serve(requesters)


def programs(nodes: int, chosen: Mapping[int, Program | Sequence[Program | None]]
             ) -> list[Program | Sequence[Program | None] | None]:
    """The programs of each node; None for nodes without one in ``chosen``."""
    return [chosen.get(number) for number in range(nodes)]

