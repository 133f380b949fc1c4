"""The kernel's receive ring on a bus that is late to take the clear of an interrupt."""

import pytest
from nicbed.host.kernel.lock import kernel_lock
from nicbed.host.nic.receive_ring import ReceiveRing
from nicbed.layouts.packet import HEADER, Protocol
from nicbed.layouts.registers import Irq, address

from tests.models.target import Model
from tests.programs.am import describe

PACKET = HEADER.pack(length=8, destination=0, protocol=Protocol.IP).to_bytes(8, "little") + bytes(8)


@pytest.mark.parametrize("slots", [4, 256])
@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_packet_after_the_last_look_interrupts_again(count, slots):
    """After an interrupt for ``count`` packets, which are taken, another one comes before the clear
    has reached the NIC. With 4 slots the NIC has been told of each packet already."""
    model = Model(describe({"bus.pio_write": 1000, "nic.receive_ring": slots}))

    async def program(node):
        port, nic, ring = node.port, model.nics[0], ReceiveRing(node)
        taken = []

        async def receiver(header, slot, trace):
            taken.append(trace)

        def arrive(number):
            nic.arrive(PACKET, number, len(PACKET))

        ring.receivers = {Protocol.IP: receiver}
        await ring.start()
        await port.pio_write(address("irq_enable"), Irq.RECEIVE)
        await port.pio_write(address("control"), 2, posted=False)
        for number in range(count):
            arrive(number)
        if not count:
            nic.cause(Irq.RECEIVE)
        await port.delay(1000)
        assert await port.wait_irq(5000)
        await ring.drain(slots)
        begin = await port.flush()
        assert taken == list(range(count)) and nic.registers["irq_status"] & Irq.RECEIVE
        arrive(count)
        await port.delay(20_000)
        assert await port.wait_irq(5000)
        await ring.drain(slots)
        await port.flush()
        assert taken == list(range(count + 1))
        await port.delay(20_000)
        assert not await port.wait_irq(5000), "nothing is left"
        return begin

    assert model.run([program, None], limit=200_000).results[0]


class Shared:
    """A kernel of several CPUs with nothing but its receive ring."""

    def __init__(self, node):
        self.lock, self.ring, self.taken = kernel_lock(node), ReceiveRing(node), []

        async def receiver(header, slot, trace):
            self.taken.append(trace)

        self.ring.receivers = {Protocol.IP: receiver}


def test_a_packet_after_another_cpu_took_what_was_left_interrupts():
    """CPU 0 leaves a packet, and its clear waits behind other writes. CPU 1 takes that packet. The
    next one comes before the clear, if that is allowed to be late."""
    model = Model(describe({"bus.pio_write": 1000, "node.cpus": 2}))
    nic = model.nics[0]

    async def first(cpu):
        cpu.share_nic()
        port, kernel = cpu.port, cpu.kernel(Shared)
        async with kernel.lock.held():
            await kernel.ring.start()
            await port.pio_write(cpu.register("irq_enable"), Irq.RECEIVE)
            await port.pio_write(cpu.register("control"), 2, posted=False)
            for number in range(2):
                nic.arrive(PACKET, number, len(PACKET))
            await port.delay(1000)
            assert await port.wait_irq(5000)
            for _ in range(4):
                await port.pio_write(cpu.register("irq_enable"), Irq.RECEIVE)
            await kernel.ring.drain(1)
            assert kernel.taken == [0] and kernel.ring.left
        await port.delay(50_000)

    async def second(cpu):
        cpu.share_nic()
        port, kernel = cpu.port, cpu.kernel(Shared)
        while not kernel.taken:
            await port.delay(10)
            await port.flush()
        async with kernel.lock.held():
            await kernel.ring.drain(4)
            assert kernel.taken == [0, 1] and not kernel.ring.left
        await port.pio_read(cpu.register("id"))
        nic.arrive(PACKET, 2, len(PACKET))
        await port.delay(20_000)
        assert await port.wait_irq(5000)
        return True

    assert model.run([[first, second], None], limit=200_000).results[0][1]
