"""Jobs whose time line is drawn."""

from typing import Any

from nicbed.host.am import Gam
from nicbed.layouts.trace import Block, Kind
from nicbed.testbench.lab import Lab

TRIPS = 4


def plan(fails: bool) -> Any:
    async def program(node: Any) -> int:
        replies: list[int] = []

        async def on_request(am: Any, source: int, word: int) -> None:
            await am.reply(1, word)

        def on_reply(am: Any, source: int, word: int) -> None:
            replies.append(word)

        gam = Gam(node, [on_request, on_reply])
        await gam.enable()
        if node.number == 0:
            for n in range(TRIPS):
                await gam.request(1, 0, n)
                await gam.wait(lambda n=n: len(replies) > n)
            if fails:
                raise ValueError("on purpose")
        await gam.disable()
        return len(replies)
    return program


async def round_trips(lab: Lab) -> dict[str, Any]:
    """A few round trips: cycles, results, and the cycles for which node 0's uplink was busy."""
    traced = await lab.run([plan(False)] * 2, trace=True)
    plain = await lab.run([plan(False)] * 2, marks=False)
    assert not plain.events and not plain.marks and plain.cycles == traced.cycles
    busy = sum(event.cycle * (1 if event.kind == Kind.END else -1) for event in traced.events
               if event.block == Block.SEND_LINK and event.node == 0)
    return {"cycles": traced.cycles, "results": traced.results, "uplink": 2 * busy}


async def failing(lab: Lab) -> None:
    """A program that fails after its messages."""
    await lab.run([plan(True)] * 2)
