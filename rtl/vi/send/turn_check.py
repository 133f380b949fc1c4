"""Looks at work queues' turns: which of them give a job, and for which descriptor."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.via import QUEUE_BITS, VI_BITS, Operation, Reliability, ViState
from ...parts.sizes import check_power_of_two
from ..types import Address, Context
from .job import Numbers, Position, Progress, Response
from .turn import Turn
from .unacknowledged import PLACE_BITS

__all__ = ["Checked", "Found", "Taken", "TurnCheck"]


class Found(data.Struct):
    """State of a VI: its settings, the progress of its descriptor and of its acknowledgements, the
    response owed to its peer, the end of its ring (``newest``), and its numbers."""

    context: Context
    position: Position
    progress: Progress
    response: Response
    newest: PLACE_BITS
    numbers: Numbers


class Checked(data.Struct):
    """A ``turn`` that gives a job, and whether its descriptor is to be read (``reads``): with
    ``tag``, and only as far as one segment if ``brief``."""

    turn: Turn
    reads: 1
    tag: 16
    brief: 1


Taken = wiring.Signature({"valid": Out(1), "found": Out(1), "address": Out(Address),
                          "follow": Out(1)})
"""The answer of a work queue, once: its descriptor, if one was ``found``, at ``address``, and
whether more ``follow``."""


class TurnCheck(wiring.Component):
    """Takes a turn, looks at the state of its VI, and takes the next descriptor from its queue if
    the turn needs one. A turn that gives no job is dropped (see SendFetch).

    Latency: 1 cycle from ``next`` to ``asks``, or 2 to ``o`` without a descriptor to take; ``o`` in
    the cycle of the answer ``taken``. Throughput: a turn at a time. Back-pressure: of ``o`` and
    ``asks``. Reset: idle.

    Parameters
    ----------
    window : int
        Packets of a VI that are not acknowledged.

    Members
    -------
    next : In(stream of QUEUE_BITS), may : In(1)
        A turn of a queue; whether it may be taken now.
    found : In(Found)
        State of its VI, in the cycle after it was taken.
    held : In(1), vi : Out(VI_BITS)
        In that cycle: a job of the ``vi`` has its send queue to itself.
    asks : Out(stream of QUEUE_BITS), taken : In(Taken)
        Asks a queue for its next descriptor; the answer comes in a later cycle.
    o : Out(stream of Checked)
        Turns that give a job.
    idle : Out(1)
        No turn is under way.
    """

    def __init__(self, *, window: int) -> None:
        check_power_of_two("window", window, least=1, most=32)
        self._window = window
        super().__init__({
            "next": In(stream.Signature(QUEUE_BITS)),
            "may": In(1),
            "found": In(Found),
            "held": In(1),
            "vi": Out(VI_BITS),
            "asks": Out(stream.Signature(QUEUE_BITS)),
            "taken": In(Taken),
            "o": Out(stream.Signature(Checked)),
            "idle": Out(1),
        })

    @property
    def window(self) -> int:
        """Packets not acknowledged."""
        return self._window

    def elaborate(self, platform: object) -> Module:
        m = Module()
        found, taken, checked = self.found, self.taken, self.o.payload
        position, progress, response = found.position, found.progress, found.response
        turn = Signal(Turn)
        entering = Signal(Turn)
        send = Signal()
        long = Signal()
        tag = Signal(16)
        under_way, reading, open_, unsafe = Signal(), Signal(), Signal(), Signal()
        reliability = found.context.attributes.reliability
        m.d.comb += [
            send.eq(~turn.queue[0]),
            self.vi.eq(turn.queue[1:]),
            self.asks.payload.eq(turn.queue),
            entering.eq(turn),
            checked.turn.eq(entering),
            checked.tag.eq(tag),
            checked.brief.eq(~long),
            checked.reads.eq(~(turn.lose | turn.respond | (turn.flush & turn.resumed)
                               | (turn.queue[0] & entering.taken & ~entering.follow))),
            under_way.eq(position.active & position.begun),
            reading.eq(found.numbers.reads != progress.read_done),
            open_.eq((reliability == Reliability.UNRELIABLE_DELIVERY)
                     | ((found.numbers.following - progress.acknowledged)[:8] < self._window)),
            unsafe.eq((position.operation == Operation.RDMA_READ)
                      & (found.newest != progress.oldest)),
        ]

        def pass_on() -> None:
            m.d.comb += self.o.valid.eq(1)
            m.next = "PASS"
            with m.If(self.o.ready):
                m.next = "IDLE"

        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.idle.eq(1)
                with m.If(self.next.valid & self.may):
                    m.d.comb += self.next.ready.eq(1)
                    m.d.sync += [
                        turn.queue.eq(self.next.payload), turn.follow.eq(0), turn.taken.eq(0),
                        turn.flush.eq(0), turn.resumed.eq(0), turn.respond.eq(0), turn.lose.eq(0),
                    ]
                    m.next = "LOOK"
            with m.State("LOOK"):
                m.d.sync += [long.eq(found.numbers.long), tag.eq(found.context.attributes.tag)]
                m.next = "IDLE"
                with m.If(~(send & self.held)):
                    with m.Switch(found.context.state):
                        with m.Case(ViState.CONNECTED):
                            with m.If(position.failed):
                                with m.If(send & position.armed
                                          & (position.place == progress.oldest)):
                                    m.d.sync += turn.lose.eq(1)
                                    m.next = "PASS"
                            with m.Elif(send & open_):
                                with m.If(response.active & ~under_way):
                                    m.d.sync += turn.respond.eq(1)
                                    m.next = "PASS"
                                with m.Elif(~reading):
                                    m.next = "TAKE"
                                    with m.If(position.active):
                                        m.d.sync += [turn.resumed.eq(1),
                                                     turn.address.eq(position.address)]
                                        m.next = "PASS"
                                        with m.If(unsafe):
                                            m.next = "IDLE"
                        with m.Case(ViState.IDLE):
                            with m.If(send):
                                m.d.sync += turn.flush.eq(1)
                                m.next = "TAKE"
                        with m.Case(ViState.ERROR):
                            with m.If(~progress.connected):
                                m.d.sync += turn.flush.eq(1)
                                m.next = "TAKE"
                                with m.If(send & position.active):
                                    m.d.sync += [turn.resumed.eq(1),
                                                 turn.address.eq(position.address)]
                                    m.next = "PASS"
            with m.State("TAKE"):
                m.d.comb += self.asks.valid.eq(1)
                with m.If(self.asks.ready):
                    m.next = "TAKEN"
            with m.State("TAKEN"):
                with m.If(taken.valid):
                    m.d.comb += [entering.address.eq(taken.address),
                                 entering.follow.eq(taken.follow), entering.taken.eq(1)]
                    m.d.sync += [turn.address.eq(taken.address), turn.follow.eq(taken.follow),
                                 turn.taken.eq(1)]
                    with m.If(taken.found):
                        pass_on()
                    with m.Else():
                        m.next = "IDLE"
            with m.State("PASS"):
                pass_on()
        return m
