"""Exchanges over raw frames."""

import pytest
from nicbed.host.endpoint import Exchange
from nicbed.host.raw.endpoint import RawEndpoint
from nicbed.layouts.description import Description

from tests.models.target import Model

LIMIT = 3_000_000


def describe(nodes=2, **nic):
    return Description.model_validate({"via": {"design": "kernel"}, "nic": nic,
                                       "fabric": {"nodes": nodes}})


@pytest.mark.parametrize("size", [0, 1, 8, 24, 25, 1024, 1025, 5000])
def test_ping_pong(size):
    exchange = Exchange(size)

    def side(first):
        async def program(node):
            seen, end = [], RawEndpoint(node, exchange)
            end.on_message = lambda source, stream: seen.append(source)
            await end.open()
            await node.port.delay(1000)
            for number in range(1, 6):
                if first:
                    await end.send(1 - node.number)
                await end.receive(number)
                if not first:
                    await end.send(1 - node.number)
            await end.answer(1 - node.number)
            await end.receive(6)
            await end.close()
            return seen
        return program

    assert Model(describe()).run([side(True), side(False)], limit=LIMIT).results == [
        [1] * 6, [0] * 6]


@pytest.mark.parametrize("size", [16, 2000])
@pytest.mark.parametrize("nic", [{}, {"send_ring": 4, "receive_ring": 4, "send_fifo": 2048,
                                      "receive_fifo": 2048}], ids=["rings", "short rings"])
def test_all_to_all_ends(nic, size):
    """All send to all: whoever has no room takes what comes, so that no two wait for each other."""
    nodes, count = 4, 30
    exchange = Exchange(size, count=count, ways={
        one: [other for other in range(nodes) if other != one] for one in range(nodes)})

    async def program(node):
        end = RawEndpoint(node, exchange)
        await end.open()
        await node.port.delay(2000)
        for _ in range(count):
            for peer in exchange.to(node.number):
                await end.send(peer)
        await end.finish()
        await end.close()
        return end.received

    assert Model(describe(nodes, **nic)).run([program] * nodes, limit=LIMIT).results == [
        count * (nodes - 1)] * nodes
