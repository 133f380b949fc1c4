"""Active Messages whose layer forgets a flush, on a bus that is not coherent."""

from typing import Any

from nicbed.host.am import Gam
from nicbed.host.nic.done_count import Report
from nicbed.testbench.lab import Lab

__all__ = ["forgets"]

COUNT = 300
"""More than the entries of the queue and the slots of the ring."""


async def forgets(lab: Lab, what: str) -> None:
    """Node 0 makes requests; both nodes' layers do not flush an "entry", a "slot" or a "report"."""
    def forget(am: Gam) -> None:
        if what == "entry":
            am._sending.way._flushes = False
        elif what == "slot":
            am._polling._receiving._flushes = False
        else:
            Report._put_look = lambda report: report.port.put_touch(report.place, 8)

    async def asks(node: Any) -> None:
        am = Gam(node, [lambda am, source, *words: am.reply(1, *words), lambda *_: None])
        forget(am)
        await am.enable()
        for number in range(COUNT):
            await am.request(1, 0, number, 1, 2, 3)
        await am.disable()

    async def serves(node: Any) -> None:
        am = Gam(node, [lambda am, source, *words: am.reply(1, *words), lambda *_: None])
        forget(am)
        await am.enable()
        await am.disable()

    await lab.run([asks, serves], limit=20_000_000)
