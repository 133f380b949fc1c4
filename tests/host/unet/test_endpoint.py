"""The side of an exchange that benchmarks use: many nodes at once, and nothing is lost where the
network loses nothing."""

from collections import Counter

import pytest
from nicbed.host.endpoint import Exchange
from nicbed.host.unet.endpoint import UnetEndpoint

from tests.models.target import Model
from tests.programs.unet import LIMIT, describe

START = 400_000
"""Cycles after which every node has opened its channels."""


def counts(exchange: Exchange, nodes: int, **knobs):
    async def program(node):
        side = UnetEndpoint(node, exchange)
        got: Counter[int] = Counter()

        def message(source, stream):
            got[source] += 1
        side.on_message = message
        await side.open()
        await node.port.flush()
        await node.port.delay(max(0, START - node.port.cycle))
        for _ in range(exchange.count):
            for peer in exchange.to(node.home):
                await side.send(peer)
        await side.finish()
        await side.close()
        return dict(got), await side._endpoint.dropped()

    description = describe(fabric__nodes=nodes, **knobs)
    return Model(description).run([program] * nodes, limit=LIMIT).results


@pytest.mark.parametrize("size", [4, 200])
def test_fifteen_to_one(size):
    ways = {node: (0,) for node in range(1, 16)}
    found = counts(Exchange(size, 6, ways), 16)
    assert found[0] == (dict.fromkeys(range(1, 16), 6), (0, 0))


@pytest.mark.parametrize("size, knobs", [(0, {}), (4, {}), (500, {"unet__buffers": "direct"})])
def test_all_to_all(size, knobs):
    nodes, count = 4, 12
    ways = {node: tuple(peer for peer in range(nodes) if peer != node) for node in range(nodes)}
    found = counts(Exchange(size, count, ways), nodes, **knobs)
    assert found == [(dict.fromkeys(ways[node], count), (0, 0)) for node in range(nodes)]
