"""What the kernel's path costs: every part is charged somewhere, and all CPU time is charged."""

from nicbed.host.port.costs import Costs, Path
from nicbed.host.tcp import costs

from tests.models.spent import cpu_cycles
from tests.models.target import Model
from tests.programs.tcp import LIMIT, describe, pair, read_all

SCALE = 3
PATHS = [path for path in vars(costs).values() if isinstance(path, Path)]


async def stream(tcp, socket):
    await socket.sendall(bytes(3000))
    await tcp.stack.port.delay(200_000)
    await socket.sendall(bytes(200_000))
    await socket.shutdown()
    assert await socket.recv(1) == b""


async def sink(tcp, socket):
    await tcp.select([socket])
    await read_all(socket)


def paths(**knobs):
    runtime = Model(describe(nic__send_ring=4, **knobs)).run(pair(stream, sink), limit=LIMIT)
    return runtime


def test_every_path_is_charged_with_its_factor():
    """And all counts at their prices are what each port charged."""
    description = describe(tcp__path_scale=SCALE, cpu__path_scale=2)
    runtime = paths(tcp__path_scale=SCALE, cpu__path_scale=2)
    charged = {name for port in runtime.ports for name in port.paths()}
    assert {path.name for path in PATHS} <= charged
    prices = Costs(description)
    for port in runtime.ports:
        whole = sum(charge.count * prices.cycles(path, SCALE if path in PATHS else None)
                    for charge in port._charges for path in charge.paths)
        whole += sum(prices.price[item] * count for item, count in port._items.items())
        whole += port._check_count * prices.price["poll_check"]
        assert cpu_cycles(port) == whole


def test_copies_and_checksums_are_charged_by_the_word():
    runtime = paths()
    sender, receiver = (port.tally() for port in runtime.ports)
    words = 203_000 // 8
    assert words <= sender["checksum_word"] < 1.1 * words
    assert words <= receiver["checksum_word"] < 1.1 * words
    assert words <= sender["copy_word"] < 1.1 * words
    # Out of the ring's slots, and to the process.
    assert 2 * words <= receiver["copy_word"] < 2.1 * words
    assert receiver["context_switch"] > 0 and receiver["select"] == 2


def test_every_call_takes_time():
    async def caller(tcp, socket):
        port, free = tcp.stack.port, []

        async def timed(name, call):
            before = await port.flush()
            found = await call
            if await port.flush() == before:
                free.append(name)
            return found

        other = await timed("socket", tcp.socket())
        await timed("bind", other.bind(7))
        await timed("listen", other.listen())
        await timed("select", tcp.select([other], timeout=0))
        await timed("send", socket.send(b"x"))
        await timed("recv", socket.recv(1))
        await timed("shutdown", socket.shutdown())
        await timed("close", other.close())
        return free

    async def answerer(tcp, socket):
        await socket.sendall(await socket.recv(1))
        await socket.recv(1)
        return []

    for knobs in ({}, {"cpu__path_scale": 0, "tcp__path_scale": 0, "tcp__select": 0}):
        assert Model(describe(**knobs)).run(pair(caller, answerer), limit=LIMIT).results == [[], []]
