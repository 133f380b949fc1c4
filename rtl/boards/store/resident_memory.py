"""Resident pages of a node's host memory on a board."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ....layouts.board import PAGE_BYTES
from ...bus.memory import MemoryPort
from ...parts.sizes import check_integer

__all__ = ["FRAME_WORDS", "FRAMES_MAX", "MemorySide", "ResidentMemory", "WriteLayout"]

FRAME_WORDS = PAGE_BYTES // 8
"""8-byte words of a page, and of the frame in which it is resident."""
FRAMES_MAX = 1 << 15
"""Most frames that the protocol can address."""
_PAGES_MAX = 1 << 16


def WriteLayout(address: int) -> data.StructLayout:
    """A write of the target: bytes ``strobe`` of ``data``, to a word's address of so many bits."""
    return data.StructLayout({"strobe": 8, "address": address, "data": 64})


def MemorySide(frames: int) -> wiring.Signature:
    """A :class:`ResidentMemory` from its control's side: a cycle with ``en`` is an access to the
    word at ``place``, whose ``rdata`` is valid in the next cycle. In a cycle with ``map``, page
    ``page`` becomes resident in ``frame``, or without ``valid`` not resident."""
    return wiring.Signature({
        "en": Out(1),
        "we": Out(1),
        "place": Out(ceil_log2(frames * FRAME_WORDS)),
        "wdata": Out(64),
        "rdata": In(64),
        "map": Out(1),
        "page": Out(16),
        "frame": Out(ceil_log2(frames)),
        "valid": Out(1),
    })


class ResidentMemory(wiring.Component):
    """Memory of ``words`` 8-byte words, of which ``frames`` pages are on the board; the back end
    has the rest.

    An access of the target is captured at the edge that makes it, and executed while the target
    stands still: a write takes 2 cycles, a read 3, and a write waits for room in the log. An access
    to a page that is not resident waits for ``retry``, before which the page must be made resident.
    Both RAMs are block RAM with one read and one write port. Reset changes no word and maps no
    page.

    Parameters
    ----------
    words : :class:`int`
        Size of the memory for the target: a power of two, 2 to 65536 pages.
    frames : :class:`int`
        Pages that fit, 2 to FRAMES_MAX.

    Members
    -------
    port : ``In(MemoryPort)``
        The target. Its ``rdata`` stays until the next read.
    step : ``In(1)``
        The next edge is one of the target's. Not while ``pending``.
    reset : ``In(1)``
        The target is in reset: drops an access.
    pending : ``Out(1)``
        There is an access that has not been executed yet.
    miss : ``Out(1)``, miss_page : ``Out(16)``, retry : ``In(1)``
        The access's page is not resident; its number; check again.
    log : ``Out(stream)``
        Every write of at least a byte: a WriteLayout.
    control : ``In(MemorySide)``
        The back door. To be used only while there is no ``pending`` access, except for a ``miss``.

    Raises
    ------
    TypeError
        ``words`` or ``frames`` is not an integer.
    ValueError
        ``words`` is not a power of two, or one of the two is out of range.
    """

    def __init__(self, *, words: int, frames: int) -> None:
        for name, value in (("words", words), ("frames", frames)):
            check_integer(name, value)
        smallest, largest = 2 * FRAME_WORDS, _PAGES_MAX * FRAME_WORDS
        if not smallest <= words <= largest or words & (words - 1):
            raise ValueError(
                f"words must be a power of two, {smallest} to {largest}, not {words}")
        if not 2 <= frames <= FRAMES_MAX:
            raise ValueError(f"frames must be 2 to {FRAMES_MAX}, not {frames}")
        self._words = words
        self._frames = frames
        super().__init__({
            "port": In(MemoryPort(words)),
            "step": In(1),
            "reset": In(1),
            "pending": Out(1),
            "miss": Out(1),
            "miss_page": Out(16),
            "retry": In(1),
            "log": Out(stream.Signature(WriteLayout(ceil_log2(words)))),
            "control": In(MemorySide(frames)),
        })

    @property
    def words(self) -> int:
        """Size of the memory for the target, in 8-byte words."""
        return self._words

    @property
    def frames(self) -> int:
        """Pages that fit."""
        return self._frames

    def elaborate(self, platform: object) -> Module:
        m = Module()
        port, control, log = self.port, self.control, self.log
        inside = ceil_log2(FRAME_WORDS)
        where = data.StructLayout({"frame": ceil_log2(self._frames), "valid": 1})

        we = Signal()
        address = Signal.like(port.address)
        wdata = Signal(64)
        strobe = Signal(8)
        page = address[inside:]
        m.d.comb += self.miss_page.eq(page)

        # Enables that exclude each other, so that synthesis sees that no word is read while it is
        # written, and adds no logic around the RAM for that case.
        m.submodules.map = pages = memory.Memory(shape=where, depth=self._words // FRAME_WORDS,
                                                 init=[])
        map_write, map_read = pages.write_port(), pages.read_port()
        looks, looked, coming = Signal(), Signal(), Signal()
        m.d.comb += [
            map_write.en.eq(control.map),
            map_write.addr.eq(control.page),
            map_write.data.frame.eq(control.frame),
            map_write.data.valid.eq(control.valid),
            looks.eq(self.pending & ~looked & ~coming & ~self.miss & ~control.map),
            map_read.en.eq(looks),
            map_read.addr.eq(page),
        ]

        m.submodules.frames = words = memory.Memory(
            shape=64, depth=self._frames * FRAME_WORDS, init=[])
        write, read = words.write_port(granularity=8), words.read_port()
        acts = Signal()
        place = Signal.like(control.place)
        m.d.comb += [
            place.eq(Cat(address[:inside], map_read.data.frame)),
            write.addr.eq(Mux(control.en, control.place, place)),
            write.data.eq(Mux(control.en, control.wdata, wdata)),
            read.addr.eq(write.addr),
            read.en.eq(0),
            control.rdata.eq(read.data),
        ]
        with m.If(control.en):
            m.d.comb += [write.en.eq(control.we.replicate(8)), read.en.eq(~control.we)]
        with m.Elif(acts):
            m.d.comb += [write.en.eq(strobe & we.replicate(8)), read.en.eq(~we)]

        m.d.comb += [
            log.payload.strobe.eq(strobe),
            log.payload.address.eq(address),
            log.payload.data.eq(wdata),
        ]
        with m.If(self.step & port.en):
            m.d.sync += [self.pending.eq(1), we.eq(port.we), address.eq(port.address),
                         wdata.eq(port.wdata), strobe.eq(port.strobe)]
        with m.If(looks):
            m.d.sync += looked.eq(1)
        with m.If(looked):
            with m.If(~map_read.data.valid):
                m.d.sync += [self.miss.eq(1), looked.eq(0)]
            with m.Else():
                m.d.comb += log.valid.eq(we & strobe.any())
                with m.If(~log.valid | log.ready):
                    m.d.comb += acts.eq(1)
                    m.d.sync += [looked.eq(0), coming.eq(~we), self.pending.eq(~we)]
        with m.If(coming):
            # A separate register, because the back door may read before the target uses its word.
            m.d.sync += [port.rdata.eq(read.data), coming.eq(0), self.pending.eq(0)]
        with m.If(self.retry):
            m.d.sync += self.miss.eq(0)

        with m.If(self.reset):
            m.d.sync += Cat(self.pending, looked, coming, self.miss).eq(0)
        return m
