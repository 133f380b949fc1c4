"""Common parts of the benchmarks' host programs: clocks, round trips and streams of requests over
any layer whose requests have replies."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from ....host.endpoint import Endpoint, Exchange
from ....host.port.node import Node, Program
from ....layouts.doors import LAYERS
from ....layouts.trace import Activity, Kind

__all__ = ["REQUESTS", "Make", "Stamp", "Stream", "close_to", "on", "open_to", "programs",
           "requests_to", "round_trips", "server", "stamp", "stream_of", "ticks_between"]

REQUESTS = Exchange(0)
"""Requests alone."""

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


Make = Callable[[Node], Endpoint]
"""Makes a node's endpoint."""


def on(layer: str, exchange: Exchange = REQUESTS) -> Make:
    """Endpoints of ``layer`` for ``exchange``."""
    made = LAYERS.get(layer).endpoint_class
    return lambda node: made(node, exchange)


async def open_to(side: Endpoint, peers: Sequence[int], words: int = 1) -> None:
    """Open the layer, and warm caches and windows by round trips to each of the nodes ``peers``."""
    await side.open()
    for peer in peers:
        await round_trips(side, peer, WARM_UP, words)
    await side.poll()  # the next slot's line is in the cache


async def close_to(side: Endpoint, peers: Sequence[int]) -> None:
    """Dismiss ``peers``, and end."""
    for peer in peers:
        await side.dismiss(peer)
    await side.close()


async def round_trips(side: Endpoint, peer: int, count: int, words: int = 1
                      ) -> list[tuple[Stamp, Stamp]]:
    """``count`` round trips to node ``peer``, one after the other; return when each began and
    ended."""
    found = []
    arguments = tuple(range(1, words + 1))
    for _ in range(count):
        wanted = side.replied + 1
        begin = stamp(side.node)
        await side.request(peer, *arguments)
        await side.wait(lambda wanted=wanted: side.replied >= wanted)
        found.append((begin, stamp(side.node)))
    return found


async def stream_of(side: Endpoint, issue: Callable[[int], Coroutine[Any, Any, None]], count: int,
                    delay: int = 0) -> Stream:
    """``count`` issues with ``delay`` cycles of computation after each, then the wait for all
    their replies."""
    node, base, port = side.node, side.replied, side.node.port
    found = Stream(delay, stamp(node))
    before = side.on_reply
    side.on_reply = lambda: found.answers.append(stamp(node))
    for index in range(count):
        await issue(index)
        found.handled.append(side.replied - base)
        port.mark(Activity.COMPUTE, Kind.BEGIN, index)
        if delay:
            await side.compute(delay)
        found.ends.append(port.mark(Activity.COMPUTE, Kind.END, index))
    await side.wait(lambda: side.replied - base >= count)
    side.on_reply = before
    found.done = stamp(node)
    return found


def requests_to(side: Endpoint, peers: Sequence[int], words: int = 1
                ) -> Callable[[int], Coroutine[Any, Any, None]]:
    """Issue number i is a request to the nodes ``peers`` in turn."""
    request, count = side.request, len(peers)
    arguments = tuple(range(1, words + 1))
    return lambda index: request(peers[index % count], *arguments)


def server(make: Make, requesters: int = 1) -> Callable[[Node], Coroutine[Any, Any, None]]:
    """A host program that serves ``requesters`` nodes until they stop."""
    async def program(node: Node) -> None:
        side = make(node)
        await side.open()
        await side.serve(requesters)
        await side.close()
    return program


def programs(lab: Any, chosen: Mapping[int, Program | Sequence[Program | None]]
             ) -> list[Program | Sequence[Program | None] | None]:
    """The programs of each node, or process, that ``lab`` counts; None for those without one in
    ``chosen``."""
    return [chosen.get(number) for number in range(lab.parties)]

