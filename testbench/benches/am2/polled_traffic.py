"""Traffic by which the polling of two protocols is measured: a round trip, sends and a stream
between two processes, and messages of both protocols that come to one."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ....host.am2.endpoint import Am2Endpoint
from ....host.endpoint import Exchange
from ....host.port.node import Node
from ....layouts.trace import Activity
from ...truth.spans import polls_in, spans
from ...truth.steady import mean_own, true_gap
from ..am.logp import measure_curve, measure_trips
from ..common.processes import Processes
from ..common.programs import programs

__all__ = ["MixRun", "PairRun", "Under", "measure_mix", "measure_pair"]

PairRun = Mapping[str, Any]
"""Ticks of traffic between two processes: ``rtt``, ``o_s``, ``o_r``, ``g``; ``poll``: of the poll
in a send."""
MixRun = Mapping[str, int]
"""Counts of polls, and of messages that they found: of the network, and of both."""


class Under:
    """``lab`` with ``knobs`` in all of its runs."""

    def __init__(self, lab: Any, knobs: Mapping[str, Any]) -> None:
        self._lab = lab
        self._knobs = knobs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lab, name)

    async def run(self, programs: Any, **options: Any) -> Any:
        """As of the lab."""
        return await self._lab.run(programs, settings=self._knobs, **options)


async def measure_pair(lab: Any, layer: str, trips: int, issues: int) -> PairRun:
    """Requests of one word from process 0 of ``lab`` to process 1: ``trips`` round trips and a
    stream of ``issues``."""
    single = await measure_trips(lab, layer, count=trips)
    stream = await measure_curve(lab, layer, issues, 0)
    found = spans(stream["marks"])
    start = stream["begin"] + stream["issued"][issues // 2]
    steady = start, stream["begin"] + stream["issued"][-1]
    polls = [poll.own for request, poll in polls_in(found, 0) if start <= request.begin < steady[1]]
    return {"rtt": Fraction(sum(single["trips"]), trips),
            "o_s": mean_own(found, Activity.REQUEST_SEND, 0, steady),
            "o_r": mean_own(found, Activity.REQUEST_HANDLE, 1, steady),
            "poll": Fraction(sum(polls), max(len(polls), 1)),
            "g": true_gap(stream["issued"])}


async def measure_mix(lab: Any, places: Sequence[tuple[int, int]], counts: tuple[int, int],
                      apart: int) -> MixRun:
    """To the first of the ``places`` come ``counts`` messages from the second, which is on its
    node, and from the third, which is not: one every ``apart`` cycles, of both together, evenly.
    The first polls all the time."""
    total = sum(counts)

    async def receiver(node: Node) -> dict[str, int]:
        side = Am2Endpoint(node, exchange)
        await side.open()
        polling = side.am.am2.polling

        def reading() -> dict[str, int]:
            return {"polls": polling.polls, "network_polls": polling.network_polls,
                    "messages": polling.messages, "network_messages": polling.network_messages}

        before = reading()
        await side.receive(total)
        found = {name: value - before[name] for name, value in reading().items()}
        await side.close()
        return found

    def sender(count: int) -> Any:
        async def program(node: Node) -> None:
            side = Am2Endpoint(node, exchange)
            await side.open()
            for _ in range(count):
                await side.compute(apart * total // count)
                await side.send(0)
            await side.close()
        return program

    exchange = Exchange(4)
    seen = Processes(lab, places)
    run = await seen.run(programs(seen, {0: receiver, 1: sender(counts[0]), 2: sender(counts[1])}))
    return run.results[0]
