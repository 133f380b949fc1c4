"""echo_firmware: ten packets to node 1, whose NIC sends them back: round trips in cycles."""

from pathlib import Path

from nicbed import NicProcessor, Watch
from nicbed.layouts.operations import NIC_BASE
from nicbed.layouts.packet import HEADER, Protocol
from nicbed.layouts.registers import SEND_WINDOW, address

PACKETS = 10
FIRMWARE = Path(__file__).parent


async def program(node):
    port, slot_bytes = node.port, node.description.slot_bytes
    if node.number == 1:
        processor = node.service(NicProcessor)
        await processor.start(FIRMWARE, {"routes": [node.route(n) for n in range(node.nodes)]})
        await port.poll(Watch(processor.address("turned"), PACKETS, 0xFFFF_FFFF), timeout=10 ** 7)
    if node.number != 0:
        return None
    ring = node.allocate(node.description.nic.receive_ring * slot_bytes, 64)
    await port.pio_write(address("receive_base"), ring)
    await port.pio_write(address("control"), 2)              # receive ring on
    await port.delay(300_000)                                # node 1's firmware runs by then
    times = []
    for number in range(PACKETS):
        header = HEADER.pack(route=node.route(1), length=16, destination=1, protocol=Protocol.RAW)
        begin = await port.flush()
        await port.pio_write(NIC_BASE + SEND_WINDOW, header, number, 0, trace=node.trace_number())
        await port.poll(Watch(ring + number * slot_bytes, 1, 1), timeout=10 ** 6)
        times.append(await port.flush() - begin)
    return times
