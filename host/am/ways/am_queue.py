"""The part that the ways to firmware ``am`` share."""

from ...processor.loader import NicProcessor
from .slot_queue import SlotQueue
from .way import Taken

__all__ = ["AmQueue"]

LOW = 0xFFFF_FFFF


class AmQueue(SlotQueue):
    """A queue of firmware ``am``, which also receives, and counts the taken slots of the ring."""

    async def _start(self, slots: int, queue: int) -> NicProcessor:
        """Start the firmware, with its queue at ``queue`` in host memory, 0 for NIC memory."""
        node, description = self.node, self.node.description
        await self._report.open()
        processor = node.service(NicProcessor)
        await processor.start("am", parameters={
            "send_slots": self._report.entries, "send_host": queue,
            "send_report": self._report.place, "receive_base": slots,
            "receive_entries": description.nic.receive_ring,
            "receive_bytes": description.slot_bytes, "process": 0, "nodes": node.nodes,
            "mtu": description.nic.mtu, "host_bytes": self.memory.size})
        self._taken = Taken(node, self.ring, processor.address("forward"), LOW)
        return processor
