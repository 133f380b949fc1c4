"""A job for the whole target: what a VI engine sends again, by its register and by the trace."""

from typing import Any

from nicbed.host.via.session import Session
from nicbed.layouts.registers import address
from nicbed.testbench.benches.common.programs import programs
from nicbed.testbench.lab import Lab

MESSAGES, BYTES = 24, 64


def _side(sends: bool) -> Any:
    async def program(node: Any) -> int:
        party = Session(node)
        await party.open()
        vi = await party.endpoint()
        arena = await party.arena(MESSAGES)
        data = await party.memory(BYTES)
        made = [await party.descriptor(arena, [data.segment(BYTES)]) for _ in range(MESSAGES)]
        if not sends:
            for descriptor in made:
                await party.post_receive(vi, descriptor, arena)
        await party.connect(vi)
        for descriptor in made:
            if sends:
                await party.post_send(vi, descriptor, arena)
                await party.complete_send(vi)
            else:
                await party.received(vi)
        await node.port.delay(100_000)  # until what is under way has been acknowledged
        with node.port.in_kernel():
            return await node.port.pio_read(address("via_resent"))
    return program


async def streams(lab: Lab) -> list[dict[str, Any]]:
    """With faults and without, traced and not: packets sent again, by whom, and what the sender's
    register says."""
    found = []
    for drop in (0.0, 0.1):
        for trace in (False, True):
            run = await lab.run(programs(lab, {0: _side(True), 1: _side(False)}), trace=trace,
                                settings={"faults.drop": drop, "via.retry_timeout": 3000},
                                limit=4_000_000)
            engine = {one: count for one, count in run.again.items() if one.layer == "VI engine"}
            found.append({"drop": drop, "again": sum(engine.values()),
                          "who": [one.layer for one in engine], "register": run.results[0]})
    return found
