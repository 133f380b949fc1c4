"""Stands for the send DMA engine in a NIC without a send ring."""

from amaranth.hdl import Module
from amaranth.lib import wiring

from .send_dma import send_dma_members

__all__ = ["NoSendDma"]


class NoSendDma(wiring.Component):
    """Has the ports of a :class:`.send_dma.SendDma` that is not coherent, and does nothing: no
    descriptor is ever done, its lane is empty."""

    def __init__(self) -> None:
        super().__init__(send_dma_members())

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.idle.eq(1)
        return m
