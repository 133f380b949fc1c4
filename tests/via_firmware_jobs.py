"""Jobs in a simulator with VIA's firmware: round trips, with other VIs open beside the one."""

from typing import Any

from nicbed.host.via.returns import VIP_RETURN
from nicbed.layouts.trace import TICKS
from nicbed.layouts.via import Reliability
from vipl_programs import Side

__all__ = ["pingpong", "round_trips"]

SUCCESS = VIP_RETURN.SUCCESS


def pingpong(vis: int, size: int, rounds: int, level: int) -> list[Any]:
    """Programs of two nodes that have ``vis`` VIs open each: the client's result is the cycles of
    its round trips, the server's the last bytes it got."""
    def on(number: int) -> Any:
        async def program(node: Any) -> Any:
            side = await Side(node, Reliability(level)).open(vi=False)
            others = [await side.create() for _ in range(vis - 1)]
            side.vi = await side.create()
            vipl, vi = side.vipl, side.vi
            posts = [await side.make(side.segment(4096 + 8 * place, size)) for place in range(2)]
            for va, handle in posts:
                assert await vipl.VipPostRecv(vi, va, handle) is SUCCESS
            send = await side.make(side.segment(0, size))
            side.process.write(side.va, bytes([number + 1]) * size)
            await side.connect()
            times = []
            for turn in range(rounds):
                begin = await node.port.now()
                if number == 0:
                    assert await vipl.VipPostSend(vi, *send) is SUCCESS
                result, done = await vipl.VipRecvWait(vi, None)
                assert result is SUCCESS and done == posts[turn % 2][0], (result, done)
                assert await vipl.VipPostRecv(vi, *posts[turn % 2]) is SUCCESS
                if number == 1:
                    assert await vipl.VipPostSend(vi, *send) is SUCCESS
                result, _ = await vipl.VipSendWait(vi, None)
                assert result is SUCCESS, result
                times.append((await node.port.now() - begin) // TICKS)
            assert len(others) == vis - 1 and not side.errors, side.errors
            return times if number == 0 else side.process.read(side.va + 4096, size)
        return program

    return [on(0), on(1)]


async def round_trips(lab: Any, settings: dict[str, Any], vis: int, size: int, rounds: int = 6,
                      level: int = 1) -> Any:
    run = await lab.run(pingpong(vis, size, rounds, level), settings=settings)
    return run.results
