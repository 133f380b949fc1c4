"""Doorbells: PIO writes to VIs' pages become tokens of the work queues, or armings."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.trace import Kind
from ....layouts.via import ADDRESS, DESCRIPTOR_ALIGN, QUEUE_BITS, VI_BITS, Doorbell, Event, ViState
from ...bus.pio import LastWrite, PageWrite
from ...parts.distinct_queue import DistinctQueue
from ...parts.event import EventPort
from ...parts.queue import Queue
from ...parts.sizes import check_power_of_two, check_vis
from ..types import Address, Arm, Break, ContextRead, Token

__all__ = ["Doorbells"]

_OVERRUN = 1
"""Low bit of what is queued for ``break_``; the other one is POST_DESC."""


class Doorbells(wiring.Component):
    """Checks every write to a VI's page, and queues its token or arming.

    Refused: a write by a process that is not the VI's owner (process 0, the kernel, may always), to
    a VI that is CLOSED, or at an offset that is none of layouts.via.Doorbell. A refused write has
    no other effect. Other writes are a token or an arming:

    - a token whose address is not a multiple of 64 breaks the VI with POST_DESC;
    - a token, or an arming, that finds its queue full is ``lost`` and breaks the VI with
      VI_OVERRUN. This is never silent: each kind of break of a VI is queued at most once and so
      always finds room. Tokens and armings have separate queues;
    - all others go to the work queues, or to the completion unit, in order.

    Latency: 3 cycles from a write to its token, arming or break. Throughput: a write every cycle,
    until ``depth`` tokens wait; on average no more than the tokens are taken at. Back-pressure:
    none for writes. Reset: nothing waits; no write but refused ones in the first ``vis`` cycles.

    Parameters
    ----------
    vis : :class:`int`
        VIs: a power of two, 2 to 4096.
    depth : :class:`int`
        Tokens, and armings, that wait: a power of two, 4 or more.

    Members
    -------
    pages : ``In(PageWrite)``
        Writes to the VIs' pages; ``page`` is the VI.
    context : ``Out(ContextRead)``
        Owners and states.
    token : ``Out(stream of Token)``
        To the work queues.
    arm : ``Out(stream of Arm)``
        To the completion unit.
    break_ : ``Out(stream of Break)``
        To the manager.
    idle : ``Out(1)``
        Nothing waits, nothing is written.
    event : ``Out(EventPort)``
        Block DOORBELL: BEGIN when a token is accepted, arg: its work queue.

    Raises
    ------
    TypeError
        A parameter is not an integer.
    ValueError
        A parameter breaks its rule.
    """

    pages: In(PageWrite)
    context: Out(ContextRead)
    token: Out(stream.Signature(Token))
    arm: Out(stream.Signature(Arm))
    break_: Out(stream.Signature(Break))
    idle: Out(1)
    event: Out(EventPort)

    def __init__(self, *, vis: int, depth: int) -> None:
        check_vis(vis)
        check_power_of_two("depth", depth, least=4)
        self._vis = vis
        self._depth = depth
        super().__init__()

    @property
    def vis(self) -> int:
        """VIs."""
        return self._vis

    @property
    def depth(self) -> int:
        """Tokens, and armings, that wait."""
        return self._depth

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.tokens = tokens = Queue(shape=Token, depth=self._depth)
        m.submodules.arms = arms = Queue(shape=Arm, depth=self._depth)
        m.submodules.breaks = breaks = DistinctQueue(items=2 * self._vis)
        wiring.connect(m, tokens.o, wiring.flipped(self.token))
        wiring.connect(m, arms.o, wiring.flipped(self.arm))

        # The write of the previous cycle; the context of its VI is known now.
        pages = self.pages
        last = LastWrite(m, pages)
        vi = last.page[:VI_BITS]
        m.d.comb += self.context.vi.eq(vi)
        with m.If(pages.valid):
            m.d.comb += self.context.vi.eq(pages.page)

        context = self.context.data
        allowed = Signal()
        address = Signal(Address)
        queue = Signal(QUEUE_BITS)
        overruns = Signal()
        m.d.comb += [
            queue.eq(Cat(last.offset[3], vi)),
            address.va.eq(last.data[ADDRESS.offset("va"):]),
            address.handle.eq(last.data[ADDRESS.offset("handle"):]),
            self.event.kind.eq(Kind.BEGIN),
        ]
        with m.If(last.valid):
            m.d.comb += [
                allowed.eq((context.state != ViState.CLOSED)
                           & last.by(context.attributes.owner)),
                pages.refused.eq(1),
                tokens.i.payload.queue.eq(queue),
                tokens.i.payload.address.eq(address),
                arms.i.payload.queue.eq(queue),
                arms.i.payload.count.eq(last.data),
            ]
        with m.If(allowed), m.Switch(last.offset):
            with m.Case(Doorbell.SEND, Doorbell.RECEIVE):
                m.d.comb += pages.refused.eq(0)
                with m.If(address.va % DESCRIPTOR_ALIGN != 0):
                    m.d.comb += breaks.i.valid.eq(1)
                with m.Else():
                    m.d.comb += [
                        tokens.i.valid.eq(1),
                        self.event.valid.eq(tokens.i.ready),
                        self.event.arg.eq(queue),
                        pages.lost.eq(~tokens.i.ready),
                    ]
            with m.Case(Doorbell.ARM_SEND, Doorbell.ARM_RECEIVE):
                m.d.comb += [
                    pages.refused.eq(0),
                    arms.i.valid.eq(1),
                    pages.lost.eq(~arms.i.ready),
                ]
        with m.If(pages.lost):
            m.d.comb += [overruns.eq(1), breaks.i.valid.eq(1)]

        m.d.comb += [
            breaks.i.payload.eq(Cat(overruns, vi)),
            self.break_.valid.eq(breaks.o.valid),
            self.break_.payload.vi.eq(breaks.o.payload[1:]),
            breaks.o.ready.eq(self.break_.ready),
            self.idle.eq(~(pages.valid | last.valid | (tokens.level != 0) | (arms.level != 0))
                         & breaks.idle),
        ]
        with m.If(breaks.o.payload[0] == _OVERRUN):
            m.d.comb += self.break_.payload.event.eq(Event.VI_OVERRUN)
        with m.Else():
            m.d.comb += self.break_.payload.event.eq(Event.POST_DESC)
        return m
