"""The driver: firmware, endpoints, channels, the interrupt. The kernel's part, one a node."""

from dataclasses import dataclass

from ...layouts.processor import SLOT_BYTES, WINDOW_PAGE
from ...layouts.unet import (
    CHANNELS,
    ENDPOINTS,
    NODES,
    RECEIVE_BYTES,
    RECEIVE_SLOTS,
    SEND_SLOTS,
    TAGS,
    Buffers,
    KernelCommand,
)
from ..kernel.process import Process
from ..port.node import Node
from ..processor import FirmwareDriver
from .channel import Channel
from .costs import Prices
from .knobs import Knobs
from .pinning import Pinning

__all__ = ["Driver", "Opened"]


@dataclass(frozen=True, slots=True)
class Opened:
    """The places of an open endpoint: its page by PIO, its queues and done flags in host memory."""

    number: int
    page: int
    slots: int
    statuses: int
    receives: int


class Driver(FirmwareDriver):
    """The driver of ``node``: ``node.kernel(Driver)``.

    Attributes
    ----------
    processes
        Whose each open endpoint is.
    anywhere
        Whether buffers may be outside segments.
    asks
        Whether the NIC asks for translations.
    """

    def __init__(self, node: Node) -> None:
        super().__init__(node, "U-Net")
        description = self.description
        self.paths = node.service(Prices)
        self.processes: dict[int, Process] = {}
        kind = Buffers[description.section(Knobs).buffers.upper()]
        self.anywhere = kind is not Buffers.SEGMENT
        self.asks = kind is Buffers.TLB
        self._kind = kind
        self._coherent = description.nic.attachment == "memory_bus"
        self._memory_of: dict[int, tuple[int, int]] = {}
        """Receive queue and statuses of each endpoint that was ever open."""
        self._channels: dict[int, tuple[int, Channel]] = {}
        """Open channels by number, with their endpoints."""
        self._free_channels = list(range(CHANNELS - 1, 0, -1))
        self._queues = 0
        """Where coherent queues are."""

    async def start(self) -> None:
        """Start the firmware, once a run.

        Raises
        ------
        ProcessorError
            This NIC has no processor, or it does not start.
        """
        if self.processor is not None:
            return
        node, description = self.node, self.description
        unet = description.section(Knobs)
        parameters: dict[str, int | list[int]] = {
            "buffers": int(self._kind), "tlb_sets": unet.tlb_entries // unet.tlb_ways,
            "tlb_ways": unet.tlb_ways, "mtu": description.nic.mtu,
            "work_send": unet.work_send * description.processor.clock_divider,
            "work_receive": unet.work_receive * description.processor.clock_divider,
            "page_bytes": description.via.page_bytes,
            "doorbell_queue": description.processor.doorbell_queue,
        }
        if self._coherent:
            size = ENDPOINTS * SEND_SLOTS * SLOT_BYTES
            self._queues = node.allocate(size, SLOT_BYTES)
            parameters |= {"coherent_base": self._queues, "coherent_bytes": size}
        processor = await self._load("unet", parameters, NODES)
        self.pinning = Pinning(node, processor, self._kind)
        await self._listen()

    async def open(self, process: Process, segment: int, size: int, sends: int, receives: int,
                   frees: int) -> Opened | None:
        """Open an endpoint for ``process`` with a pinned segment of ``size`` bytes at ``segment``;
        None: all are in use."""
        processor = self.processor
        assert processor is not None
        number = next((one for one in range(ENDPOINTS) if one not in self.processes), None)
        if number is None:
            return None
        queue, statuses = self._place(number)
        page = processor.symbol("endpoint_pages") // WINDOW_PAGE + number
        slots = self._queues + number * SEND_SLOTS * SLOT_BYTES if self._coherent else 0
        bytes_, table = await self.pinning.open(number, process, segment, size)
        await self._own_page(page, process.number)
        await self._own_doorbell(number + 1, process.number)
        status = await self._mailbox.call(
            KernelCommand.OPEN | number << 8, queue | statuses << 32,
            sends | receives << 16 | frees << 32, bytes_ | table << 32, slots)
        assert status == 0, status
        self.processes[number] = process
        return Opened(number, processor.address("endpoint_pages", number * WINDOW_PAGE), slots,
                      statuses, queue)

    def _place(self, number: int) -> tuple[int, int]:
        """Memory of an endpoint, cleared: setting up, nobody looks at it yet."""
        node, sizes = self.node, (RECEIVE_SLOTS * RECEIVE_BYTES, SEND_SLOTS * 8)
        if number not in self._memory_of:
            queue, statuses = (node.allocate(size, 64) for size in sizes)
            self._memory_of[number] = queue, statuses
        place = self._memory_of[number]
        for at, size in zip(place, sizes, strict=True):
            self.memory.write(at, bytes(size))
        if self._coherent:
            size = SEND_SLOTS * SLOT_BYTES
            self.memory.write(self._queues + number * size, bytes(size))
        return place

    async def close(self, number: int) -> None:
        """Take the endpoint back, with its channels. When this returns the NIC touches no memory of
        its process any more."""
        processor = self.processor
        assert processor is not None
        page = processor.symbol("endpoint_pages") // WINDOW_PAGE + number
        await self._own_doorbell(number + 1, 0)
        await self._own_page(page, 0)
        await self._mailbox.call(KernelCommand.CLOSE | number << 8)
        await self.pinning.close(number)
        for at in [at for at, (owner, _) in self._channels.items() if owner == number]:
            self._forget(at)
        del self.processes[number]

    async def open_channel(self, number: int, node: int, out: int, tag: int) -> Channel | str:
        """A channel of endpoint ``number``; or in words, why there is none."""
        channels = [channel for _, channel in self._channels.values()]
        if not 0 <= node < min(NODES, self.node.nodes):
            return f"there is no node {node}"
        if not 0 <= out < TAGS or not 0 <= tag < TAGS:
            return f"tags are 0 to {TAGS - 1}"
        if any(one.tag == tag for one in channels):
            return f"tag {tag} is in use here"
        if any((one.node, one.out) == (node, out) for one in channels):
            return f"tag {out} of node {node} is in use here"
        if not self._free_channels:
            return f"the NIC has {CHANNELS - 1} channels, all in use"
        found = Channel(self._free_channels.pop(), node, out, tag)
        status = await self._mailbox.call(
            KernelCommand.CHANNEL | number << 8,
            found.number | node << 16 | out << 32 | tag << 48)
        assert status == 0, status
        self._channels[found.number] = number, found
        return found

    async def close_channel(self, channel: Channel) -> None:
        """Take it back: what comes with its tag is of no channel."""
        number, _ = self._channels[channel.number]
        await self._mailbox.call(KernelCommand.UNCHANNEL | number << 8, channel.number)
        self._forget(channel.number)

    def _forget(self, at: int) -> None:
        self._channels.pop(at)[1].open = False
        self._free_channels.append(at)

    async def register(self, number: int, va: int, length: int) -> None:
        """Pin these bytes' pages, whole, for the endpoint."""
        await self.pinning.register(number, va, length)

    async def deregister(self, number: int, va: int, length: int) -> bool:
        """Unpin them; those that were not registered else are reached no more when this returns.
        False if they were not."""
        changed = await self.pinning.deregister(number, va, length)
        if changed:
            await self._mailbox.call(KernelCommand.FORGET | number << 8)
        return changed is not None

    async def interrupt(self) -> None:
        """The interrupt handler: what the NIC asks for is answered, and who waits looks again."""
        self.lock.news()
        self.port.spend(self.paths.interrupt)
        await self._clear()
        if self.asks:
            frame = await self.pinning.asked(self.processes)
            if frame is not None:
                await self._mailbox.call(KernelCommand.FILL, frame)
        await self._serve_others()
