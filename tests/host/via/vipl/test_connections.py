"""VIPL's connections on the model: client and server, peers, disconnection, lost messages."""

import pytest
from nicbed.host.via import VIP_INFINITE, VIP_RETURN, ErrorCode, NetAddress, VipState
from nicbed.host.via.agent.channel import Message, MessageKind
from nicbed.host.via.kernel import Kernel
from nicbed.layouts.via import Event, Status

from tests.programs.vipl import RD, RR, SUCCESS, UD, Side, run, run_pair

LEVELS = pytest.mark.parametrize("level", [UD, RD, RR], ids=lambda level: level.name)
HERE, THERE = NetAddress(0, b"port"), NetAddress(1, b"port")


async def rest(side, cycles):
    await side.node.port.delay(cycles)
    await side.node.port.flush()


async def state(side):
    result, status = await side.vipl.VipQueryVi(side.vi)
    assert result is SUCCESS
    return status.state


def test_nobody_waiting_is_no_match_at_once():
    async def client(node):
        side = await Side(node).open()
        await rest(side, 5000)
        request = side.vipl.VipConnectRequest
        assert await request(side.vi, HERE, THERE, None) == (VIP_RETURN.NO_MATCH, None)
        assert await state(side) is VipState.IDLE
        # Waiting elsewhere is not waiting here.
        assert await request(side.vi, HERE, NetAddress(1, b"other"), None) == (
            VIP_RETURN.NO_MATCH, None)

    async def server(node):
        side = await Side(node).open()
        wait = side.vipl.VipConnectWait
        assert (await wait(side.nic, NetAddress(1, b"elsewhere"), 3))[0] is VIP_RETURN.TIMEOUT

    run(client, server)


def test_reject_and_time_out_and_retry():
    """A server that does nothing lets the client time out; then it is too late to accept."""
    async def client(node):
        side = await Side(node).open()
        await rest(side, 5000)
        results = []
        for timeout in (None, 0.1, 100):
            result = VIP_RETURN.NO_MATCH
            while result is VIP_RETURN.NO_MATCH:
                result, remote = await side.vipl.VipConnectRequest(side.vi, HERE, THERE, timeout)
            results.append(result)
            await rest(side, 30_000)
        assert remote.max_transfer == 1 << 20 and remote.rdma_write and not remote.rdma_read
        assert await state(side) is VipState.CONNECTED
        return results

    async def server(node):
        side = await Side(node, rdma_write=True).open()
        vipl = side.vipl
        result, who, attributes, connection = await vipl.VipConnectWait(side.nic, THERE, None)
        assert (result, who, attributes.reliability) == (SUCCESS, HERE, RD)
        assert await vipl.VipConnectReject(connection) is SUCCESS
        assert await vipl.VipConnectReject(connection) is VIP_RETURN.INVALID_PARAMETER
        _, _, _, connection = await vipl.VipConnectWait(side.nic, THERE, None)
        await rest(side, 20_000)
        assert await vipl.VipConnectAccept(connection, side.vi) is VIP_RETURN.TIMEOUT
        assert await state(side) is VipState.IDLE
        _, _, _, connection = await vipl.VipConnectWait(side.nic, THERE, None)
        assert await vipl.VipConnectAccept(connection, side.vi) is SUCCESS

    assert run(client, server)[0] == [VIP_RETURN.REJECT, VIP_RETURN.TIMEOUT, SUCCESS]


def test_a_request_matches_by_the_remote_address_only():
    """Whatever the client calls itself, the server hears it."""
    async def client(node):
        side = await Side(node).open()
        await rest(side, 5000)
        for name in (b"whoever", b""):
            result = VIP_RETURN.NO_MATCH
            while result is VIP_RETURN.NO_MATCH:
                result, _ = await side.vipl.VipConnectRequest(side.vi, NetAddress(0, name), THERE,
                                                              None)
            assert result is VIP_RETURN.REJECT

    async def server(node):
        side, heard = await Side(node).open(), []
        for _ in range(2):
            _, who, _, connection = await side.vipl.VipConnectWait(side.nic, THERE, None)
            heard.append(who)
            await side.vipl.VipConnectReject(connection)
        await rest(side, 20_000)
        await side.vipl.VipQueryVi(side.vi)
        return heard

    assert run(client, server)[1] == [NetAddress(0, b"whoever"), NetAddress(0, b"")]


def test_attributes_must_match_and_can_be_mended():
    """A failed accept is not told to the client: the server tries until it fits."""
    async def client(node):
        side = await Side(node, max_transfer=5000, qos=3).open()
        await rest(side, 5000)
        result, _ = await side.vipl.VipConnectRequest(side.vi, HERE, THERE, None)
        return result

    async def server(node):
        side = await Side(node, UD, max_transfer=6000).open()
        vipl = side.vipl
        _, _, _, connection = await vipl.VipConnectWait(side.nic, THERE, None)
        results = [await vipl.VipConnectAccept(connection, side.vi)]
        side.level = RD
        for fields in ({}, {"max_transfer": 5000}, {"max_transfer": 5000, "qos": 3}):
            vi = await side.create(**fields)
            results.append(await vipl.VipConnectAccept(connection, vi))
        return results

    assert run(client, server) == [SUCCESS, [
        VIP_RETURN.INVALID_RELIABILITY_LEVEL, VIP_RETURN.INVALID_MTU, VIP_RETURN.INVALID_QOS,
        SUCCESS]]


def test_a_node_without_a_program_is_not_reachable():
    async def client(node):
        side = await Side(node).open()
        for remote in (THERE, NetAddress(77, b"port")):
            assert await side.vipl.VipConnectRequest(side.vi, HERE, remote, None) == (
                VIP_RETURN.NOT_REACHABLE, None)

    run(client, None)


@LEVELS
@pytest.mark.parametrize("who", [0, 1])
def test_disconnection_is_heard_and_flushes(level, who):
    async def program(side):
        vas = [await side.receive(side.segment(0, 10)) for _ in range(3)]
        assert await state(side) is VipState.CONNECTED
        await rest(side, 10_000)
        if side.node.number != who:
            while not side.errors:
                await state(side)
            assert side.errors == [ErrorCode.CONN_LOST]
            assert await state(side) is VipState.ERROR
            await side.send(side.segment(0, 10))
            assert (await side.vipl.VipSendWait(side.vi, 10))[0] is VIP_RETURN.DESCRIPTOR_ERROR
        assert await side.vipl.VipDisconnect(side.vi) is SUCCESS
        assert await state(side) is VipState.IDLE
        for va in vas:
            assert await side.vipl.VipRecvDone(side.vi) == (VIP_RETURN.DESCRIPTOR_ERROR, va)
            assert side.look(va).errors is Status.FLUSHED
        assert await side.vipl.VipRecvDone(side.vi) == (VIP_RETURN.DESCRIPTOR_ERROR, None)
        # And again.
        await rest(side, 100_000)
        await side.connect()
        assert await state(side) is VipState.CONNECTED
        return len(side.errors)

    assert run_pair(program, program, level) == [who == 1, who == 0]


@LEVELS
@pytest.mark.parametrize("late", [0, 1, None])
def test_peers(level, late):
    """Whoever comes first, and both at once; waiting and asking."""
    async def program(node):
        me = node.number
        side = await Side(node, level).open()
        here, there = NetAddress(me, b"a%d" % me), NetAddress(1 - me, b"a%d" % (1 - me))
        if me == late:
            await rest(side, 200_000)
        vipl = side.vipl
        assert await vipl.VipConnectPeerRequest(side.vi, here, there, None) is SUCCESS
        assert await state(side) in (VipState.CONNECT_PENDING, VipState.CONNECTED)
        if me:
            result, remote = await vipl.VipConnectPeerWait(side.vi)
        else:
            result = VIP_RETURN.NOT_DONE
            while result is VIP_RETURN.NOT_DONE:
                await rest(side, 500)
                result, remote = await vipl.VipConnectPeerDone(side.vi)
        assert result is SUCCESS and remote.reliability is level
        assert await state(side) is VipState.CONNECTED
        await side.receive(side.segment(0, 10))
        await rest(side, 50_000)
        await side.send(side.segment(0, 10))
        assert (await vipl.VipRecvWait(side.vi, VIP_INFINITE))[0] is SUCCESS
        assert (await vipl.VipSendWait(side.vi, VIP_INFINITE))[0] is SUCCESS
        assert (await vipl.VipConnectPeerDone(side.vi))[0] is VIP_RETURN.INVALID_STATE
        return side.errors

    assert run(program, program) == [[], []]


def test_peers_that_do_not_meet():
    """Wrong addresses and other attributes: TIMEOUT, the mismatch at both ends, then it works."""
    async def program(node):
        me = node.number
        side = await Side(node, max_transfer=1000 + me).open()
        vipl, results = side.vipl, []
        here = NetAddress(me, b"x")

        async def meet(remote, timeout):
            assert await vipl.VipConnectPeerRequest(side.vi, here, remote, timeout) is SUCCESS
            results.append((await vipl.VipConnectPeerWait(side.vi))[0])
            assert await state(side) is (VipState.CONNECTED if results[-1] is SUCCESS
                                         else VipState.IDLE)

        await meet(NetAddress(1 - me, b"nobody"), 1)
        await meet(NetAddress(1 - me, b"x"), None)
        side.vi = await side.create(max_transfer=1000)
        await rest(side, 100_000)
        await meet(NetAddress(1 - me, b"x"), None)
        return results

    wanted = [VIP_RETURN.TIMEOUT, VIP_RETURN.INVALID_MTU, SUCCESS]
    assert run(program, program) == [wanted, wanted]


@pytest.mark.parametrize("mine, wanted", [((b"a", b"b"), (b"c", b"b")),
                                          ((b"a", b"b"), (b"a", b"d"))])
def test_half_an_address_is_no_match(mine, wanted):
    """Each end has to name both discriminators."""
    async def program(node):
        side = await Side(node).open()
        me = node.number
        remote = NetAddress(1 - me, wanted[1 - me])
        await side.vipl.VipConnectPeerRequest(side.vi, NetAddress(me, mine[me]), remote, 2)
        return (await side.vipl.VipConnectPeerWait(side.vi))[0]

    assert run(program, program) == [VIP_RETURN.TIMEOUT] * 2


def test_a_peer_request_withdrawn():
    async def program(node):
        side = await Side(node).open()
        vipl = side.vipl
        remote = NetAddress(0, b"other end")
        assert await vipl.VipConnectPeerRequest(side.vi, HERE, remote, None) is SUCCESS
        assert await vipl.VipConnectPeerDone(side.vi) == (VIP_RETURN.NOT_DONE, None)
        assert await vipl.VipDestroyVi(side.vi) is VIP_RETURN.INVALID_STATE
        assert await vipl.VipDisconnect(side.vi) is SUCCESS
        assert await vipl.VipDestroyVi(side.vi) is SUCCESS

    run(program, None)


def test_a_node_connects_to_itself():
    """Two processes of one node, one after the other in one program."""
    async def program(node):
        sides = [await Side(node, RR, number=number).open() for number in (1, 2)]
        names = [NetAddress(0, b"one"), NetAddress(0, b"two")]
        for side, here, there in zip(sides, names, names[::-1], strict=True):
            await side.vipl.VipConnectPeerRequest(side.vi, here, there, None)
        for side in sides:
            assert (await side.vipl.VipConnectPeerWait(side.vi))[0] is SUCCESS
        sides[0].process.write(sides[0].va, b"within")
        await sides[1].receive(sides[1].segment(1020, 6))
        await sides[0].send(sides[0].segment(0, 6))
        assert (await sides[1].vipl.VipRecvWait(sides[1].vi, None))[0] is SUCCESS
        assert (await sides[0].vipl.VipSendWait(sides[0].vi, None))[0] is SUCCESS
        assert sides[1].process.read(sides[1].va + 1020, 6) == b"within"
        # Handles are the process's own.
        for call in (sides[0].vipl.VipRecvDone, sides[0].vipl.VipSendDone):
            assert (await call(sides[1].vi))[0] is VIP_RETURN.INVALID_PARAMETER

    run(program, None)


@pytest.mark.parametrize("seed", range(40))
def test_lost_and_doubled_messages(seed):
    """Control messages are sent again until they arrive, and count once: connect, disconnect and
    connect again, both ways, over a network that loses a third."""
    async def program(node):
        side = await Side(node, RD).open()
        for _ in range(3):
            await side.connect()
            if node.number == 0:
                await rest(side, 10_000)
                await side.vipl.VipDisconnect(side.vi)
            else:
                while not side.errors:
                    await side.vipl.VipQueryVi(side.vi)
                assert side.errors.pop() is ErrorCode.CONN_LOST
                await side.vipl.VipDisconnect(side.vi)
        await side.vipl.VipDestroyVi(side.vi)
        assert await side.vipl.VipDeregisterMem(side.nic, side.va, side.handle) is SUCCESS
        assert await side.vipl.VipCloseNic(side.nic) is SUCCESS
        return node.service(Kernel).connections.channel.resent

    found = run(program, program, faults__drop=0.3, faults__duplicate=0.2, faults__corrupt=0.05,
                faults__seed=seed, via__retry_timeout=2000)
    assert sum(found) > 0


def test_a_connection_is_lost_once_and_only_by_its_own_word():
    """What an earlier connection's end, another VI or another node says does not count; the NIC's
    word and the kernel agent's of the same loss are one."""
    async def first(side):
        connections, peer = side.node.service(Kernel).connections, side.vi.peer
        for node, connection, vi, other in (
                (0, peer.connection, peer.vi, side.vi.number),
                (1, peer.connection + 1, peer.vi, side.vi.number),
                (1, peer.connection, peer.vi + 1, side.vi.number),
                (1, peer.connection, peer.vi, side.vi.number + 1)):
            await connections._deliver(node, MessageKind.DISCONNECT,
                                       Message(connection, vi, other))
            assert await state(side) is VipState.CONNECTED and side.errors == []
        await connections._deliver(1, MessageKind.DISCONNECT,
                                   Message(peer.connection, peer.vi, side.vi.number))
        side.node.service(Kernel).report(Event.CONN_LOST, side.vi)
        assert await state(side) is VipState.ERROR
        return side.errors

    async def second(side):
        await rest(side, 100_000)

    assert run_pair(first, second)[0] == [ErrorCode.CONN_LOST]
