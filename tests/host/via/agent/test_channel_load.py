"""Packets of the kernel agents under load, on the model target: without a loss none is sent again,
however short the time-out, and however long a peer does something else."""

import pytest
from nicbed.host.port.sent_again import Cause
from nicbed.host.via.agent.channel import Channel, MessageKind
from nicbed.host.via.kernel import Kernel
from nicbed.layouts.packet import HEADER, Protocol

from tests.models.target import Model
from tests.programs.vipl import SMALL, Side, connect, describe

PATIENT = 10_000_000
"""A time-out, in cycles, that never passes here."""
DESIGNS = pytest.mark.parametrize("design", ["engine", "kernel"])


async def stay(side: Side, enough) -> None:
    """Be in blocking calls until ``enough()``."""
    while not enough():
        await side.vipl.kernel.doze(side.node.port.cycle + 1000)
    await side.vipl.kernel.attend()


def connects(clients: int, timeout: int, design: str, away: int = 0, lose=None, vis: int = 1
             ) -> tuple[int, list[Channel]]:
    """``clients`` nodes connect ``vis`` VIs each to node 0, which computes for ``away`` cycles
    before it opens its NIC and before each connection. Node 1's uplink drops what ``lose`` says.
    The cycle in which all are connected, and the nodes' channels."""
    ended: list[int] = []
    total = 2 * clients * vis

    def over() -> bool:
        return len(ended) == total

    async def serves(node):
        await node.port.delay(away)
        side = await Side(node).open(vi=False)
        for _ in range(clients * vis):
            await node.port.delay(away)
            await connect(side.vipl, side.nic, await side.create(), 0, client=False)
            ended.append(node.port.cycle)
        await stay(side, over)
        return node.service(Kernel).connections.channel

    async def asks(node):
        side = await Side(node).open(vi=False)
        for _ in range(vis):
            await connect(side.vipl, side.nic, await side.create(), 0, client=True)
            ended.append(node.port.cycle)
        await stay(side, over)
        return node.service(Kernel).connections.channel

    model = Model(describe(SMALL, {"fabric.nodes": clients + 1, "via.design": design,
                                   "via.vis": 16, "via.retry_timeout": timeout}))
    if lose is not None:
        model.nics[1].lose = lose
    lanes = model.run([serves] + [asks] * clients, limit=20_000_000).results
    assert all(lane.again.total() == lane.resent for lane in lanes)
    return max(ended), lanes


@DESIGNS
@pytest.mark.parametrize("clients", [
    3, *(pytest.param(clients, marks=pytest.mark.full) for clients in (1, 8, 15))])
def test_many_clients(design, clients):
    longest, lanes = connects(clients, PATIENT, design)
    assert sum(lane.resent + lane.probes for lane in lanes) == 0
    for timeout in (1000, 20_000):
        cycles, lanes = connects(clients, timeout, design)
        assert sum(lane.resent for lane in lanes) == 0
        assert cycles < 1.1 * longest


@DESIGNS
def test_a_server_that_is_away(design):
    """It is asked, with ever longer pauses, and nothing is sent again."""
    away, timeout = 300_000, 2000
    _, lanes = connects(2, timeout, design, away)
    assert sum(lane.resent for lane in lanes) == 0
    assert 0 < sum(lane.probes for lane in lanes) < 10 * away / (4 * timeout)


class Loses:
    """A rule for ModelNic.lose: the messages of ``kind`` with these numbers, from 0 on."""

    def __init__(self, kind: MessageKind, *which: int) -> None:
        self.kind, self.which, self.seen = kind, which, 0

    def __call__(self, data: bytes) -> bool:
        header = int.from_bytes(data[:8], "little")
        if (HEADER.get(header, "protocol"), HEADER.get(header, "detail")) != (
                Protocol.VIA_CONTROL, self.kind):
            return False
        self.seen += 1
        return self.seen - 1 in self.which


@pytest.mark.parametrize(("kind", "which", "resent"), [
    (MessageKind.REQUEST, (0,), 1), (MessageKind.REQUEST, (0, 1, 2), 3),
    (MessageKind.CONFIRM, (0, 1), 2), (MessageKind.ACK, (0,), 0)])
def test_only_what_was_lost_goes_again(kind, which, resent):
    """A second loss costs a round trip, not a time-out."""
    timeout = 20_000
    lossless, _ = connects(1, timeout, "engine")
    rule = Loses(kind, *which)
    cycles, lanes = connects(1, timeout, "engine", lose=rule)
    assert rule.seen >= len(which)
    assert sum(lane.again.total(Cause.ANSWER) for lane in lanes) == resent
    assert sum(lane.resent for lane in lanes) == resent
    assert cycles < lossless + 1.5 * timeout + 1000 * resent


def test_old_answers_are_ignored():
    """A lost request is asked for three times while the server is away: the three answers come
    together, and it goes again once."""
    rule = Loses(MessageKind.REQUEST, 0)
    _, lanes = connects(1, 2000, "engine", away=30_000, lose=rule)
    assert sum(lane.probes for lane in lanes) > 3
    assert sum(lane.resent for lane in lanes) == 1
