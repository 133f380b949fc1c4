"""VIPL over a network that loses: the kernel agents send again in whatever calls a program makes.

On both design points, with and without an engine."""

import pytest
from nicbed.host.via import VIP_RETURN, ErrorCode, NetAddress
from nicbed.host.via.agent.channel import MessageKind
from nicbed.host.via.kernel import Kernel
from nicbed.layouts.packet import HEADER, Protocol

from tests.labs.rows import more
from tests.models.target import Model
from tests.programs.am import describe
from tests.programs.vipl import RD, RR, SMALL, SUCCESS, Side, run

TIMEOUT = 2000
BAD = {"faults__drop": 0.3, "faults__duplicate": 0.2, "faults__corrupt": 0.05,
       "via__retry_timeout": TIMEOUT}
DESIGNS = pytest.mark.parametrize("design", ["engine", "kernel"])


async def rest(side, cycles):
    await side.node.port.delay(cycles)
    return await side.node.port.flush()


async def close(side):
    await side.vipl.VipDisconnect(side.vi)
    assert await side.vipl.VipDestroyVi(side.vi) is SUCCESS
    assert await side.vipl.VipDeregisterMem(side.nic, side.va, side.handle) is SUCCESS
    assert await side.vipl.VipCloseNic(side.nic) is SUCCESS


def drop_first(kind):
    """A rule for ModelNic.lose: the first control message of this kind."""
    seen = []

    def rule(data):
        header = int.from_bytes(data[:8], "little")
        if (HEADER.get(header, "protocol"), HEADER.get(header, "detail")) != (
                Protocol.VIA_CONTROL, kind):
            return False
        seen.append(kind)
        return len(seen) == 1

    rule.seen = seen
    return rule


def run_losing(kind, client, server, **settings):
    """Both programs; the first message of ``kind`` from node 0 is lost."""
    model = Model(describe(SMALL, {"via.retry_timeout": TIMEOUT, **settings}))
    rule = model.nics[0].lose = drop_first(kind)
    results = model.run([client, server], limit=40_000_000).results
    assert rule.seen == [kind] * 2
    return results


@pytest.mark.parametrize("seed", [*range(10), *map(more, range(10, 40))])
def test_peers_meet_again_and_again(seed):
    async def program(node):
        me = node.number
        side = await Side(node, RD).open()
        vipl = side.vipl
        here, there = NetAddress(me, b"a%d" % me), NetAddress(1 - me, b"a%d" % (1 - me))
        for _ in range(3):
            assert await vipl.VipConnectPeerRequest(side.vi, here, there, None) is SUCCESS
            result = VIP_RETURN.NOT_DONE
            while result is VIP_RETURN.NOT_DONE:
                call = vipl.VipConnectPeerWait if me else vipl.VipConnectPeerDone
                result, _ = await call(side.vi)
            assert result is SUCCESS
            if me:
                while not side.errors:
                    await vipl.VipRecvDone(side.vi)
                assert side.errors.pop() is ErrorCode.CONN_LOST
            else:
                await rest(side, 10_000)
            await vipl.VipDisconnect(side.vi)
        await close(side)

    run(program, program, faults__seed=seed, **BAD)


@DESIGNS
@pytest.mark.parametrize("seed", [*range(8), *map(more, range(8, 20))])
def test_a_server_refuses_and_accepts(design, seed):
    async def client(node):
        side = await Side(node).open()
        results = []
        while SUCCESS not in results:
            result, _ = await side.vipl.VipConnectRequest(side.vi, NetAddress(0),
                                                          NetAddress(1, b"port"), None)
            if result is not VIP_RETURN.NO_MATCH:
                results.append(result)
        await close(side)
        return results

    async def server(node):
        side = await Side(node).open()
        for accept in (False, False, True):
            result, _, _, connection = await side.vipl.VipConnectWait(
                side.nic, NetAddress(1, b"port"), None)
            assert result is SUCCESS
            if accept:
                assert await side.vipl.VipConnectAccept(connection, side.vi) is SUCCESS
            else:
                assert await side.vipl.VipConnectReject(connection) is SUCCESS
        while not side.errors:
            await side.vipl.VipQueryVi(side.vi)
        await close(side)

    found = run(client, server, faults__seed=seed, via__design=design, **BAD)
    assert found[0] == [VIP_RETURN.REJECT] * 2 + [SUCCESS]


def calls(side):
    """What a program may do that blocks nowhere."""
    vipl = side.vipl
    return {"query": lambda: vipl.VipQueryVi(side.vi),
            "nothing posted": lambda: vipl.VipSendDone(side.vi),
            "nothing to wait for": lambda: vipl.VipSendWait(side.vi, None),
            "nothing done": lambda: vipl.VipRecvDone(side.vi),
            "no time": lambda: vipl.VipRecvWait(side.vi, 0),
            "refused": lambda: vipl.VipDestroyPtag(side.nic, side.tag),
            "no entry": lambda: vipl.VipCQDone(side.spare),
            "posting": lambda: side.send(side.segment(0, 8))}


CALLS = ["query", "nothing posted", "nothing to wait for", "nothing done", "no time", "refused",
         "no entry", "posting"]


@DESIGNS
@pytest.mark.parametrize("call", CALLS)
def test_any_call_sends_again(design, call):
    """A lost CONFIRM: the client makes calls of one kind only, and the server gets its VI."""
    accepted = []

    async def client(node):
        side = await Side(node).open()
        result, side.spare = await side.vipl.VipCreateCQ(side.nic, 8)
        assert result is SUCCESS
        await side.receive(side.segment(0, 8))
        await rest(side, 20_000)
        await side.connect()
        for _ in range(3000):
            if accepted:
                break
            await calls(side)[call]()
            if call == "posting":
                await rest(side, TIMEOUT)
        connections = node.service(Kernel).connections
        return accepted[0], connections.channel.resent

    async def server(node):
        side = await Side(node).open()
        for _ in range(32):
            await side.receive(side.segment(0, 8))
        await side.connect()
        accepted.append(await rest(side, 0))
        await rest(side, 100_000)

    (_, resent), _ = run_losing(MessageKind.CONFIRM, client, server, **{"via.design": design})
    assert resent == 1


@DESIGNS
@pytest.mark.parametrize("queue", [False, True])
def test_a_spinning_wait_sends_again(design, queue):
    """Spinning is not being away: the lost CONFIRM comes long before the spin is over."""
    async def client(node):
        side = await Side(node).open(receive_cq=8 if queue else 0)
        await side.receive(side.segment(0, 8))
        await rest(side, 20_000)
        await side.connect()
        begin = await rest(side, 0)
        if queue:
            result, vi, receive = await side.vipl.VipCQWait(side.cqs[1], None)
            assert (result, vi, receive) == (SUCCESS, side.vi, True)
        else:
            result, _ = await side.vipl.VipRecvWait(side.vi, None)
            assert result is SUCCESS
        return await rest(side, 0) - begin

    async def server(node):
        side = await Side(node).open()
        await side.connect()
        await side.send(side.segment(0, 8))
        assert (await side.vipl.VipSendWait(side.vi, None))[0] is SUCCESS
        for _ in range(20):
            await side.vipl.VipQueryVi(side.vi)

    took, _ = run_losing(MessageKind.CONFIRM, client, server,
                         **{"via.design": design, "via.spin": 5_000_000})
    assert TIMEOUT / 2 < took < 40 * TIMEOUT


@DESIGNS
@pytest.mark.parametrize("level", [RD, RR], ids=lambda level: level.name)
def test_an_error_is_told_by_the_check_that_finds_something(design, level):
    """A receive is done, then the connection breaks: VipRecvDone hands out the one and has called
    the error handler with the other when it returns."""
    broken = []

    async def server(node):
        side = await Side(node, level).open()
        va = await side.receive(side.segment(0, 8))
        await side.connect()
        await rest(side, 60_000)
        await side.vipl.VipQueryVi(side.vi)
        assert not side.errors
        broken.append(True)
        await rest(side, 100_000)
        assert await side.vipl.VipRecvDone(side.vi) == (SUCCESS, va)
        assert side.errors == [ErrorCode.CONN_LOST]

    async def client(node):
        side = await Side(node, level).open()
        await side.connect()
        for _ in range(2):
            await side.send(side.segment(0, 8))
            while not broken:
                await side.vipl.VipQueryVi(side.vi)
        while not side.errors:
            await side.vipl.VipQueryVi(side.vi)

    run(client, server, via__design=design)
