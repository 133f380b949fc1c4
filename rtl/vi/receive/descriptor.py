"""Finds the receive descriptors that messages go to, ahead of their packets' turn."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.packet import TRACE_BITS
from ....layouts.via import MAX_SEGMENTS, VI_BITS, PacketKind, ViState
from ..descriptors.fetch import HEAD_WORDS, DescriptorFetch, FetchRequest, next_address
from ..descriptors.segment_walk import Head
from ..types import Address, Context, Take, VirtualMemory
from .parse import Parsed
from .receive_state import Message

__all__ = ["Ahead", "Coming", "DescriptorRequest", "Descriptors", "ReceiveDescriptor", "Search",
           "UnderWay", "Void"]


class DescriptorRequest(data.Struct):
    """Of VI ``vi`` with protection tag ``tag``: the one at ``address``, or with ``take`` the next
    that is posted to its receive queue. ``read``: it is the VI's own RDMA read. ``brief``: it is
    expected to have one segment."""

    vi: VI_BITS
    tag: 16
    take: 1
    address: Address
    read: 1
    brief: 1
    trace: TRACE_BITS


class Coming(data.Struct):
    """A packet whose turn comes, and with ``held`` the descriptor at ``address``, taken for it."""

    packet: Parsed
    held: 1
    address: Address


Ahead = wiring.Signature({
    "look": Out(1),
    "vi": Out(VI_BITS),
    "may": In(1),
    "context": In(Context),
    "message": In(Message),
    "looking": Out(1),
})
"""Descriptors are taken ahead: ``look``, only if it ``may``, asks for ``context`` and ``message``
of ``vi``, which are there in the next cycle. While it is ``looking`` something is being taken, and
there is to be no Control."""

UnderWay = wiring.Signature({
    "free": Out(1),
    "vi": Out(VI_BITS),
    "frees": Out(1),
    "segments": Out(8),
    "asks": Out(1),
    "drop": Out(1),
})
"""The packet under way. ``free``: there is none. Else it is one of ``vi``, whose descriptor has so
many ``segments``. ``frees``: it is whole, good and the last of its message; no descriptor will be
held when it is over. ``asks``: it may yet make a Search. ``drop``: it makes none, and what was read
for it is of no use; only before any Search."""

Void = wiring.Signature({
    "vi": Out(VI_BITS),
    "valid": Out(1),
    "held": In(1),
    "address": In(Address),
})
"""What was taken (``held``, ``address``) for a packet of ``vi`` that is still to come, and with
``valid`` is not for it any more."""

Search = wiring.Signature({
    "request": Out(stream.Signature(DescriptorRequest)),
    "found": In(1),
    "readable": In(1),
    "malformed": In(1),
    "address": In(Address),
    "segments": In(8),
    "head": In(Head),
})
"""``request`` is taken in the cycle of the answer, in which the following hold. ``found``: there is
one; else nothing was taken, and nothing below means anything. ``readable``: its control segment can
be read; if not, and more are posted behind it, they are lost. ``malformed``: it breaks a rule of
layouts.via.format_error for receive descriptors; of an RDMA read's, which the sender has checked,
only that it has an address segment and not too many others. ``address``: where it is; ``segments``,
``head``: its SegCount and its first two segments."""

Descriptors = wiring.Signature({
    "coming": In(stream.Signature(Coming)),
    "ahead": In(Ahead),
    "packet": Out(UnderWay),
    "void": Out(Void),
    "search": Out(Search),
})
"""Packets with the descriptors that were taken for them. Whoever takes one of ``coming`` takes no
other before it has asked for what it wants."""


class _Entry(data.Struct):
    """A packet, the descriptor that is to be read for it, if it is still ``held`` for it, and
    whether more are posted behind that."""

    packet: Parsed
    held: 1
    request: FetchRequest
    follow: 1


class ReceiveDescriptor(wiring.Component):
    """Takes descriptors from their queues, reads their heads, says where the next ones are.

    Packets pass from ``i`` to ``coming``. For the first packet of a SEND a descriptor is taken and
    read on the way, while the packet before it is still under way, if that VI has none: what is
    taken is told with the packet (``held``), and whoever takes the packet has it then, whatever
    becomes of the packet. A search finds it read, or being read. Nothing is taken ahead for a VI
    that is not CONNECTED with the packet's source, that has another such packet between here and
    ``coming``, or whose packet is under way unless that ends its message (``frees``).

    Latency: 2 cycles from ``i`` to ``coming`` with a descriptor, 1 without. A request that was not
    foreseen: 1 cycle to ask for it, 1 after the answer to begin the fetch; the answer comes with
    the fetch's. Next is told as soon as it has come. Throughput: one read at a time, 13 cycles
    for one of 6 words on a bus that reads n in n + 3. Back-pressure: ``i`` waits for
    ``coming``. None on the answer. Reset: idle.

    Members
    -------
    i : In(stream of Parsed)
        Packets.
    machine : In(Descriptors)
        Who handles them.
    take : Out(Take)
        The receive queues.
    memory : Out(VirtualMemory)
        Of its DescriptorFetch.
    idle : Out(1)
        Nothing under way.
    """

    i: In(stream.Signature(Parsed))
    machine: In(Descriptors)
    take: Out(Take)
    memory: Out(VirtualMemory)
    idle: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.fetch = fetch = DescriptorFetch()
        wiring.connect(m, wiring.flipped(self.memory), fetch.memory)
        coming, packet, void, search = (self.machine.coming, self.machine.packet, self.machine.void,
                                        self.machine.search)
        self._asked = asked = search.request.payload
        # The packet that waits to be taken and its descriptor, which is still to be read; or of the
        # packet that was taken there (``late``).
        self._entry = entry = Signal(_Entry)
        self._reads = reads = Signal()
        self._late = late = Signal()
        # A read was begun for the packet under way (``ours``), or for the one coming. Somebody
        # ``wants`` it, or ``ours_wants`` the one that is late.
        ours = Signal()
        self._wants = wants = Signal()
        ours_wants = Signal()
        self._foreseen = foreseen = Signal()
        self._takes = Signal()
        begins = Signal()
        voids = Signal()
        taken = Signal(Address)
        follow = Signal()
        mine = Signal(FetchRequest)
        m.d.comb += [
            foreseen.eq(ours & wants | late & ours_wants),
            mine.address.eq(Mux(asked.take, taken, asked.address)),
            mine.tag.eq(asked.tag),
            mine.trace.eq(asked.trace),
            mine.brief.eq(asked.brief),
            fetch.request.payload.eq(mine),
            voids.eq(void.valid & coming.valid & entry.held
                     & (entry.packet.header.destination == void.vi)),
        ]
        m.d.comb += [
            coming.payload.packet.eq(entry.packet),
            coming.payload.held.eq(entry.held),
            coming.payload.address.eq(entry.request.address),
        ]
        self._front(m)
        with m.FSM(name="read") as state:
            with m.State("NONE"):
                with m.If(late | (coming.valid & reads & ~packet.asks & ~coming.ready
                                  & ~void.valid)):
                    m.d.comb += [
                        fetch.request.valid.eq(~self.take.link.valid),
                        fetch.request.payload.eq(entry.request),
                        begins.eq(fetch.request.valid & fetch.request.ready),
                    ]
                    with m.If(begins):
                        m.d.sync += [
                            search.address.eq(entry.request.address), follow.eq(entry.follow),
                            self.take.link.payload.queue.eq(
                                (entry.packet.header.destination << 1) | 1),
                            ours.eq(late), wants.eq(Mux(late, ours_wants, entry.held)),
                            reads.eq(0), late.eq(0),
                        ]
                        m.next = "READ"
                with m.Elif(search.request.valid & ~self.take.link.valid):
                    m.next = "FETCH"
                    m.d.sync += [follow.eq(0), ours.eq(0),
                                 self.take.link.payload.queue.eq((asked.vi << 1) | 1)]
                    with m.If(asked.take):
                        m.next = "TAKE"
            with m.State("TAKE"):
                with m.If(~self.machine.ahead.looking):
                    m.d.comb += [self._takes.eq(1), self.take.request.valid.eq(1),
                                 self.take.request.payload.eq((asked.vi << 1) | 1)]
                    with m.If(self.take.request.ready):
                        m.next = "TAKEN"
            with m.State("TAKEN"):
                m.d.comb += self._takes.eq(1)
                m.d.sync += [taken.eq(self.take.address), follow.eq(self.take.follow)]
                with m.If(self.take.valid):
                    m.next = "FETCH"
                    with m.If(~self.take.found):
                        m.d.comb += search.request.ready.eq(1)
                        m.next = "NONE"
            with m.State("FETCH"):
                m.d.comb += fetch.request.valid.eq(1)
                m.d.sync += search.address.eq(mine.address)
                with m.If(fetch.request.ready):
                    m.d.sync += [ours.eq(1), wants.eq(1)]
                    m.next = "READ"
            with m.State("READ"):
                with m.If(fetch.valid):
                    m.next = "HERE"
                    self._answer(m, fetch, ours & wants)
            with m.State("HERE"):
                with m.If(~wants):
                    m.next = "NONE"
                self._answer(m, fetch, ours & wants)

        # Next is told once.
        with m.If(self.take.link.ready):
            m.d.sync += self.take.link.valid.eq(0)
        with m.If(follow & state.ongoing("READ") & (fetch.linked | fetch.valid)):
            m.d.sync += [
                follow.eq(0),
                self.take.link.valid.eq(1),
                self.take.link.payload.address.eq(next_address(fetch.words)),
                self.take.link.payload.lost.eq(~fetch.linked & ~self._readable(fetch)),
            ]

        # The packet that is coming is taken, and perhaps dropped in the next cycle; or what was
        # taken for it is another's.
        with m.If(coming.valid & coming.ready):
            m.d.sync += [coming.valid.eq(0), ours_wants.eq(entry.held), late.eq(reads)]
            with m.If(~reads & ~ours):
                m.d.sync += ours.eq(1)
        with m.If(packet.drop):
            m.d.sync += [ours_wants.eq(0), wants.eq(0)]
        with m.If(voids):
            m.d.sync += entry.held.eq(0)
            with m.If(~ours):
                m.d.sync += wants.eq(0)
        m.d.comb += self.idle.eq(
            ~(self.i.valid | coming.valid | self.machine.ahead.looking | late | search.request.valid
              | self.take.link.valid) & state.ongoing("NONE"))
        return m

    @staticmethod
    def _readable(fetch: DescriptorFetch) -> Value:
        return fetch.ok & (fetch.count >= HEAD_WORDS)

    def _answer(self, m: Module, fetch: DescriptorFetch, there: Value) -> None:
        """What was read, if the packet under way asks for it."""
        count = fetch.words[1][32:48]
        control = fetch.words[1][48:]
        asked, search = self._asked, self.machine.search
        with m.If(search.request.valid & there):
            m.d.comb += [
                search.request.ready.eq(1),
                search.found.eq(1),
                search.readable.eq(self._readable(fetch)),
                search.malformed.eq((count > MAX_SEGMENTS)
                                    | ((control[:2] != 0) | (control[4:] != 0)) & ~asked.read
                                    | (count == 0) & asked.read),
                search.segments.eq(count),
                search.head.segments[0].eq(fetch.words.as_value()[4 * 64:6 * 64]),
                search.head.segments[1].eq(fetch.words.as_value()[6 * 64:]),
                search.head.count.eq(fetch.count[1:] - HEAD_WORDS // 2),
                search.head.cut.eq(fetch.cut),
            ]
            m.d.sync += self._wants.eq(0)
            m.next = "NONE"

    def _front(self, m: Module) -> None:
        """Takes a descriptor for the packet at ``i``, and passes it on."""
        packet = self.i.payload
        coming, ahead, under_way, void = (self.machine.coming, self.machine.ahead,
                                          self.machine.packet, self.machine.void)
        entry = self._entry
        vi = packet.header.destination
        here = Signal()
        same = Signal()
        was_same = Signal()
        good = Signal()
        waits = Signal()
        entry_voided = Signal()
        entering = Signal(_Entry)
        reads = Signal()
        found = Signal(FetchRequest)
        held = Signal()
        read = Signal()
        follow = Signal()
        m.d.comb += [
            ahead.vi.eq(vi),
            here.eq(coming.valid & (entry.packet.header.destination == vi)),
            same.eq(~under_way.free & (under_way.vi == vi)),
            waits.eq(here | (same & ~under_way.frees)
                     | (self.machine.search.request.valid & ~self._foreseen)),
            good.eq((ahead.context.state == ViState.CONNECTED)
                    & (ahead.context.peer.node == packet.node)
                    & (ahead.context.peer.vi == packet.header.source)
                    & (was_same | ~ahead.message.held)),
            entry_voided.eq(coming.valid & entry.held
                            & (entry.packet.header.destination == void.vi)),
            void.held.eq(entry_voided | (held & (vi == void.vi))),
            # One of another VI may wait behind the packet that is coming.
            void.address.eq(Mux(entry_voided, entry.request.address, found.address)),
            entering.packet.eq(packet),
            entering.held.eq(held),
            entering.request.eq(found),
            entering.follow.eq(follow),
            reads.eq(read),
        ]

        def ask() -> None:
            m.next = "TAKE"
            with m.If(~self._takes):
                m.d.comb += [self.take.request.valid.eq(1),
                             self.take.request.payload.eq((vi << 1) | 1)]
                with m.If(self.take.request.ready):
                    m.next = "TAKEN"

        def pass_on() -> None:
            m.next = "PASS"
            with m.If(~coming.valid & ~self._late & ~void.valid):
                m.d.comb += self.i.ready.eq(1)
                m.d.sync += [coming.valid.eq(1), entry.eq(entering), self._reads.eq(reads),
                             held.eq(0)]
                m.next = "IDLE"

        with m.FSM(name="front") as state:
            with m.State("IDLE"):
                m.d.sync += [held.eq(0), read.eq(0), was_same.eq(same)]
                with m.If(self.i.valid):
                    with m.If((packet.detail.kind != PacketKind.SEND) | ~packet.detail.first
                              | packet.malformed):
                        m.d.comb += [entering.held.eq(0), reads.eq(0)]
                        pass_on()
                    with m.Elif(ahead.may & ~waits):
                        m.d.comb += ahead.look.eq(1)
                        m.next = "JUDGE"
            with m.State("JUDGE"):
                m.d.sync += [
                    found.tag.eq(ahead.context.attributes.tag),
                    found.brief.eq(Mux(was_same, under_way.segments, ahead.message.segments) <= 1),
                    found.trace.eq(packet.trace),
                ]
                m.next = "PASS"
                with m.If(good):
                    ask()
            with m.State("TAKE"):
                ask()
            with m.State("TAKEN"):
                m.d.comb += [
                    entering.held.eq(self.take.found), reads.eq(self.take.found),
                    entering.follow.eq(self.take.follow),
                    entering.request.address.eq(self.take.address),
                ]
                with m.If(self.take.valid):
                    m.d.sync += [held.eq(self.take.found), read.eq(self.take.found),
                                 follow.eq(self.take.follow), found.address.eq(self.take.address)]
                    pass_on()
            with m.State("PASS"):
                with m.If(void.valid & (vi == void.vi)):
                    m.d.sync += held.eq(0)
                pass_on()
        m.d.comb += ahead.looking.eq(state.ongoing("JUDGE") | state.ongoing("TAKE")
                                     | state.ongoing("TAKEN"))
