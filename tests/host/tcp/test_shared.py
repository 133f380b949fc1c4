"""TCP of processes on CPUs that share a NIC."""

import pytest
from nicbed.host.tcp import Tcp
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
