"""TCP of processes on CPUs that share a NIC."""

import pytest
from nicbed.host.tcp import Tcp, TcpError
from nicbed.host.via import Process

from tests.models.target import Model
from tests.programs.mpi import describe

LIMIT = 5_000_000


def run(first, *others, **knobs):
    """``first(tcp)`` on each CPU of node 0, and the same or ``others`` on that of node 1."""
    def on(program):
        async def main(cpu):
            cpu.share_nic()
            return await program(Tcp(cpu, Process(cpu, 1 + cpu.cpu)))
        return main

    return Model(describe("tcp", 2, 2, **knobs)).run(
        [[on(one)] * 2 for one in (first, *(others or [first]))], limit=LIMIT).results


async def until(tcp, cycle):
    port = tcp.stack.port
    await port.delay(max(0, cycle - port.cycle))
    return await port.flush()


def test_a_call_that_fails_does_not_keep_the_kernel():
    async def program(tcp):
        if tcp.stack.port.cpu:
            await until(tcp, 50_000)
            return await tcp.socket() is not None
        socket = await tcp.socket()
        with pytest.raises(TypeError):
            await socket.bind("7000")
        await until(tcp, 1_000_000)
        return "later"

    assert run(program)[0] == ["later", True]


def test_a_process_waits_for_its_own_connections():
    late = 2_000_000

    async def caller(tcp):
        cpu = tcp.stack.port.cpu
        socket = await tcp.call(1, 7000 + cpu)
        if cpu:
            await until(tcp, late)
        await socket.close()
        await tcp.close()
        return await tcp.stack.port.flush()

    async def answerer(tcp):
        listener = await tcp.socket()
        await listener.bind(7000 + tcp.stack.port.cpu)
        await listener.listen()
        socket = await listener.accept()
        assert await socket.recv(1) == b""
        await tcp.close()
        return await tcp.stack.port.flush()

    for first, second in run(caller, answerer, tcp__time_wait=20_000):
        assert first < late / 2 < late < second


def test_ports_are_the_nodes():
    async def program(tcp):
        socket, cpu = await tcp.socket(), tcp.stack.port.cpu
        if cpu:
            await until(tcp, 50_000)
            with pytest.raises(TcpError, match="EADDRINUSE"):
                await socket.bind(7000)
            await until(tcp, 200_000)
        await socket.bind(7000)
        if not cpu:
            await until(tcp, 100_000)
        await socket.listen()
        await socket.close()
        return True

    assert run(program) == [[True, True]] * 2
