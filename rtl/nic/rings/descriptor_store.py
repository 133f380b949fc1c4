"""The descriptors of the send ring that the NIC has fetched and not yet finished."""

from amaranth.hdl import Cat, Module
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.rings import DESCRIPTOR_BYTES, DESCRIPTOR_CONTROL

__all__ = ["ADDRESS_WORD", "BATCH", "CONTROL_WORD", "WORDS", "Control", "Descriptor",
           "DescriptorStore", "StoreWrite"]

BATCH = 4
"""Descriptors fetched in one burst at most, and held at once."""

WORDS = DESCRIPTOR_BYTES // 8
"""Words of a descriptor: header, inline bytes, ADDRESS_WORD, CONTROL_WORD."""

ADDRESS_WORD = 5
CONTROL_WORD = 6

Control = data.StructLayout({field.name: field.width for field in DESCRIPTOR_CONTROL.fields})
"""The control word of a descriptor."""

Descriptor = wiring.Signature({
    "there": Out(1),
    "front": In(3),
    "word": Out(64),
    "address": Out(32),
    "control": Out(Control),
    "asked": Out(32),
})
"""The side that has the next descriptor, all zero unless it is ``there``: word ``front`` of it,
where its payload is, its control word, and the cycle in which its fetch was asked for."""

StoreWrite = wiring.Signature({
    "index": Out(range(BATCH * WORDS)),
    **{name: Out(wiring.Signature({"en": Out(1), "data": Out(width)})) for name, width in (
        ("word", 64), ("address", 32), ("control", Control), ("asked", 32))},
})
"""The side that fetches: writes each of what is enabled, of word ``index`` of all."""


class DescriptorStore(wiring.Component):
    """Keeps BATCH descriptors, by the low bits of their number.

    Latency: none to read; what is written is there in the next cycle. Reset changes nothing.

    Members
    -------
    write : In(StoreWrite)
        The words fetched.
    there : In(1), number : In(2)
        The descriptor read is here; low bits of its number.
    read : Out(Descriptor)
        The descriptor.
    """

    write: In(StoreWrite)
    there: In(1)
    number: In(2)
    read: Out(Descriptor)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.read.there.eq(self.there)
        slot = self.write.index[3:]
        for name, shape, depth, written, wanted in (
                ("word", 64, BATCH * WORDS, self.write.index, Cat(self.read.front, self.number)),
                ("address", 32, BATCH, slot, self.number),
                ("control", Control, BATCH, slot, self.number),
                ("asked", 32, BATCH, slot, self.number)):
            m.submodules[f"{name}s"] = items = memory.Memory(shape=shape, depth=depth, init=[])
            write, read = items.write_port(), items.read_port(domain="comb")
            given = getattr(self.write, name)
            m.d.comb += [write.addr.eq(written), write.data.eq(given.data), write.en.eq(given.en),
                         read.addr.eq(wanted)]
            with m.If(self.there):
                m.d.comb += getattr(self.read, name).eq(read.data)
        return m
