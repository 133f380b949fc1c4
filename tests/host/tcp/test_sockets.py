"""Sockets: data both ways, select, opening and closing, under faults; the same functions run on the
target (test_target)."""

import random

import pytest
from nicbed.host.tcp import Errno, Tcp, TcpError

from tests.labs.rows import more
from tests.models.target import Model
from tests.programs.tcp import FAULTS, LIMIT, PORT, content, describe, pair, read_all

SIZES = [1, 983, 984, 985, 1968, 1969, 5000, 32768, 70000]
"""Around the longest segment (nic.mtu 1,024 less the headers) and the socket's buffer."""


def run(programs, nodes=2, **knobs):
    return Model(describe(nodes, **knobs)).run(programs, limit=LIMIT).results


def with_faults(seed):
    return {name.replace(".", "__"): value for name, value in FAULTS.items()} | {
        "faults__seed": seed}


@pytest.mark.parametrize("late", [False, True], ids=["reader waits", "reader comes late"])
def test_every_length(late):
    """Of each size once there and back; the source may be changed at once."""
    async def caller(tcp, socket):
        at = tcp.process.allocate(max(SIZES))
        for seed, size in enumerate(SIZES):
            tcp.process.write(at, content(size, seed))
            await socket.sendall_from([(at, size // 3), (at + size // 3, size - size // 3)])
            tcp.process.write(at, bytes(size))
            assert await read_all(socket, size) == content(size, seed)[::-1]
        return True

    async def answerer(tcp, socket):
        for size in SIZES:
            if late:
                await tcp.stack.port.delay(200_000)
            await socket.sendall((await read_all(socket, size))[::-1])
        return True

    assert run(pair(caller, answerer)) == [True, True]


@pytest.mark.parametrize("knobs", [{}, {"tcp__mss": 100, "tcp__socket_buffer": 700},
                                   {"tcp__delayed_ack": 0}],
                         ids=["default", "small", "each acknowledged"])
@pytest.mark.parametrize("seed", [1, *map(more, range(2, 8))])
def test_streams_under_faults(seed, knobs):
    """Both ways at once by select; nothing is lost, doubled or out of order."""
    total = 40_000 if "tcp__mss" not in knobs else 8_000

    async def both(tcp, socket, mine):
        plan = random.Random(seed * 2 + mine)
        out, wanted, got = content(total, mine), content(total, 1 - mine), b""
        while out or len(got) < total:
            readable, writable = await tcp.select([socket] if len(got) < total else [],
                                                  [socket] if out else [])
            if readable:
                got += await socket.recv(plan.choice([1, 500, 5000]))
            if writable:
                out = out[await socket.send(out[:plan.choice([1, 700, 3000])]):]
        return got == wanted and not await socket.shutdown() and await socket.recv(1) == b""

    found = run(pair(lambda tcp, socket: both(tcp, socket, 0),
                     lambda tcp, socket: both(tcp, socket, 1)), **with_faults(seed), **knobs)
    assert found == [True, True]


@pytest.mark.parametrize("faults", [False, True], ids=["no faults", "faults"])
def test_one_server_and_many_callers(faults):
    """select tells which of them has sent; each gets its own answers."""
    nodes, rounds = 4, 6

    async def server(node):
        async with Tcp(node) as tcp:
            listener = await tcp.socket()
            await listener.bind(PORT)
            await listener.listen()
            open_ones, ended = [], 0
            while ended < nodes - 1:
                readable, _ = await tcp.select([listener, *open_ones])
                for one in readable:
                    if one is listener:
                        open_ones.append(await listener.accept())
                        continue
                    data = await read_all(one, 4)
                    if data:
                        await one.sendall(bytes([one.peer[0]]) + data)
                    else:
                        ended += 1
                        open_ones.remove(one)
                        await one.close()
            return ended

    async def client(node):
        async with Tcp(node) as tcp:
            socket = await tcp.socket()
            await socket.connect(0, PORT)
            for number in range(rounds):
                data = bytes([number, node.number, 1, 2])
                await socket.sendall(data)
                assert await read_all(socket, 5) == bytes([node.number]) + data
                await node.port.delay(1000 * node.number)
        return True

    knobs = with_faults(3) if faults else {}
    assert run([server, *[client] * (nodes - 1)], nodes, **knobs) == [nodes - 1, True, True, True]


def test_select_gives_up_when_its_time_is_over():
    async def caller(tcp, socket):
        port = tcp.stack.port
        before = port.cycle
        assert await tcp.select([socket], timeout=0) == ([], [])
        at_once = port.cycle - before
        assert await tcp.select([socket], [socket]) == ([], [socket])
        before = port.cycle
        assert await tcp.select([socket], timeout=50_000) == ([], [])
        assert at_once < 5000 and 50_000 <= port.cycle - before < 60_000
        await socket.send(b"go")
        readable, _ = await tcp.select([socket], timeout=1_000_000)
        assert readable == [socket] and await socket.recv(10) == b"answer"
        return True

    async def answerer(tcp, socket):
        assert await socket.recv(10) == b"go"
        await socket.sendall(b"answer")
        return True

    assert run(pair(caller, answerer)) == [True, True]


def test_a_full_socket_is_not_writable_until_the_peer_reads():
    async def caller(tcp, socket):
        sent = 0
        while True:
            _, writable = await tcp.select([], [socket], 300_000)
            if not writable:
                break
            sent += await socket.send(bytes(8000))
        assert 65536 - 2000 < sent <= 65536
        await socket.sendall(bytes(100_000 - sent))
        return True

    async def answerer(tcp, socket):
        port = tcp.stack.port
        before = port.cycle
        await tcp.compute(3_000_000)
        assert tcp.stack.interrupts > 5 and port.cycle - before > 3_010_000
        return len(await read_all(socket, 100_000))

    assert run(pair(caller, answerer)) == [True, 100_000]


# Errors: one line each, that names both ends


def fails(code, *words):
    return pytest.raises(TcpError, match=".*".join((*words, code.name)))


def test_nobody_listens():
    async def caller(node):
        async with Tcp(node) as tcp:
            socket = await tcp.socket()
            with fails(Errno.ECONNREFUSED, "node 0", "connect to port 81 of node 1"):
                await socket.connect(1, 81)
        return True

    async def there(node):
        async with Tcp(node) as tcp:
            with fails(Errno.EINVAL, "node 1", "accept"):
                await (await tcp.socket()).accept()
            await tcp.stack.until(lambda: False, "the end", 500_000)
        return True

    assert run([caller, there]) == [True, True]


def test_nobody_answers():
    async def caller(node):
        async with Tcp(node) as tcp:
            with fails(Errno.ETIMEDOUT, "connect to port 80 of node 1"):
                await (await tcp.socket()).connect(1, 80)
        return True

    async def deaf(node):
        await node.port.delay(100)

    assert run([caller, deaf], tcp__retries=2)[0]


def test_a_reset_is_told_once_in_one_line():
    async def caller(tcp, socket):
        await socket.sendall(b"never read")
        with fails(Errno.ECONNRESET, "node 0 port 49152 to node 1 port 80: recv"):
            await socket.recv(1)
        with fails(Errno.ECONNRESET, "send"):
            await socket.send(b"x")
        return True

    async def answerer(tcp, socket):
        await tcp.select([socket])
        await socket.close()
        return True

    assert run(pair(caller, answerer)) == [True, True]


def test_a_peer_that_dies_is_noticed():
    async def caller(tcp, socket):
        await tcp.stack.port.delay(100_000)
        with fails(Errno.ETIMEDOUT, "node 0 port 49152 to node 1 port 80"):
            for _ in range(100):
                await socket.sendall(bytes(2000))
        return True

    async def server(node):
        tcp = Tcp(node)
        listener = await tcp.socket()
        await listener.bind(PORT)
        await listener.listen()
        await listener.accept()

    assert run([pair(caller, caller)[0], server], tcp__retries=2)[0]


def test_calls_without_meaning_are_refused():
    async def caller(tcp, socket):
        fresh = await tcp.socket()
        with fails(Errno.ENOTCONN, "node 0: send"):
            await fresh.send(b"x")
        with fails(Errno.ENOTCONN, "recv"):
            await fresh.recv(1)
        with fails(Errno.EINVAL, "listen"):
            await fresh.listen()
        with fails(Errno.EINVAL, "bind to port 0"):
            await fresh.bind(0)
        await fresh.bind(7)
        with fails(Errno.EADDRINUSE, "bind to port 7"):
            await (await tcp.socket()).bind(7)
        with fails(Errno.EHOSTUNREACH, "connect to port 80 of node 0"):
            await fresh.connect(0, 80)
        with fails(Errno.EHOSTUNREACH, "connect to port 80 of node 2"):
            await fresh.connect(2, 80)
        with fails(Errno.EISCONN, "connect"):
            await socket.connect(1, 80)
        with fails(Errno.EFAULT, "send"):
            await socket.send_from([(5, 8)])
        with fails(Errno.EINVAL, "recv"):
            await socket.recv(0)
        await socket.shutdown()
        with fails(Errno.EPIPE, "send"):
            await socket.send(b"x")
        await fresh.close()
        await fresh.close()
        with fails(Errno.EBADF, "node 0 port 7: bind"):
            await fresh.bind(8)
        return True

    async def answerer(tcp, socket):
        return await socket.recv(1) == b""

    assert run(pair(caller, answerer)) == [True, True]


def test_calls_from_one_port_again_and_again_use_one_buffer():
    """The end that closes first is in TIME_WAIT when the next call comes."""
    async def server(node):
        async with Tcp(node) as tcp:
            listener = await tcp.socket()
            await listener.bind(PORT)
            await listener.listen()
            for _ in range(4):
                socket = await listener.accept()
                assert await socket.recv(10) == b"x"
                await socket.close()
            return len(tcp.stack._areas)

    async def client(node):
        async with Tcp(node) as tcp:
            for _ in range(4):
                socket = await tcp.socket()
                await socket.bind(1000)
                await tcp.compute(20_000)
                await socket.connect(0, PORT)
                await socket.send(b"x")
                assert await socket.recv(10) == b""
                await socket.close()
                await tcp.compute(20_000)

    assert run([server, client], tcp__time_wait=400_000) == [1, None]


@pytest.mark.parametrize("interrupted", [True, False])
def test_a_peer_that_computes_answers_and_one_that_delays_does_not(interrupted):
    """The error says so."""
    cycles, length = 30_000_000, 100_000

    async def caller(tcp, socket):
        if interrupted:
            await socket.sendall(bytes(length))
            return
        with pytest.raises(TcpError, match="not while Port.delay occupies its CPU") as error:
            await socket.sendall(bytes(length))
        assert error.value.code is Errno.ETIMEDOUT

    async def late(tcp, socket):
        if interrupted:
            await tcp.compute(cycles)
            assert len(await read_all(socket, length)) == length
        else:
            await tcp.stack.port.delay(cycles)

    run(pair(caller, late))
