"""The driver of wire_nic: how a CPU sends and receives frames by its registers."""

from nicbed import Frame, Frames
from nicbed.host.port.costs import Path
from nicbed.host.port.port import Watch
from nicbed.host.port.prices import prices
from nicbed.layouts.packet import HEADER, HEADER_BYTES, Protocol

from .registers import QUEUE, REGISTERS

__all__ = ["WireNicFrames"]

SEND = Path("wire_nic_send", call=1, load=4, branch=2, alu=6)
"""A frame to the NIC: its header, and whether the queue has room; besides the writes."""
CHECK = Path("wire_nic_check", call=1, load=2, branch=1)
"""Looking for a frame, besides the check of its slot."""
TAKE = Path("wire_nic_take", load=4, store=2, alu=4)
"""A frame that is there: its length, its source, the next slot."""
RELEASE = Path("wire_nic_release", load=2, store=1, branch=1, alu=2)

OFFSET = {register.name: register.offset for register in REGISTERS}
SLOT_HEAD = 8 + HEADER_BYTES
"""Bytes of a slot in front of a frame: completion word (bit 0: phase; 8: length; 24: trace number)
and wire header."""


class Prices(prices(globals())):
    """The paths above as a CPU charges them."""


class WireNicFrames(Frames):
    """Frames by the NIC's registers and the ring of its slots."""

    def __init__(self, node, slots: int) -> None:
        super().__init__(node)
        self.mtu = node.description.nic.mtu
        self._port, self._memory = node.port, node.memory
        self._prices = node.service(Prices)
        self._slots, self._stride = slots, node.description.slot_bytes
        self._ring = node.allocate(slots * self._stride)
        self._copy = node.allocate(QUEUE * self._stride)
        self._posted = self._sent = 0
        self._taken = self._freed = 0
        self._released: set[int] = set()

    def _register(self, name: str) -> int:
        return self.node.nic_address(OFFSET[name])

    def _slot(self, number: int) -> int:
        return self._ring + number % self._slots * self._stride

    async def open(self) -> None:
        await self._port.pio_write(self._register("receive_base"), self._ring)
        await self._port.pio_write(self._register("control"), 1)

    async def room(self) -> bool:
        if self._posted - self._sent == QUEUE:
            await self._look()
        return self._posted - self._sent < QUEUE

    async def _look(self) -> None:
        """Ask the NIC how many frames it has read."""
        self._sent += await self._port.pio_read(self._register("sent")) - self._sent & 0xFFFF

    async def send(self, destination: int, address: int, length: int) -> None:
        if not 1 <= length <= self.mtu:
            raise ValueError(f"a frame has 1 to {self.mtu} bytes (nic.mtu), not {length}")
        node, port = self.node, self._port
        port.spend(self._prices.send)
        while not await self.room():
            pass
        if address % 8:  # the NIC reads whole words
            data = await node.load(address, length)
            address = self._copy + self._posted % QUEUE * self._stride
            await node.store(address, data)
        header = HEADER.pack(route=node.route(destination), length=length, source=node.number,
                             destination=destination, protocol=Protocol.RAW)
        # The two registers lie one behind the other: one burst on the bus.
        await port.pio_write(self._register("send_header"), header, address,
                             trace=node.trace_number())
        self._posted += 1

    async def drain(self) -> None:
        while self._posted != self._sent:
            await self._look()

    async def poll(self) -> Frame | None:
        self._port.spend(self._prices.check)
        found = await self._port.poll(self._watch(), once=True)
        if found.timed_out:
            return None
        slot = self._slot(self._taken)
        completion, header = self._memory.word(slot), self._memory.word(slot + 8)
        self._port.spend(self._prices.take)
        self._taken += 1
        return Frame(HEADER.unpack(header)["source"], slot + SLOT_HEAD, completion >> 8 & 0xFFFF,
                     completion >> 24 & 0xFFFFFF)

    async def release(self, frame: Frame) -> None:
        self._port.spend(self._prices.release)
        self._released.add(frame.address - SLOT_HEAD)
        freed = self._freed
        while self._slot(self._freed) in self._released:
            self._released.remove(self._slot(self._freed))
            self._freed += 1
        if self._freed != freed:
            await self._port.pio_write(self._register("taken"), self._freed & 0xFFFF)

    async def wait(self) -> None:
        await self._port.poll(self._watch())

    def _watch(self) -> Watch:
        """The next slot's completion word: its lowest bit is 1 on the first lap, then 0."""
        return Watch(self._slot(self._taken), 1 - self._taken // self._slots % 2, 1)

    async def dropped(self) -> int:
        return await self._port.pio_read(self._register("dropped"))

    async def close(self) -> None:
        await self.drain()
