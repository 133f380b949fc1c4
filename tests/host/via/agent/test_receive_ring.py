"""The kernel's receive ring on a bus that is late to take the clear of an interrupt."""

import pytest
from nicbed.host.via.agent.receive_ring import ReceiveRing
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
