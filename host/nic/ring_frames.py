"""Frames by the rings and windows of the NIC, without a kernel."""

from collections import deque

from ...layouts.operations import BURST
from ...layouts.packet import FLIT_BYTES, HEADER, HEADER_BYTES, Protocol
from ...layouts.rings import COMPLETION
from ..port.node import Node
from ..port.port import Watch
from ..port.words import F_ONCE, TIMEOUT
from .costs import Prices
from .kinds import Frame, Frames
from .receive_slots import ReceiveSlots
from .registers import RECEIVE_RING
from .send_ring import SendRing
from .send_window import SendWindow

__all__ = ["RingFrames"]

SHORT = (BURST - 1) * FLIT_BYTES
"""Bytes of the longest frame that is, with its wire header, one burst into the send window."""
SLOT_HEAD = 8 + HEADER_BYTES
"""Bytes of a receive slot in front of a frame: completion word and wire header."""
LENGTH, SOURCE = HEADER.offset("length"), HEADER.offset("source")
LONGEST, SOURCES = HEADER.mask("length") >> LENGTH, HEADER.mask("source") >> SOURCE
TRACE = COMPLETION.offset("trace")
TRACES = COMPLETION.mask("trace") >> TRACE
DROPS = ("crc_errors", "misrouted", "overflows", "malformed")
"""Registers that count the packets which the NIC has dropped."""


class RingFrames(Frames):
    """Short frames go through the send window, where the NIC reads nothing from memory; longer ones
    by a descriptor of the send ring, which points to their bytes; without a send ring
    (``nic.send_ring`` = 0) all go through the window. Frames come into the receive ring, and lie in
    its slots until they are released."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        nic = node.description.nic
        self._port, self._memory = node.port, node.memory
        self._prices = prices = node.service(Prices)
        self._window = SendWindow(node, prices.frame_space)
        self._ring = SendRing(node, 0, prices.frame_report) if nic.send_ring else None
        self.mtu = nic.mtu if nic.send_ring else min(nic.mtu, nic.send_fifo - HEADER_BYTES)
        self._slots = ReceiveSlots(node)
        self._held: deque[int] = deque()
        """Addresses of the slots that were handed out, in the order of the ring."""
        self._released: set[int] = set()
        self._freed = 0
        self._headers: dict[int, int] = {}
        self._receive_taken = node.register("receive_taken")

    async def open(self) -> None:
        node, port = self.node, self._port
        self._slots.lay_out()
        await port.pio_write(node.register("receive_base"), self._slots.first)
        if self._ring is None:
            await port.pio_write(node.register("control"), RECEIVE_RING)
        else:
            await self._ring.start()

    # Out

    async def room(self) -> bool:
        ring = self._ring
        return (await self._window.room(self._words(self.mtu if ring is None else SHORT))
                and (ring is None or await ring.room()))

    async def send(self, destination: int, address: int, length: int) -> int:
        if not 1 <= length <= self.mtu:
            raise ValueError(f"a frame has 1 to {self.mtu} bytes (nic.mtu), not {length}")
        header = self._header(destination) | length << LENGTH
        number = self.node.trace_number()
        if length <= SHORT or self._ring is None:
            await self._write(header, address, length, number)
        else:
            self._port.spend(self._prices.frame_send)
            while not await self._ring.room():
                await self._port.delay(1)
            await self._ring.post(header, b"", address, length, number)
        return number

    async def _write(self, header: int, address: int, length: int, number: int) -> None:
        """The frame through the send window: the CPU reads it word by word."""
        port, count = self._port, self._words(length)
        port.spend(self._prices.frame_window)
        while not await self._window.room(count):
            pass
        port.work("load", count - 1)
        await port.touch(address, length)
        await port.flush()
        data = self._memory.read(address, length).ljust((count - 1) * FLIT_BYTES, b"\0")
        await self._window.put([header, *(int.from_bytes(data[at:at + FLIT_BYTES], "little")
                                          for at in range(0, len(data), FLIT_BYTES))], number)

    @staticmethod
    def _words(length: int) -> int:
        return 1 + -(-length // FLIT_BYTES)

    def _header(self, destination: int) -> int:
        found = self._headers.get(destination)
        if found is None:
            node = self.node
            found = self._headers[destination] = HEADER.pack(
                route=node.route(destination), source=node.number, destination=destination,
                protocol=Protocol.RAW)
        return found

    async def drain(self) -> None:
        ring = self._ring
        if ring is None:
            return
        await ring.look()
        while ring.reading:
            await self._port.poll(Watch(ring.report, ring.done & 0xFFFF, 0xFFFF, True))
            await ring.look()

    # In

    async def poll(self) -> Frame | None:
        port, slots = self._port, self._slots
        port.spend(self._prices.frame_check)
        await port.room(1)
        port.put_poll(slots.slot, slots.phase, 1, 0, F_ONCE)
        await port.executed
        if port.status & TIMEOUT:
            return None
        slot = slots.slot
        completion, header = self._memory.word(slot), self._memory.word(slot + 8)
        port.spend(self._prices.frame_take)
        slots.advance()
        self._held.append(slot)
        return Frame(header >> SOURCE & SOURCES, slot + SLOT_HEAD, header >> LENGTH & LONGEST,
                     completion >> TRACE & TRACES)

    async def release(self, frame: Frame) -> None:
        port, held, released, slots = self._port, self._held, self._released, self._slots
        port.spend(self._prices.frame_release)
        released.add(frame.address - SLOT_HEAD)
        while held and held[0] in released:
            released.remove(held.popleft())
            self._freed += 1
        if self._freed - slots.told >= slots.quarter:
            port.spend(self._prices.frames_taken)
            await port.room(1)
            port.put_write(self._receive_taken, 1, self._freed & 0xFFFF)
            slots.told = self._freed

    async def wait(self) -> None:
        port, slots = self._port, self._slots
        await port.room(1)
        port.put_poll(slots.slot, slots.phase, 1, 0)
        await port.executed

    async def dropped(self) -> int:
        return sum([await self._port.pio_read(self.node.register(name)) for name in DROPS])

    async def close(self) -> None:
        await self.drain()


if COMPLETION.offset("phase") != 0:
    raise AssertionError("a receive slot does not match the declared layouts")
