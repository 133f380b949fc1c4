"""Doorbells of the NIC processor: into a hardware queue, or as words into NIC memory."""

from amaranth.hdl import Cat, Module, Mux, ResetInserter, Signal
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.processor import DOORBELL_ENTRY, DOORBELL_OWNER, DOORBELL_PAGES_MAX, DOORBELL_WORDS
from ....layouts.trace import Kind
from ...bus.pio import PROCESS_BITS, LastWrite, PageWrite
from ...parts.event import EventPort
from ...parts.queue import Queue
from ...parts.sizes import check_power_of_two
from ..types import WIDE_ADDRESS_BITS, WidePort

__all__ = ["DoorbellPort", "Doorbells", "GRANT_BITS"]

GRANT_BITS = 25
"""Bits of layouts.processor.DOORBELL_OWNER."""
_WORDS_WAITING = 8
_PAGE_BITS = (DOORBELL_PAGES_MAX - 1).bit_length()
_OFFSET_BITS = 6
_OWNER = DOORBELL_OWNER.offset("process")
_ENABLE = DOORBELL_WORDS.offset("enable")

_Entry = data.StructLayout({field.name: field.width for field in DOORBELL_ENTRY.fields})

DoorbellPort = wiring.Signature({
    "entry": In(32),
    "data": In(64),
    "look": Out(1),
    "pop": Out(1),
    "grant": Out(stream.Signature(GRANT_BITS)),
})
"""The register file's side: the oldest doorbell (layouts.processor.DOORBELL_ENTRY; 0: none) and its
data; ``look`` in a cycle in which the firmware reads ``entry``; ``pop`` takes it off the queue;
``grant`` says whose doorbells a page takes (layouts.processor.DOORBELL_OWNER)."""


class _Ring(data.Struct):
    """A doorbell in the queue."""

    page: _PAGE_BITS
    offset: _OFFSET_BITS
    process: PROCESS_BITS
    data: 64


class _Word(data.Struct):
    """A doorbell on its way into NIC memory."""

    address: WIDE_ADDRESS_BITS
    data: 64


class Doorbells(wiring.Component):
    """Checks every write to a doorbell page, and passes it to the firmware.

    While it is enabled, a page accepts the doorbells of the process to which it was granted, and
    always those of process 0, the kernel. Refused are all others; a write at an invalid offset (in
    the queue, beyond 8 * 63; as words, other than 0 and 8) or whose word is beyond the end of NIC
    memory; and every write while ``run`` is low.

    With ``words`` bit 24 low, doorbells wait in a queue. A doorbell that finds it full is ``lost``,
    and the firmware is informed: the next entry that it reads has ``lost`` set, until it is popped.
    There is always such an entry, because a doorbell is lost only with ``depth`` doorbells in the
    queue, of which the firmware has read one at most. When firmware reads this entry and then
    checks all its queues, it finds everything that was posted before the doorbell was lost.

    With that bit high, doorbells are written to NIC memory. Up to 8 wait for ``port``; the next one
    is ``lost`` without a report to the firmware. So ``port`` must on average be ready as often as
    processes ring.

    Latency: 3 cycles from a write to its entry, or to its access on ``port``. Throughput: a write
    every cycle. Reset, and as long as ``run`` is low: nothing waits. Grants stay; at power-up there
    are none.

    Parameters
    ----------
    depth : :class:`int`
        Doorbells that wait in the queue: a power of two, 4 or more.
    memory_bytes : :class:`int`
        Size of NIC memory: a power of two, up to 1048576.

    Members
    -------
    run : ``In(1)``
        Low: the processor is held in reset.
    pages : ``In(PageWrite)``
        Writes to doorbell pages.
    owner : ``In(stream of DOORBELL_OWNER)``
        The kernel's grants; always ready. They come before the firmware's.
    words : ``In(25)``
        layouts.processor.DOORBELL_WORDS.
    processor : ``In(DoorbellPort)``
        To the register file.
    port : ``Out(WidePort)``
        To NIC memory; only writes.
    waiting : ``Out(1)``
        The queue has an entry: Pending.DOORBELL.
    wrote : ``Out(1)``
        High for a cycle with each word written: Pending.WINDOW.
    idle : ``Out(1)``
        Nothing is on its way; entries may wait for the firmware.
    event : ``Out(EventPort)``
        Block DOORBELL: BEGIN when a doorbell is accepted, arg: its page.

    Raises
    ------
    TypeError
        A parameter is not an integer.
    ValueError
        A parameter breaks its rule.
    """

    run: In(1)
    pages: In(PageWrite)
    owner: In(stream.Signature(GRANT_BITS, always_ready=True))
    words: In(25)
    processor: In(DoorbellPort)
    port: Out(WidePort)
    waiting: Out(1)
    wrote: Out(1)
    idle: Out(1)
    event: Out(EventPort)

    def __init__(self, *, depth: int, memory_bytes: int) -> None:
        check_power_of_two("depth", depth, least=4)
        check_power_of_two("memory_bytes", memory_bytes, least=8, most=8 << WIDE_ADDRESS_BITS)
        self._depth = depth
        self._memory_bytes = memory_bytes
        super().__init__()

    @property
    def depth(self) -> int:
        """Doorbells that wait in the queue."""
        return self._depth

    @property
    def memory_bytes(self) -> int:
        """Size of NIC memory."""
        return self._memory_bytes

    def elaborate(self, platform: object) -> Module:
        m = Module()
        queue = Queue(shape=_Ring, depth=self._depth)
        words = Queue(shape=_Word, depth=_WORDS_WAITING)
        m.submodules.queue = ResetInserter(~self.run)(queue)
        m.submodules.words = ResetInserter(~self.run)(words)
        owner = self._owners(m)

        # The write of the previous cycle; the owner of its page is known now.
        pages = self.pages
        last = LastWrite(m, pages)
        page = last.page[:_PAGE_BITS]
        offset = last.offset[3:]

        in_words = self.words[_ENABLE]
        place = Signal(WIDE_ADDRESS_BITS + 1)
        allowed = Signal()
        accepted = Signal()
        m.d.comb += [
            place.eq(self.words[3:20] + Cat(offset[0], page)),
            queue.i.payload.page.eq(page),
            queue.i.payload.offset.eq(offset),
            queue.i.payload.process.eq(last.process),
            queue.i.payload.data.eq(last.data),
            words.i.payload.address.eq(place),
            words.i.payload.data.eq(last.data),
            self.event.valid.eq(accepted),
            self.event.kind.eq(Kind.BEGIN),
            self.event.arg.eq(page),
        ]
        with m.If(last.valid):
            m.d.comb += [
                allowed.eq(self.run & (last.page[_PAGE_BITS:] == 0)
                           & Mux(owner[-1], last.by(owner[:-1]), last.process == 0)),
                pages.refused.eq(~allowed),
            ]
            with m.If(allowed & in_words):
                with m.If((offset[1:] == 0) & (place < self._memory_bytes // 8)):
                    m.d.comb += [
                        words.i.valid.eq(1),
                        accepted.eq(words.i.ready),
                        pages.lost.eq(~words.i.ready),
                    ]
                with m.Else():
                    m.d.comb += pages.refused.eq(1)
            with m.Elif(allowed):
                with m.If(offset[_OFFSET_BITS:] == 0):
                    m.d.comb += [
                        queue.i.valid.eq(1),
                        accepted.eq(queue.i.ready),
                        pages.lost.eq(~queue.i.ready),
                    ]
                with m.Else():
                    m.d.comb += pages.refused.eq(1)

        m.d.comb += [
            self.port.valid.eq(words.o.valid),
            self.port.write.eq(1),
            self.port.address.eq(words.o.payload.address),
            self.port.data.eq(words.o.payload.data),
            self.port.strobe.eq(0xFF),
            words.o.ready.eq(self.port.ready),
            self.wrote.eq(words.o.valid & self.port.ready),
            self.idle.eq(~(pages.valid | last.valid | (words.level != 0)
                           | ((queue.level != 0) & ~queue.o.valid))),
        ]
        self._firmware(m, queue, pages.lost & ~in_words)
        return m

    def _owners(self, m: Module) -> Signal:
        """The table of owners; returns the owner of the page looked up in the previous cycle."""
        m.submodules.owners = owners = memory.Memory(shape=PROCESS_BITS + 1,
                                                     depth=DOORBELL_PAGES_MAX, init=[])
        write = owners.write_port()
        read = owners.read_port()
        grant = self.processor.grant
        given = Signal(GRANT_BITS)
        m.d.comb += [
            given.eq(grant.payload),
            grant.ready.eq(~self.owner.valid),
            write.en.eq(self.owner.valid | grant.valid),
            write.addr.eq(given[:_PAGE_BITS]),
            write.data.eq(given[_OWNER:]),
            read.addr.eq(self.pages.page),
            read.en.eq(self.pages.valid),
        ]
        with m.If(self.owner.valid):
            m.d.comb += given.eq(self.owner.payload)
        return read.data

    def _firmware(self, m: Module, queue: Queue, lost: Signal) -> None:
        """The head of the queue, in the form for the firmware."""
        port = self.processor
        head = queue.o.payload
        # A loss not reported yet, and that the entry at the head has reported one.
        untold = Signal()
        told = Signal()
        entry = data.View(_Entry, port.entry)
        m.d.comb += self.waiting.eq(queue.o.valid)
        with m.If(queue.o.valid):
            m.d.comb += [
                entry.page.eq(head.page),
                entry.offset.eq(head.offset),
                entry.process.eq(head.process),
                entry.lost.eq(untold | told),
                entry.valid.eq(1),
                port.data.eq(head.data),
                queue.o.ready.eq(port.pop),
            ]
            with m.If(port.look & untold):
                m.d.sync += [untold.eq(0), told.eq(1)]
            with m.If(port.pop):
                m.d.sync += told.eq(0)
        with m.If(lost):
            m.d.sync += untold.eq(1)
        with m.If(~self.run):
            m.d.sync += [untold.eq(0), told.eq(0)]
