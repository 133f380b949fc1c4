"""Completion queues: address, fill level and arming of each."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ....layouts.via import CQ_ARM, CQ_BITS, CQ_CONFIG, CQ_CONSUMED, VA_BITS
from ...bus.pio import LastWrite, PageWrite
from ...parts.distinct_queue import DistinctQueue
from ...parts.sizes import check_power_of_two
from ..types import Address, CqSetup

__all__ = ["CompletionQueues", "CqState", "CqUse"]

COUNT_BITS = 16


class CqState(data.Struct):
    """A completion queue: whether it is set up (``enabled``), and full (``full``); the address of
    its next entry (``wide``: beyond all addresses), its tag, and the entry's phase."""

    enabled: 1
    full: 1
    address: Address
    wide: 1
    tag: 16
    phase: 1


CqUse = wiring.Signature({
    "look": Out(1),
    "number": Out(CQ_BITS),
    "state": In(CqState),
    "append": Out(1),
    "judge": Out(1),
    "notify": In(1),
})
"""``look`` reads queue ``number``; from the next cycle until the next ``look`` its ``state`` is
shown. ``append`` says that an entry has landed at its ``address``: the tail moves on, unless the
queue was set up anew since its ``look``. ``judge`` decides an arming that was taken together with
this ``look``. Both disarm the queue with ``notify``, in the same cycle: what was armed for is
there. ``append`` and ``judge`` not in the cycle of a ``look``, nor in the one after it."""

Config = data.StructLayout({field.name: field.width for field in CQ_CONFIG.fields})
_Place = data.StructLayout({"base": Address, "config": Config})
_Filled = data.StructLayout({"tail": COUNT_BITS, "armed": 1})
_Arming = data.StructLayout({"count": COUNT_BITS, "valid": 1})


class CompletionQueues(wiring.Component):
    """State of ``cqs`` completion queues in block memory, for one unit that appends entries.

    Latency: 1 cycle from ``look``; an arming is offered 3 cycles after its write. Throughput: a PIO
    write a cycle. Back-pressure: none to PIO: of several armings of one queue that wait at once the
    last one counts. Reset: no queue enabled; ``ready`` after cycles of half the queues.

    Parameters
    ----------
    cqs : int
        Completion queues: a power of two of 2 to 256.

    Members
    -------
    pages : In(PageWrite)
        Writes to the queues' pages, at layouts.via.CQ_CONSUMED or CQ_ARM. Refused: another process
        than the owner and the kernel, and a queue that is not enabled. None is lost. Not in one
        cycle with ``setup``.
    setup : In(CqSetup)
        Registers of the kernel agent.
    use : In(CqUse)
        The unit.
    arm : Out(stream)
        A queue that was armed, to be judged.
    ready, idle : Out(1)
        Cleared; nothing changes until something comes in.

    Raises
    ------
    TypeError, ValueError
        ``cqs`` breaks its rule.
    """

    def __init__(self, *, cqs: int) -> None:
        check_power_of_two("cqs", cqs, least=2, most=1 << CQ_BITS)
        self._cqs = cqs
        # The queue of armings has at least four items.
        self._bits = max(ceil_log2(cqs), 2)
        super().__init__({
            "pages": In(PageWrite),
            "setup": In(CqSetup),
            "use": In(CqUse),
            "arm": Out(stream.Signature(self._bits)),
            "ready": Out(1),
            "idle": Out(1),
        })

    @property
    def cqs(self) -> int:
        """Completion queues."""
        return self._cqs

    def elaborate(self, platform: object) -> Module:
        m = Module()
        depth = 1 << self._bits
        m.submodules.places = places = memory.Memory(shape=_Place, depth=depth, init=[])
        m.submodules.consumed = consumed = memory.Memory(shape=COUNT_BITS, depth=depth, init=[])
        m.submodules.filled = filled = memory.Memory(shape=_Filled, depth=depth, init=[])
        m.submodules.armings = armings = memory.Memory(shape=_Arming, depth=depth, init=[])
        m.submodules.waiting = waiting = DistinctQueue(items=depth)
        wiring.connect(m, waiting.o, wiring.flipped(self.arm))
        # Registers, not memory, so that a reset disables all queues. `emptied` is the count that
        # the setting up of a queue gives to the appending side, which alone writes `filled`.
        enabled = Signal(depth)
        emptied = Signal(depth)
        empties = Signal(depth)
        empty_done = Signal(depth)
        m.d.sync += emptied.eq((emptied & ~empty_done) | empties)

        self._pio(m, places=places, consumed=consumed, armings=armings, waiting=waiting,
                  enabled=enabled, empties=empties)
        self._unit(m, places=places, consumed=consumed, filled=filled, armings=armings,
                   enabled=enabled, emptied=emptied, empty_done=empty_done)
        return m

    def _pio(self, m: Module, *, places: memory.Memory, consumed: memory.Memory,
             armings: memory.Memory, waiting: DistinctQueue, enabled: Signal,
             empties: Signal) -> None:
        """Writes of software. All of them take effect in the next cycle, in order."""
        owner = places.read_port()
        place = places.write_port()
        count = consumed.write_port()
        arming = armings.write_port()
        open_ = Signal()
        cleared = Signal()
        pages = self.pages
        last = LastWrite(m, pages)
        cq = last.page[:CQ_BITS]

        m.d.comb += [owner.addr.eq(pages.page), owner.en.eq(pages.valid)]
        m.d.sync += cleared.eq(empties.any())
        with m.If(pages.valid):
            m.d.sync += open_.eq((enabled >> pages.page[:CQ_BITS])[0])
        setup = self.setup
        with m.If(setup.valid & (setup.cq < self._cqs)):
            base = data.View(Address, setup.base)
            config = data.View(Config, setup.config)
            m.d.comb += [
                place.en.eq(1),
                place.addr.eq(setup.cq),
                place.data.base.eq(base),
                place.data.config.eq(config),
                empties.eq(1 << setup.cq[:self._bits]),
            ]
            m.d.sync += last.page.eq(setup.cq)
            with m.If(config.enable):
                m.d.sync += enabled.eq(enabled | empties)
            with m.Else():
                m.d.sync += enabled.eq(enabled & ~empties)

        m.d.comb += [
            count.addr.eq(cq), arming.addr.eq(cq), waiting.i.payload.eq(cq),
            self.ready.eq(waiting.i.ready),
            self.idle.eq(waiting.idle & ~(last.valid | cleared | pages.valid | setup.valid)),
        ]
        with m.If(cleared):
            m.d.comb += [count.en.eq(1), arming.en.eq(1)]
        with m.Elif(last.valid):
            with m.If(~open_ | ~last.by(owner.data.config.owner)):
                m.d.comb += pages.refused.eq(1)
            with m.Elif(last.offset == CQ_CONSUMED):
                m.d.comb += [count.en.eq(1), count.data.eq(last.data)]
            with m.Elif(last.offset == CQ_ARM):
                m.d.comb += [arming.en.eq(1), arming.data.count.eq(last.data),
                             arming.data.valid.eq(1), waiting.i.valid.eq(1)]

    def _unit(self, m: Module, *, places: memory.Memory, consumed: memory.Memory,
              filled: memory.Memory, armings: memory.Memory, enabled: Signal, emptied: Signal,
              empty_done: Signal) -> None:
        """The unit's view of the selected queue, and its changes to it."""
        # A queue that is set up while it is selected shows its new state completely.
        use, shown = self.use, self.use.state
        place = places.read_port(transparent_for=places.write_ports)
        count = consumed.read_port()
        row = filled.read_port()
        arming = armings.read_port()
        write = filled.write_port()
        cq = Signal(CQ_BITS)
        fresh = Signal()
        tail = Signal(COUNT_BITS)
        armed = Signal()
        used = Signal(COUNT_BITS)
        behind = Signal(COUNT_BITS)
        place_now = Signal(_Place)
        new = Signal()
        log = place.data.config.log_entries
        m.d.comb += [port.addr.eq(use.number) for port in (place, count, row, arming)]
        m.d.comb += [port.en.eq(use.look) for port in (place, count, row, arming)]
        m.d.sync += fresh.eq(use.look)
        with m.If(use.look):
            m.d.sync += cq.eq(use.number)

        m.d.comb += new.eq((emptied >> cq)[0])
        kept = Signal(data.StructLayout({"tail": COUNT_BITS, "armed": 1, "used": COUNT_BITS}))
        with m.If(fresh):
            # Emptied by software; now the appending side follows.
            m.d.comb += [tail.eq(Mux(new, 0, row.data.tail)),
                         armed.eq(~new & row.data.armed),
                         used.eq(Mux(new, 0, count.data))]
            m.d.sync += [kept.tail.eq(tail), kept.armed.eq(armed), kept.used.eq(used)]
            with m.If(new):
                m.d.comb += [write.en.eq(1), write.addr.eq(cq), empty_done.eq(1 << cq)]
        with m.Else():
            m.d.comb += [tail.eq(kept.tail), armed.eq(kept.armed), used.eq(kept.used)]

        start = Signal(VA_BITS + 1)
        m.d.comb += [
            place_now.eq(place.data),
            behind.eq(tail - used),
            shown.enabled.eq((enabled >> cq)[0]),
            shown.full.eq((behind >> log).any()),
            start.eq(place_now.base.va + ((tail & ((1 << log) - 1)[:COUNT_BITS]) << 3)),
            shown.address.va.eq(start),
            shown.address.handle.eq(place_now.base.handle),
            shown.wide.eq(start[VA_BITS]),
            shown.tag.eq(place_now.config.tag),
            shown.phase.eq(~(tail >> log)[0]),
        ]

        with m.If(~fresh & ~new):
            with m.If(use.append):
                m.d.comb += [
                    use.notify.eq(armed),
                    write.en.eq(1), write.addr.eq(cq), write.data.tail.eq(tail + 1),
                ]
            with m.If(use.judge & arming.data.valid):
                m.d.comb += [
                    use.notify.eq(tail != arming.data.count),
                    write.en.eq(1), write.addr.eq(cq), write.data.tail.eq(tail),
                    write.data.armed.eq(~use.notify),
                ]
