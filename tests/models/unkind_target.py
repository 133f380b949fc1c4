"""Memory as unkind as a device's: what a BlockRam reads of a word being written comes inverted."""

from typing import Any
from unittest import mock

from amaranth.hdl import Cat, Fragment, Module, Signal
from amaranth.lib import memory
from nicbed.rtl.parts.block_ram import BlockRam
from nicbed.rtl.target import Target

__all__ = ["UnkindTarget", "unkindly"]


def _elaborate(self: BlockRam, platform: object) -> Module:
    m = Module()
    m.submodules.kind = kind = memory.Memory(shape=self.shape, depth=self.depth, init=[])
    writers = self.write_ports
    for port in writers:
        within = kind.write_port()
        m.d.comb += [within.en.eq(port.en), within.addr.eq(port.addr), within.data.eq(port.data)]
    for number, port in enumerate(self.read_ports):
        within = kind.read_port()
        word = Cat(port.data)
        met = Signal(name=f"met_{number}")
        m.d.comb += [within.en.eq(port.en), within.addr.eq(port.addr),
                     word.eq(Cat(within.data) ^ met.replicate(len(word)))]
        with m.If(port.en):
            m.d.sync += met.eq(Cat(writer.en & (writer.addr == port.addr)
                                   for writer in writers).any())
    return m


def unkindly(component: Any) -> Any:
    """``component``, to be elaborated with unkind memories."""
    def elaborate(platform: object) -> Fragment:
        with mock.patch.object(BlockRam, "elaborate", _elaborate):
            return Fragment.get(type(component).elaborate(component, platform), platform)

    component.elaborate = elaborate
    return component


class UnkindTarget(Target):
    """The target with unkind memories."""

    @property
    def modules(self) -> list[tuple[str, Any]]:
        return [(name, unkindly(component)) for name, component in super().modules]
