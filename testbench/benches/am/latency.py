"""Latency of Active Messages: requests of up to four words, or stores, in both directions; replies
carry no data."""

from typing import Any

from ....host.endpoint import Exchange
from ....host.port.node import Node
from ..common.programs import on, programs, stamp, ticks_between
from ..latency import Latency

__all__ = ["AmLatency"]


class AmLatency(Latency):
    """The same with fewer readings of the clock."""

    async def trips(self, lab: Any, layer: str, size: int, count: int, warm: int, *,
                    trace: bool = False) -> dict[str, Any]:
        make = on(layer, Exchange(size))

        async def client(node: Node) -> Any:
            side = make(node)
            await side.open()
            times = []
            for number in range(1, warm + count + 1):
                start = stamp(node)
                await side.send(1)
                await side.receive(number)
                times.append((start, stamp(node)))
            await side.close()
            return times[warm:]

        async def server(node: Node) -> None:
            side = make(node)
            await side.open()
            for number in range(1, warm + count + 1):
                await side.receive(number)
                await side.send(0)
            await side.close()

        run = await lab.run(programs(lab, {0: client, 1: server}))
        return {"trips": [ticks_between(*pair) for pair in run.results[0]]}
