"""Single calls of Active Messages, far apart, each between two readings of the CPU's clock."""

from typing import Any

from ....host.am.endpoint import AmEndpoint
from ....host.endpoint import Exchange
from ....host.port.node import Node
from ..common.programs import (
    REQUESTS,
    Stamp,
    close_to,
    on,
    open_to,
    programs,
    server,
    stamp,
    ticks_between,
)

__all__ = ["measure_calls", "measure_finding", "measure_polls"]


class _TimedReplies(AmEndpoint):
    """``times``: the words of each reply, and when its call began and ended."""

    def __init__(self, node: Node, exchange: Exchange) -> None:
        super().__init__(node, exchange)
        self.times: list[tuple[int, Stamp, Stamp]] = []

    async def reply(self, am: Any, words: tuple[int, ...]) -> None:
        begin = stamp(self.node)
        await super().reply(am, words)
        self.times.append((len(words), begin, stamp(self.node)))


async def measure_calls(lab: Any, words: int, repeats: int
                        ) -> tuple[dict[str, Any], dict[str, Any]]:
    """Requests of ``words``, one at a time, and their replies."""
    async def caller(node: Node) -> Any:
        side = AmEndpoint(node, REQUESTS)
        await open_to(side, [1])
        times = []
        for _ in range(repeats):
            wanted = side.replied + 1
            start = stamp(node)
            await side.request(1, *range(words))
            times.append((start, stamp(node)))
            await side.wait(lambda wanted=wanted: side.replied >= wanted)
        await close_to(side, [1])
        return times

    async def replier(node: Node) -> Any:
        side = _TimedReplies(node, REQUESTS)
        await side.open()
        await side.serve(1)
        await side.close()
        return side.times

    run = await lab.run(programs(lab, {0: caller, 1: replier}),
                        trace=True)
    called, replied = run.results[0], run.results[1]
    first = called[0][0][0]
    return ({"ticks": [ticks_between(*pair) for pair in called], "begin": first,
             "end": called[-1][1][0] + 1, "marks": run.marks},
            {"ticks": [ticks_between(start, stop) for count, start, stop in replied
                       if start[0] > first][:repeats]})


async def measure_polls(lab: Any, layer: str, repeats: int) -> dict[str, Any]:
    """Polls in a row that find nothing."""
    async def poller(node: Node) -> Any:
        side = AmEndpoint(node, REQUESTS)
        await open_to(side, [1])
        await side.am.poll()
        start = stamp(node)
        for _ in range(repeats):
            await side.am.poll()
        stop = stamp(node)
        await close_to(side, [1])
        return start, stop

    run = await lab.run(programs(lab, {0: poller, 1: server(on(layer))}), trace=True)
    start, stop = run.results[0]
    return {"ticks": ticks_between(start, stop), "count": repeats, "begin": start[0],
            "end": stop[0], "marks": run.marks}


async def measure_finding(lab: Any, count: int, apart: int) -> dict[str, Any]:
    """A poll that finds ``count`` messages; all arrive within ``apart`` cycles."""
    async def sender(node: Node) -> None:
        side = AmEndpoint(node, REQUESTS)
        await open_to(side, [1])
        await node.port.delay(apart)
        for _ in range(count):
            await side.request(1, 1)
        await node.port.delay(4 * apart)
        await close_to(side, [1])

    async def finder(node: Node) -> Any:
        side = AmEndpoint(node, REQUESTS)
        await side.open()
        await side.wait(lambda: side.received >= 8)
        await side.am.poll()
        await node.port.delay(5 * apart // 2)
        start = stamp(node)
        await side.am.poll()
        stop = stamp(node)
        handled = side.received - 8
        await side.wait(lambda: side.stopped)
        await side.close()
        return start, stop, handled

    run = await lab.run(programs(lab, {0: sender, 1: finder}), trace=True)
    start, stop, handled = run.results[1]
    return {"ticks": ticks_between(start, stop), "handled": handled, "begin": start[0],
            "end": stop[0], "marks": run.marks}
