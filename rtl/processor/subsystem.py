"""The NIC processor and all that belongs to it."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.description import Description
from ...layouts.trace import Block
from ..burst import Burst
from ..event import EventPort
from ..flit import FlitStream
from ..pio import PioTarget
from ..receive_fifo import ReceiveWord
from ..timing import Timing
from .types import ProcessorRegisters

__all__ = ["Processor"]


class Processor(wiring.Component):
    """A core, NIC memory, and the engines that firmware drives."""

    DMA = 2

    def __init__(self, *, description: Description) -> None:
        self._description = description
        super().__init__({
            "window": In(PioTarget),
            "pages": In(PioTarget),
            "registers": In(ProcessorRegisters),
            "dma": Out(Burst).array(self.DMA),
            "tx": Out(FlitStream),
            "rx": In(stream.Signature(ReceiveWord)),
            "protocol": Out(9),
            "watch_base": Out(32),
            "watch_bytes": Out(32),
            "watched": In(1),
            "irq": Out(1),
            "node": In(8),
            "timing": In(Timing),
            "now": In(32),
            "cycle": In(64),
            "profile": In(1),
            "crashed": Out(1),
            "idle": Out(1),
            "events": Out(EventPort).array(len(self.event_sources)),
        })

    @property
    def event_sources(self) -> tuple[Block, ...]:
        """The block behind each port of ``events``."""
        return (Block.DOORBELL,)

    def elaborate(self, platform: object) -> Module:
        raise NotImplementedError
