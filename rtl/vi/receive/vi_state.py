"""What the receive side keeps of each VI between packets."""

from amaranth.hdl import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.via import VI_BITS
from ...parts.block_ram import BlockRam
from ...parts.sizes import check_vis
from ..types import Address

__all__ = ["Message", "ReceiveState", "Sequence"]


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
    vi : ``In(12)``
        Whom the outputs, in the cycle after, are of.
    sequence, message, reading : ``Out``
        What is kept; ``reading``: the message that answers this VI's own RDMA read.
    write_vi : ``In(12)``
        Whom the writes are for.
    write_sequence, write_message, write_reading : ``In(1)``
        Write.
    next_sequence, next_message, next_reading : ``In``
        This.

    Raises
    ------
    TypeError, ValueError
        ``vis`` breaks its rule.
    """

    def __init__(self, *, vis: int) -> None:
        check_vis(vis)
        self._vis = vis
        super().__init__({
            "vi": In(VI_BITS),
            "sequence": Out(Sequence),
            "message": Out(Message),
            "reading": Out(Message),
            "write_vi": In(VI_BITS),
            "write_sequence": In(1),
            "write_message": In(1),
            "write_reading": In(1),
            "next_sequence": In(Sequence),
            "next_message": In(Message),
            "next_reading": In(Message),
        })

    @property
    def vis(self) -> int:
        """VIs."""
        return self._vis

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name, shape in (("sequence", Sequence), ("message", Message), ("reading", Message)):
            m.submodules[name] = kept = BlockRam(shape=shape, depth=self._vis)
            read = kept.read_port()
            write = kept.write_port()
            m.d.comb += [
                read.addr.eq(self.vi),
                getattr(self, name).eq(read.data),
                write.addr.eq(self.write_vi),
                write.data.eq(getattr(self, f"next_{name}")),
            ]
            with m.If(getattr(self, f"write_{name}")):
                m.d.comb += write.en.eq(self.write_vi < self._vis)
        return m
