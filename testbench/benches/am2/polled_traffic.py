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

PAUSE = 2000
"""Cycles between two looks of a sender at whether all have arrived."""
PairRun = Mapping[str, Any]
"""Ticks of traffic between two processes: ``rtt``, ``o_s``, ``o_r``, ``g``; ``poll``: of the poll
in a send."""
MixRun = Mapping[str, int]
"""Counts of polls, and of messages that they found: of the network (``network_…``), and all."""


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
    found, between = spans(single["marks"]), (single["begin"], single["end"])
    polls = [poll.own for request, poll in polls_in(found, 0)
             if between[0] <= request.begin < between[1]]
    return {"rtt": Fraction(sum(single["trips"]), trips),
            "o_s": mean_own(found, Activity.REQUEST_SEND, 0, between),
            "o_r": mean_own(found, Activity.REQUEST_HANDLE, 1, between),
            "poll": Fraction(sum(polls), max(len(polls), 1)),
            "g": true_gap(stream["issued"])}


async def measure_mix(lab: Any, places: Sequence[tuple[int, int]], counts: tuple[int, int],
                      apart: int) -> MixRun:
    """To the first of the ``places``, which polls all the time, come ``counts`` messages: from the
    second, which is on its node, back to back, and from the third, which is not, evenly over that
    time, if one of the node's takes ``apart`` cycles. Polls count from the second half on: adaptive
    polling goes by its last 32 looks at the network, which take a thousand polls."""
    total, begun, done = sum(counts), False, False

    async def receiver(node: Node) -> dict[str, int]:
        nonlocal begun, done
        side = Am2Endpoint(node, exchange)
        await side.open()
        polling = side.am.am2.polling
        began = polling.messages, polling.network_messages
        begun = True
        await side.receive(total // 2)
        half = polling.polls, polling.network_polls
        await side.receive(total)
        found = {"polls": polling.polls - half[0],
                 "network_polls": polling.network_polls - half[1],
                 "messages": polling.messages - began[0],
                 "network_messages": polling.network_messages - began[1]}
        done = True
        await side.close()
        return found

    def sender(count: int, pause: int) -> Any:
        async def program(node: Node) -> None:
            side = Am2Endpoint(node, exchange)
            await side.open()
            while not begun:  # not all processes are open at the same time
                await side.idle(PAUSE)
            for _ in range(count):
                if pause:
                    await side.compute(pause)
                await side.send(0)
            while not done:  # to close takes messages, too
                await side.idle(PAUSE)
            await side.close()
        return program

    exchange = Exchange(4)
    seen = Processes(lab, places)
    local, remote = counts
    run = await seen.run(programs(seen, {
        0: receiver, 1: sender(local, 0), 2: sender(remote, apart * local // max(remote, 1))}))
    return run.results[0]
