"""The rules of a NIC's socket, as assertions on its ports."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...layouts.packet import MAX_HEADER_BYTES
from ...layouts.trace import Kind
from ..bus.burst import MAX_BEATS
from ..parts.flit import Header
from .nic_side import NicSide

__all__ = ["RULES", "NicRules", "watched"]

RULES = {
    "pio answer": "a read is answered once, in a cycle after that in which it was taken; nothing "
                  "else is answered",
    "dma holds": "while valid waits for ready, valid stays and the payload of request and write "
                 "does not change",
    "dma burst": "a burst has 1 beat or more, timing.bus_max_burst bytes at most, and an address "
                 "that is a multiple of the width",
    "dma tags": "no request before done; with several tags none with a tag that is under way",
    "dma words": "write words only of bursts that were taken, as many as these have; jump only in "
                 "the last one",
    "dma memory": "bursts stay in the memory that the node has",
    "link holds": "while tx.valid waits for tx.ready, it stays and the flit does not change",
    "link framing": "first and last bracket each packet; its flits are full, but for the last and "
                    "the one before a trailer; it is longer than a header of 8 bytes, and its "
                    "trace number is one",
    "link length": "a packet has the bytes that its header's length says at least, and nic.mtu "
                   f"and {MAX_HEADER_BYTES} bytes more at most",
    "events": "an event is of a kind that there is",
    "idle": "while idle is high and nothing comes in nothing is asked for, sent, or changed",
}
"""What each rule says, by its name."""


def watched(signature: wiring.Signature) -> wiring.Signature:
    """``signature`` with each of its ports an input, for whoever looks on."""
    members: dict[str, wiring.Member] = {}
    for name, member in signature.members.items():
        found = Out(watched(member.signature)) if member.is_signature else In(member.shape)
        members[name] = found.array(*member.dimensions) if member.dimensions else found
    return wiring.Signature(members)


class NicRules(wiring.Component):
    """Watches the socket of a NIC and reports each broken rule in the cycle in which it is broken.

    Latency: none. In a simulation, look at ``broken``; in a proof, assert that it is 0. What its
    node owes the NIC is not looked at.

    Parameters
    ----------
    side : NicSide
        The socket.
    memory : int
        Bytes of host memory.
    mtu : int
        Bytes of the longest packet, without wire header.
    sleeps : bool
        Whether the NIC has an ``idle``.

    Members
    -------
    nic : Out(watched(side))
        The socket's ports, all of them inputs.
    quiet : Out(1)
        Nothing comes in, and no register access is under way.
    broken : Out
        A bit for each of :attr:`names`.
    """

    def __init__(self, *, side: NicSide, memory: int, mtu: int, sleeps: bool = True) -> None:
        self._side, self._memory, self._mtu, self._sleeps = side, memory, mtu, sleeps
        self._names = [("pio answer", "pio")]
        for number in range(side.dma):
            self._names += [(rule, f"dma[{number}].{part}") for rule, part in (
                ("dma holds", "request"), ("dma holds", "write"), ("dma burst", "request"),
                ("dma tags", "request"), ("dma words", "write"), ("dma memory", "request"))]
        self._names += [("link holds", "link.tx"), ("link framing", "link.tx"),
                        ("link length", "link.tx")]
        self._names += [("events", f"events[{number}]") for number in range(side.events)]
        self._names.append(("idle", "idle"))
        super().__init__({
            "nic": Out(watched(side)),
            "quiet": Out(1),
            "broken": Out(len(self._names)),
        })

    @property
    def names(self) -> list[tuple[str, str]]:
        """The rule and the port of each bit of ``broken``."""
        return self._names

    def elaborate(self, platform: object) -> Module:
        m = Module()
        reading = self._pio(m)
        for number in range(self._side.dma):
            self._dma(m, number)
        self._link(m)
        for number, event in enumerate(self.nic.events):
            self._flag(m, "events", f"events[{number}]", event.valid & (event.kind > max(Kind)))
        if self._sleeps:
            self._idle(m, reading)
        return m

    def _flag(self, m: Module, rule: str, port: str, condition: Value) -> None:
        m.d.comb += self.broken[self._names.index((rule, port))].eq(condition)

    def _holds(self, m: Module, rule: str, port: str, stream: Any) -> None:
        payload = Value.cast(stream.payload)
        waits = Signal(name=f"{port}_waits")
        held = Signal(len(payload), name=f"{port}_held")
        m.d.sync += [waits.eq(stream.valid & ~stream.ready), held.eq(payload)]
        self._flag(m, rule, port, waits & (~stream.valid | (payload != held)))

    def _pio(self, m: Module) -> Value:
        """Whether a read is under way."""
        pio = self.nic.pio
        reading = Signal()
        with m.If(pio.valid & pio.ready & ~pio.write):
            m.d.sync += reading.eq(1)
        with m.Elif(pio.answer.valid):
            m.d.sync += reading.eq(0)
        self._flag(m, "pio answer", "pio", pio.answer.valid & ~reading)
        return reading

    def _dma(self, m: Module, number: int) -> None:
        side, dma, port = self._side, self.nic.dma[number], f"dma[{number}]"
        request, write = dma.request, dma.write
        self._holds(m, "dma holds", f"{port}.request", request)
        self._holds(m, "dma holds", f"{port}.write", write)
        asked, width = request.payload, side.width
        taken = Signal(name=f"taken_{number}")
        m.d.comb += taken.eq(request.valid & request.ready)
        most = self.nic.timing.bus_max_burst
        self._flag(m, "dma burst", f"{port}.request", request.valid & (
            (asked.beats == 0) | (asked.beats * width > Mux(most == 0, 8 * MAX_BEATS, most))
            | (asked.address % width != 0)))
        self._flag(m, "dma memory", f"{port}.request", request.valid & (
            asked.address >= self._memory))

        if side.tags == 1:
            busy = Signal(name=f"busy_{number}")
            m.d.sync += busy.eq(taken | (busy & ~dma.done))
            self._flag(m, "dma tags", f"{port}.request", request.valid & busy & ~dma.done)
        else:
            tags = Signal(side.tags, name=f"tags_{number}")
            m.d.sync += tags.eq((tags & ~(dma.done << dma.done_tag)) | (taken << asked.tag))
            self._flag(m, "dma tags", f"{port}.request", request.valid & (
                (tags & ~(dma.done << dma.done_tag)) >> asked.tag)[0])

        # Words of the bursts that were taken, not yet given.
        left = Signal(10 + side.tags.bit_length(), name=f"left_{number}")
        moved = write.valid & write.ready
        m.d.sync += left.eq(left + Mux(taken & asked.write, asked.beats, 0) - moved)
        wrong = left == 0
        if width == 8 and side.tags == 1:
            wrong = wrong | (write.payload.jump & (left > 1))
        self._flag(m, "dma words", f"{port}.write", write.valid & wrong)

    def _link(self, m: Module) -> None:
        tx, width = self.nic.link.tx, self._side.link_width
        flit = tx.payload
        self._holds(m, "link holds", "link.tx", tx)
        inside = Signal()
        short = Signal()
        trace = Signal.like(flit.trace)
        length = Signal(16)
        before = Signal(17)  # bytes of the packet in flits before this one
        header = Signal(Header)
        m.d.comb += header.eq(flit.data[:64])
        with m.If(tx.valid & tx.ready):
            m.d.sync += [inside.eq(~flit.last), short.eq(~flit.last & (flit.size != width)),
                         before.eq(Mux(flit.last, 0, before + flit.size))]
            with m.If(flit.first):
                m.d.sync += [trace.eq(flit.trace), length.eq(header.length)]
        self._flag(m, "link framing", "link.tx", tx.valid & (
            (flit.first == inside) | (flit.size == 0) | (flit.size > width)
            | (~flit.last & (short | (flit.first & (flit.size != width))))
            | (inside & (flit.trace != trace))
            | (flit.first & flit.last & (flit.size <= 8))))
        whole = before + flit.size
        said = Mux(flit.first, header.length, length)
        self._flag(m, "link length", "link.tx", tx.valid & (
            (flit.last & (whole < said + 8)) | (whole > self._mtu + MAX_HEADER_BYTES)))

    def _idle(self, m: Module, reading: Value) -> None:
        nic = self.nic
        comes = Cat(nic.pio.valid, reading, nic.pio.answer.valid, nic.link.rx.valid,
                    *(taken.valid for taken in nic.taken),
                    *(Cat(dma.read.valid, dma.done) for dma in nic.dma)).any()
        m.d.comb += self.quiet.eq(~comes)
        asks = Cat(nic.link.tx.valid, *(dma.request.valid for dma in nic.dma)).any()
        irq = Signal.like(nic.irq)
        rests = Signal()
        m.d.sync += [rests.eq(nic.idle & self.quiet), irq.eq(nic.irq)]
        self._flag(m, "idle", "idle", self.quiet & (
            (nic.idle & asks)
            | (rests & (~nic.idle | (nic.irq != irq)
                        | Cat(event.valid for event in nic.events).any()))))
