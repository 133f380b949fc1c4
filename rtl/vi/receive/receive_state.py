"""The state that the receive side keeps of each VI between packets."""

from amaranth.hdl import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.via import VI_BITS
from ...parts.block_ram import BlockRam
from ...parts.sizes import check_vis
from ..types import Address

__all__ = ["Message", "ReceiveEntries", "ReceiveState", "Sequence", "Storing"]


class Sequence(data.Struct):
    """``expected``: number of the next packet. ``missed``: a NAK has asked for it. ``broken``: the
    connection is over here, though the manager may not know yet."""

    expected: 8
    missed: 1
    broken: 1


class Message(data.Struct):
    """A message under way (``begun``), and the descriptor that it goes to (``held``).

    ``write``: it is an RDMA write and goes to no descriptor; one may be held for what comes next.
    ``address`` and ``segments`` are the descriptor's, ``index`` and ``offset`` the position in it
    (:class:`..descriptors.segment_walk.Walk`), ``bytes`` what has landed.
    """

    held: 1
    begun: 1
    write: 1
    address: Address
    segments: 8
    index: 8
    offset: 32
    bytes: 32


_STORING = {
    "write_sequence": Out(1),
    "write_message": Out(1),
    "write_reading": Out(1),
    "next_sequence": Out(Sequence),
    "next_message": Out(Message),
    "next_reading": Out(Message),
}

Storing = wiring.Signature(_STORING)
"""In a cycle with its ``write_`` each entry of a VI becomes its ``next_``."""

ReceiveEntries = wiring.Signature({
    "vi": Out(VI_BITS),
    "sequence": In(Sequence),
    "message": In(Message),
    "reading": In(Message),
    "write_vi": Out(VI_BITS),
    **_STORING,
})
"""``sequence``, ``message`` and ``reading`` (the message that answers the VI's own RDMA read) are
of the VI that ``vi`` said in the cycle before. In a cycle with its ``write_`` each of them becomes
its ``next_`` for ``write_vi``."""


class ReceiveState(wiring.Component):
    """Memories with an entry a VI: sequence numbers, the message under way, the RDMA read.

    Latency: what is read is of the VI that ``vi`` said in the cycle before. Throughput: a read and
    a write of each a cycle. Reset: the memories are not; each VI's entries are to be written before
    they mean anything. Writes for a VI of number ``vis`` or above do nothing.

    Parameters
    ----------
    vis : :class:`int`
        VIs: a power of two, 2 to 4096.

    Members
    -------
    entries : In(ReceiveEntries)
        What is kept.

    Raises
    ------
    TypeError, ValueError
        ``vis`` breaks its rule.
    """

    def __init__(self, *, vis: int) -> None:
        check_vis(vis)
        self._vis = vis
        super().__init__({"entries": In(ReceiveEntries)})

    @property
    def vis(self) -> int:
        """VIs."""
        return self._vis

    def elaborate(self, platform: object) -> Module:
        m = Module()
        entries = self.entries
        for name, shape in (("sequence", Sequence), ("message", Message), ("reading", Message)):
            m.submodules[name] = kept = BlockRam(shape=shape, depth=self._vis)
            read = kept.read_port()
            write = kept.write_port()
            m.d.comb += [
                read.addr.eq(entries.vi),
                getattr(entries, name).eq(read.data),
                write.addr.eq(entries.write_vi),
                write.data.eq(getattr(entries, f"next_{name}")),
            ]
            with m.If(getattr(entries, f"write_{name}")):
                m.d.comb += write.en.eq(entries.write_vi < self._vis)
        return m
