"""The kernel's part of a layer that is firmware of the NIC processor, as far as it is the same for
all: firmware is started, pages of NIC memory and doorbells are given to processes, the interrupt is
served."""

from collections.abc import Mapping
from typing import Any

from ...layouts.processor import DOORBELL_OWNER, WINDOW_OWNER
from ...layouts.registers import Irq
from ..kernel.interrupts import Handler
from ..kernel.lock import kernel_lock
from ..port.node import Node
from .loader import NicProcessor
from .mailbox import Mailbox

__all__ = ["FirmwareDriver"]


class FirmwareDriver:
    """The driver of ``node`` for the layer that messages call ``title``; a layer's own is a
    subclass, one a node, ``node.kernel(Driver)``.

    Attributes
    ----------
    lock
        What keeps CPUs that share the NIC out of each other's way.
    processor
        The NIC processor, once the firmware runs.
    """

    def __init__(self, node: Node, title: str) -> None:
        node.drive_nic(title, interrupts=True)
        self.node = node
        self.lock = kernel_lock(node)
        self.port = node.port
        self.memory = node.memory
        self.description = node.description
        self.processor: NicProcessor | None = None
        self._irq_status = node.register("irq_status")
        self._handler = Handler(self._serve)

    async def _load(self, firmware: str, parameters: Mapping[str, int | list[int]], routes: int,
                    section: Any = None) -> NicProcessor:
        """Start ``firmware`` with ``parameters``, and with routes to ``routes`` wire addresses. If
        its ``section`` of knobs has pads, work_send and work_receive, and one is not 0, it is the
        variant of the firmware that has that pad.

        Raises
        ------
        ProcessorError
            This NIC has no processor, or it does not start.
        """
        node = self.node
        processor = node.service(NicProcessor)
        given = {**parameters, "routes": [node.route(number) if number < node.nodes else 0
                                          for number in range(routes)]}
        variant = []
        for name in ("work_send", "work_receive"):
            if work := getattr(section, name, 0):
                given[name] = work * self.description.processor.clock_divider
                variant.append(f"{firmware.upper()}_{name.upper()}")
        await processor.start(firmware, given, defines=variant)
        self.processor = processor
        self._mailbox = Mailbox(processor)
        return processor

    async def _listen(self) -> None:
        """Take interrupts of the firmware from now on."""
        self.node.interrupts.add(self._handler)
        await self._kernel_write(self.node.register("irq_enable"), int(Irq.PROCESSOR))

    async def _own_page(self, page: int, process: int) -> None:
        """Only ``process`` reaches this page of NIC memory by PIO; 0: nobody but the kernel."""
        await self._kernel_write(self.node.register("window_owner"),
                                 WINDOW_OWNER.pack(page=page, process=process))

    async def _own_doorbell(self, page: int, process: int) -> None:
        """Only ``process`` rings the doorbells of this page; 0: nobody does."""
        await self._kernel_write(self.node.register("doorbell_owner"), DOORBELL_OWNER.pack(
            page=page, process=process, enable=int(process > 0)))

    async def _serve(self) -> None:
        """This layer's part of an interrupt."""
        await self._clear()

    async def _serve_others(self) -> None:
        """That of others on this CPU."""
        for other in self.node.interrupts.others(self._handler):
            await other.serve()

    async def _clear(self) -> None:
        await self._kernel_write(self._irq_status, int(Irq.PROCESSOR), posted=False)

    async def _kernel_write(self, place: int, word: int, posted: bool = True) -> None:
        with self.port.in_kernel():
            await self.port.pio_write(place, word, posted=posted)
