"""Send slots: whole packets, kept until they have left or are acknowledged."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ....layouts.via import VI_BITS
from ...parts.block_ram import BlockRam
from ...parts.queue import Queue
from ...parts.sizes import check_count, check_power_of_two
from .job import Release, Slot, before

__all__ = ["FRONT_WORDS", "Owing", "SendSlots", "slot_send", "slot_wait", "slot_word",
           "slot_write"]

FRONT_WORDS = 4
"""Words of room for a packet's headers."""

Owing = wiring.Signature({
    "vi": Out(VI_BITS),
    "sequence": Out(8),
    "same": In(1),
    "lined": In(1),
    "waits": In(1),
    "leave": Out(1),
    "settle": Out(1),
})
"""An acknowledgement ``sequence`` that is owed to the peer of ``vi``. ``same``: the offered slot
can carry it. ``lined``: some queued slot can. ``waits``: an earlier one of that VI was left to the
slots. ``leave`` leaves this one to the queued slots, only if ``lined``; ``settle`` drops the one
that was left, because a later one leaves."""


def slot_word(bits: int) -> wiring.Signature:
    """Writes word ``index``, of the given number of bits, of one part of a slot, with ``valid``."""
    return wiring.Signature({"valid": Out(1), "index": Out(bits), "data": Out(64)})


def slot_write(bits: int) -> wiring.Signature:
    """Writes a packet into a slot; slot indices have the given number of bits.

    ``free``: ``free_slot`` can take the next packet. It stays free until ``commit``, but the index
    may change in every cycle, so the user must store it. Words of the headers (``front``) and of
    the payload (``body``) go to ``slot``, and ``commit`` queues it as ``meta``. ``part``, from the
    cycle after ``commit``: the packet is not whole; only ``filled`` of its payload words are
    written.
    """
    return wiring.Signature({
        "free": In(1),
        "free_slot": In(bits),
        "slot": Out(bits),
        "front": Out(slot_word(2)),
        "body": Out(slot_word(8)),
        "commit": Out(1),
        "meta": Out(Slot),
        "part": Out(1),
        "filled": Out(8),
    })


def slot_wait(bits: int) -> wiring.Signature:
    """Handles slots that wait for an acknowledgement.

    ``release`` drops packets. ``find``: the slot that holds packet ``sequence`` of ``vi``, whether
    it was sent and is not queued (``waits``), and, a cycle later, when a waiting slot was last
    ``sent``. ``again`` queues ``again_slot``, which waits. ``expiry``: packet ``sequence`` of
    ``vi`` was not acknowledged in time; it holds until ``extend``, ``again`` or ``release``. After
    ``extend`` it rises again when ``extension`` cycles have passed.
    """
    return wiring.Signature({
        "release": Out(Release),
        "find": Out(wiring.Signature({
            "vi": Out(VI_BITS),
            "sequence": Out(8),
            "found": In(1),
            "slot": In(bits),
            "waits": In(1),
            "sent": In(32),
        })),
        "again": Out(1),
        "again_slot": Out(bits),
        "expiry": Out(wiring.Signature({
            "valid": In(1),
            "vi": In(VI_BITS),
            "sequence": In(8),
            "extend": Out(1),
            "extension": Out(32),
        })),
    })


def slot_send(bits: int) -> wiring.Signature:
    """Sends slots.

    ``offer``: the slot to send now. ``again``: it was sent before. ``asks``: it must request an
    acknowledgement, even if its packet does not. ``forgotten``: it was released while queued and
    must not be sent, only reported ``done``. ``carries``: it can carry the acknowledgement
    ``carried`` that was left for its VI, which is dropped with ``offer.ready``. ``done``:
    ``done_slot`` has left, or is forgotten. ``read``: after a cycle with ``en``, ``meta`` of
    ``slot``, word ``front_index`` of its headers, word ``body_index`` of its payload. ``part``: of
    ``part_slot`` only ``filled`` of the payload words are written.
    """
    return wiring.Signature({
        "offer": In(stream.Signature(bits)),
        "again": In(1),
        "asks": In(1),
        "forgotten": In(1),
        "carries": In(1),
        "carried": In(8),
        "done": Out(1),
        "done_slot": Out(bits),
        "read": Out(wiring.Signature({
            "en": Out(1),
            "slot": Out(bits),
            "front_index": Out(2),
            "body_index": Out(8),
            "meta": In(Slot),
            "front": In(64),
            "body": In(64),
        })),
        "part": In(1),
        "part_slot": In(bits),
        "filled": In(8),
    })


def _count(bits: Value) -> Value:
    """The number of ``bits`` that are set."""
    if len(bits) == 1:
        return bits
    return _count(bits[:len(bits) // 2]) + _count(bits[len(bits) // 2:])


class SendSlots(wiring.Component):
    """Storage and state of the packets that wait to be sent, or to be acknowledged.

    A slot is ``free``, then written, then queued by ``commit`` (first committed, first sent). A
    writer that commits before the last word must ensure that no word is read before it is written.
    ``offer`` has the slot to send now: one to be sent again before a new one. When it is ``done``,
    an unreliable slot is free again; a reliable one waits for its ``release`` (by an
    acknowledgement, or of the whole VI by an abort). While it waits, ``expiry`` reports that
    ``timeout`` has passed since it was sent, or ``extension`` since the last ``extend``; ``again``
    queues slot ``again_slot`` once more. A slot released while it is queued or being sent becomes
    free only after that.

    A reliable slot must request an acknowledgement (``asks``) if it is taken from ``offer`` while
    more than half of the slots are committed, or if it was sent before. So if no slot is free and
    none is queued, the last packet sent has requested one (proven: tests/formal).

    Latency: ``commit`` to ``offer`` 2 cycles. ``release`` acts at the edge. Throughput: one commit,
    one release, one transmission a cycle. A time-out is seen at most ``slots`` cycles late.
    Reset: all free.

    Parameters
    ----------
    slots : int
        A power of two, at least 2.
    words : int
        Payload words of a packet.

    Members
    -------
    write : In(slot_write(bits))
        The writer of packets.
    wait : In(slot_wait(bits))
        The handler of acknowledgements.
    send, owing : In(slot_send(bits)), In(Owing)
        The transmitter, and the acknowledgements that it owes.
    now, timeout : In(32), In(25)
        Cycle counter and time.
    idle : Out(1)
        All free.
    """

    def __init__(self, *, slots: int, words: int) -> None:
        check_power_of_two("slots", slots)
        check_count("words", words)
        self._slots = slots
        self._words = words
        bits = ceil_log2(slots)
        self._live = Signal(slots)
        self._queued = Signal(slots)
        self._waits = Signal(slots)
        self._reliable = Signal(slots)
        # Whether it may carry an acknowledgement; whether one was left to it, or to any other slot
        # of its VI.
        self._carries = Signal(slots)
        self._left = Signal(slots)
        self._vi = Array(Signal(VI_BITS, name=f"vi_{n}") for n in range(slots))
        self._left_sequence = Array(Signal(8, name=f"left_sequence_{n}") for n in range(slots))
        super().__init__({
            "write": In(slot_write(bits)),
            "wait": In(slot_wait(bits)),
            "send": In(slot_send(bits)),
            "owing": In(Owing),
            "now": In(32),
            "timeout": In(25),
            "idle": Out(1),
        })

    @property
    def slots(self) -> int:
        """Packets that fit."""
        return self._slots

    @property
    def words(self) -> int:
        """Payload words of a packet."""
        return self._words

    def elaborate(self, platform: object) -> Module:
        m = Module()
        slots = range(self._slots)
        bits = ceil_log2(self._slots)
        write, wait, send = self.write, self.wait, self.send
        live, queued, waits = self._live, self._queued, self._waits
        reliable = self._reliable
        crowded = Signal()
        vi = self._vi
        sequence = Array(Signal(8, name=f"sequence_{n}") for n in slots)
        deadline = Array(Signal(32, name=f"deadline_{n}") for n in slots)

        self._memories(m, bits)
        m.submodules.times = times = BlockRam(shape=32, depth=self._slots)
        time_write, time_read = times.write_port(), times.read_port()
        m.d.comb += [
            time_write.en.eq(send.done),
            time_write.addr.eq(send.done_slot),
            time_write.data.eq(self.now),
            time_read.addr.eq(wait.find.slot),
            time_read.en.eq(wait.find.waits),
            wait.find.sent.eq(time_read.data),
        ]
        m.submodules.new = new = Queue(shape=bits, depth=self._slots)
        m.submodules.resend = resend = Queue(shape=bits, depth=self._slots)

        # Taking and freeing slots.
        free = Signal(self._slots)
        m.d.comb += [
            free.eq(~(live | queued)),
            write.free.eq(free.any()),
            self.idle.eq(~(live | queued).any()),
            crowded.eq(_count(live) > self._slots // 2),
            send.part.eq(write.part),
            send.part_slot.eq(write.slot),
            send.filled.eq(write.filled),
            new.i.payload.eq(write.slot),
            new.i.valid.eq(write.commit),
            resend.i.payload.eq(wait.again_slot),
            resend.i.valid.eq(wait.again),
        ]
        for n in reversed(slots):
            with m.If(free[n]):
                m.d.comb += write.free_slot.eq(n)

        # The queue of slots to send.
        m.d.comb += [
            send.again.eq(resend.o.valid),
            send.offer.valid.eq(resend.o.valid | new.o.valid),
            send.offer.payload.eq(Mux(resend.o.valid, resend.o.payload, new.o.payload)),
            resend.o.ready.eq(send.offer.ready & resend.o.valid),
            new.o.ready.eq(send.offer.ready & ~resend.o.valid),
        ]
        with m.If(send.offer.valid):
            m.d.comb += [
                send.forgotten.eq(~live.bit_select(send.offer.payload, 1)),
                send.asks.eq(send.again
                             | (crowded & reliable.bit_select(send.offer.payload, 1))),
            ]

        self._owed(m)

        released = Signal(self._slots)
        matches = Signal(self._slots)
        for n in slots:
            mine = Signal(name=f"mine_{n}")
            with m.If(wait.release.valid):
                m.d.comb += [
                    mine.eq(live[n] & reliable[n] & (vi[n] == wait.release.vi)),
                    released[n].eq((mine & before(sequence[n], wait.release.sequence))
                                   | (wait.release.all & live[n]
                                      & (vi[n] == wait.release.vi))),
                ]
            m.d.comb += matches[n].eq(live[n] & reliable[n] & (vi[n] == wait.find.vi)
                                      & (sequence[n] == wait.find.sequence))
            with m.If(matches[n]):
                m.d.comb += [wait.find.slot.eq(n), wait.find.waits.eq(waits[n])]
        m.d.comb += wait.find.found.eq(matches.any())

        set_live, set_queued, set_waits = (Signal(self._slots, name=f"set_{name}")
                                           for name in ("live", "queued", "waits"))
        end_live, end_queued, end_waits = (Signal(self._slots, name=f"end_{name}")
                                           for name in ("live", "queued", "waits"))
        with m.If(write.commit):
            m.d.comb += [set_live.bit_select(write.slot, 1).eq(1),
                         set_queued.bit_select(write.slot, 1).eq(1)]
            m.d.sync += [
                vi[write.slot].eq(write.meta.vi),
                sequence[write.slot].eq(write.meta.sequence),
                reliable.bit_select(write.slot, 1).eq(write.meta.reliable),
                self._carries.bit_select(write.slot, 1).eq(write.meta.carries),
            ]
        with m.If(wait.again):
            m.d.comb += [set_queued.bit_select(wait.again_slot, 1).eq(1),
                         end_waits.bit_select(wait.again_slot, 1).eq(1)]
        with m.If(send.done):
            m.d.comb += end_queued.bit_select(send.done_slot, 1).eq(1)
            m.d.sync += deadline[send.done_slot].eq(self.now + self.timeout)
            with m.If(reliable.bit_select(send.done_slot, 1)):
                m.d.comb += set_waits.bit_select(send.done_slot, 1).eq(1)
            with m.Else():
                m.d.comb += end_live.bit_select(send.done_slot, 1).eq(1)
        with m.If(write.commit | send.done | wait.again | wait.release.valid):
            m.d.sync += [
                live.eq((live & ~end_live & ~released) | set_live),
                queued.eq((queued & ~end_queued) | set_queued),
                waits.eq(((waits & ~end_waits) | set_waits) & ~released & (live | set_live)),
            ]

        # Time: one slot a cycle.
        turn = Signal(bits)
        late = Signal()
        m.d.comb += [wait.expiry.vi.eq(vi[turn]), wait.expiry.sequence.eq(sequence[turn])]
        with m.If(wait.expiry.extend):
            m.d.sync += deadline[turn].eq(self.now + wait.expiry.extension)
        with m.If(waits.any()):
            m.d.comb += late.eq((self.now - deadline[turn])[:32].as_signed() >= 0)
            m.d.comb += wait.expiry.valid.eq(waits.bit_select(turn, 1) & late)
            with m.If(~wait.expiry.valid):
                m.d.sync += turn.eq(turn + 1)
        return m

    def _owed(self, m: Module) -> None:
        """Acknowledgements that were left to the queued slots."""
        send, owes, release = self.send, self.owing, self.wait.release
        left, vi, numbers = self._left, self._vi, self._left_sequence
        owing, offered, gone, place = (Signal(self._slots, name=name)
                                       for name in ("owing", "offered", "gone", "place"))
        lined = Signal(self._slots)
        can = Signal()
        m.d.comb += [
            can.eq(send.offer.valid & self._carries.bit_select(send.offer.payload, 1)),
            lined.eq(self._queued & self._live & self._carries & owing),
            owes.same.eq(send.offer.valid & lined.bit_select(send.offer.payload, 1)),
            owes.lined.eq(lined.any()),
            owes.waits.eq((left & owing).any()),
            place.eq(lined & -lined),
            send.carries.eq((left & offered).any()),
            gone.eq(Mux(owes.settle, owing, 0) | Mux(send.offer.ready, offered, 0)),
        ]
        m.d.sync += left.eq((left & ~gone) | Mux(owes.leave, place, 0))
        for n in range(self._slots):
            m.d.comb += [owing[n].eq(vi[n] == owes.vi),
                         offered[n].eq(can & (vi[n] == vi[send.offer.payload]))]
            with m.If(owes.leave & place[n]):
                m.d.sync += numbers[n].eq(owes.sequence)
            with m.If(left[n] & offered[n]):
                m.d.comb += send.carried.eq(numbers[n])
            # No acknowledgement of an ended connection is sent.
            with m.If(release.valid & release.all & (vi[n] == release.vi)):
                m.d.sync += left[n].eq(0)

    def _memories(self, m: Module, bits: int) -> None:
        write, read = self.write, self.send.read
        stride = 1 << ceil_log2(self._words)
        m.submodules.fronts = fronts = BlockRam(shape=64, depth=self._slots * FRONT_WORDS)
        m.submodules.bodies = bodies = BlockRam(shape=64, depth=self._slots * stride)
        m.submodules.metas = metas = BlockRam(shape=Slot, depth=self._slots)
        low = ceil_log2(stride)
        for items, en, place, value in (
                (fronts, write.front.valid, Cat(write.front.index, write.slot),
                 write.front.data),
                (bodies, write.body.valid, Cat(write.body.index[:low], write.slot),
                 write.body.data),
                (metas, write.commit, write.slot, write.meta)):
            port = items.write_port()
            m.d.comb += [port.en.eq(en), port.addr.eq(place), port.data.eq(value)]
        for items, place, out in (
                (fronts, Cat(read.front_index, read.slot), read.front),
                (bodies, Cat(read.body_index[:low], read.slot), read.body),
                (metas, read.slot, read.meta)):
            port = items.read_port()
            m.d.comb += [port.en.eq(read.en), port.addr.eq(place), out.eq(port.data)]
