"""Finds the receive descriptor that a message goes to."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.packet import TRACE_BITS
from ...layouts.via import MAX_SEGMENTS, VI_BITS
from ..burst import Burst
from .descriptor_fetch import HEAD_WORDS, DescriptorFetch, next_address
from .segment_walk import Segment
from .types import Address, Link, Take, Translate

__all__ = ["DescriptorRequest", "ReceiveDescriptor"]


class DescriptorRequest(data.Struct):
    """Of VI ``vi`` with protection tag ``tag``: the one at ``address``, or with ``take`` the next
    that is posted to its receive queue. ``read``: it is the VI's own RDMA read."""

    vi: VI_BITS
    tag: 16
    take: 1
    address: Address
    read: 1
    trace: TRACE_BITS


class ReceiveDescriptor(wiring.Component):
    """Takes a descriptor from its queue, reads its head, says where the next one is.

    Latency: 1 cycle to ask for it (a take waits until the link of the one before was taken), 1
    after the answer to begin the fetch; the answer comes with the fetch's. Throughput: one at a
    time. Back-pressure: none on the answer. Reset: idle.

    Members
    -------
    request : In(stream of DescriptorRequest)
        Taken in the cycle of the answer, in which the following hold.
    found : Out(1)
        There is one. Else nothing was taken, and nothing below means anything.
    readable : Out(1)
        Its control segment can be read. If not, and more are posted behind it, they are lost.
    malformed : Out(1)
        It breaks a rule of layouts.via.format_error for receive descriptors; of an RDMA read's,
        which the sender has checked, only that it has an address segment and not too many others.
    address, segments : Out(Address), Out(8)
        Where it is; its SegCount.
    head, head_count : Out(ArrayLayout(Segment, 2)), Out(2)
        Its first two segments, and how many of them could be read.
    max_beats : In(10)
        Longest burst in beats, at least 1.
    take : Out(Take)
        The receive queues.
    translate, bus : Out(Translate), Out(Burst)
        Of its DescriptorFetch.
    idle : Out(1)
        Nothing under way.
    """

    request: In(stream.Signature(DescriptorRequest))
    found: Out(1)
    readable: Out(1)
    malformed: Out(1)
    address: Out(Address)
    segments: Out(8)
    head: Out(data.ArrayLayout(Segment, 2))
    head_count: Out(2)
    max_beats: In(10)
    take: Out(Take)
    translate: Out(Translate)
    bus: Out(Burst)
    idle: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.fetch = fetch = DescriptorFetch()
        wiring.connect(m, wiring.flipped(self.translate), fetch.translate)
        wiring.connect(m, wiring.flipped(self.bus), fetch.bus)
        asked = self.request.payload
        address = Signal(Address)
        follow = Signal()
        link = Signal(Link)
        linking = Signal()

        count = fetch.words[1][32:48]
        control = fetch.words[1][48:]
        m.d.comb += [
            fetch.max_beats.eq(self.max_beats),
            fetch.request.payload.address.eq(address),
            fetch.request.payload.tag.eq(asked.tag),
            fetch.request.payload.trace.eq(asked.trace),
            self.take.request.payload.eq((asked.vi << 1) | 1),
            self.take.link.payload.eq(link),
            self.take.link.valid.eq(linking),
            self.address.eq(address),
        ]
        with m.If(linking & self.take.link.ready):
            m.d.sync += linking.eq(0)

        with m.FSM() as state:
            with m.State("IDLE"):
                with m.If(self.request.valid):
                    with m.If(~asked.take):
                        m.d.sync += [address.eq(asked.address), follow.eq(0)]
                        m.next = "FETCH"
                    with m.Elif(~linking):
                        m.d.comb += self.take.request.valid.eq(1)
                        with m.If(self.take.request.ready):
                            m.next = "TAKE"
            with m.State("TAKE"):
                m.d.sync += [address.eq(self.take.address), follow.eq(self.take.follow)]
                with m.If(self.take.valid):
                    with m.If(self.take.found):
                        m.next = "FETCH"
                    with m.Else():
                        m.d.comb += self.request.ready.eq(1)
                        m.next = "IDLE"
            with m.State("FETCH"):
                m.d.comb += fetch.request.valid.eq(1)
                with m.If(fetch.request.ready):
                    m.next = "READ"
            with m.State("READ"):
                with m.If(fetch.valid):
                    m.d.comb += [
                        self.request.ready.eq(1),
                        self.found.eq(1),
                        self.readable.eq(fetch.ok & (fetch.count >= HEAD_WORDS)),
                        self.malformed.eq((count > MAX_SEGMENTS)
                                          | ((control[:2] != 0) | (control[4:] != 0)) & ~asked.read
                                          | (count == 0) & asked.read),
                        self.segments.eq(count),
                        self.head[0].eq(fetch.words.as_value()[4 * 64:6 * 64]),
                        self.head[1].eq(fetch.words.as_value()[6 * 64:]),
                        self.head_count.eq(fetch.count[1:] - HEAD_WORDS // 2),
                    ]
                    m.d.sync += [
                        link.queue.eq(self.take.request.payload),
                        link.address.eq(next_address(fetch.words)),
                        link.lost.eq(~self.readable),
                        linking.eq(follow),
                    ]
                    m.next = "IDLE"
        m.d.comb += self.idle.eq(state.ongoing("IDLE") & ~self.request.valid & ~linking)
        return m
