"""All processes but one send to that one over the NICs, on any target."""

from collections import Counter
from typing import Any

from nicbed.testbench.lab import Lab

from tests.programs.am2_network import REPLIES, REQUESTS, Party, data_of, describe, name, parties

__all__ = ["check", "crowd", "crowded", "run_crowd"]

CPUS = 4
"""Of each node."""
LIMIT = 100_000_000


def crowded(nodes: int, **knobs: Any) -> Any:
    """The description."""
    return describe(**{"fabric.nodes": nodes, "node.cpus": CPUS, "am2.frames": 4,
                       "am2.endpoints": 4, "processor.memory": 131072, **knobs})


def crowd(nodes: int, count: int, size: int) -> list[Any]:
    """Programs: each process but one sends that ``count`` requests, with ``size`` bytes of data if
    that is not 0. They return what came, and how often their NIC sent again."""
    async def receive(party: Party) -> tuple[list[Any], int]:
        await party.until(lambda: len(party.got) == (nodes * CPUS - 1) * count)
        await party.quiet(20_000)
        return party.got, (await party.counters())["resent"]

    async def send(party: Party) -> tuple[list[Any], int]:
        data = data_of(1, size) if size else None
        for number in range(count):
            await party.request(name(0), number, data=data)
        await party.until(lambda: len(party.got) == count)
        return party.got, (await party.counters())["resent"]

    return parties([receive, *[send] * (CPUS - 1)], *[[send] * CPUS] * (nodes - 1))


def check(results: list[Any], count: int) -> None:
    """All messages have come once and in order, no NIC has sent again, and when the first sender
    had all of its messages taken, some of each other one had been."""
    (got, _), *others = ends = [end for node in results for end in node]
    orders: dict[Any, list[int]] = {}
    taken: Counter[Any] = Counter()
    heard = []
    for one in got:
        assert one.opcode in REQUESTS
        orders.setdefault(one.sender, []).append(one.arguments[0])
        taken[one.sender] += 1
        if taken[one.sender] == count:
            heard.append(len(taken))
    assert len(orders) == heard[0] == len(others)
    assert all(numbers == list(range(count)) for numbers in orders.values())
    for replies, _ in others:
        assert [one.arguments[0] for one in replies if one.opcode in REPLIES] == list(range(count))
    assert sum(again for _, again in ends) == 0


async def run_crowd(lab: Lab, count: int, size: int) -> int:
    """Run a crowd, check it, and return its cycles."""
    run = await lab.run(crowd(lab.description.fabric.nodes, count, size), limit=LIMIT)
    check(run.results, count)
    return run.cycles
