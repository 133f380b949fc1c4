"""The ports and parameters of a host port."""

from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.operations import BLOCK, BURST
from ...layouts.packet import TRACE_BITS
from ..bus.burst import Burst
from ..bus.bus import PioInitiator
from ..bus.memory import Snoop
from ..bus.posted_buffer import NicBeat, PioBeat, PostedBuffer
from ..bus.watch import LineTaken
from ..parts.timing import Timing
from .address_bus import CoherencePort, Stored
from .block_buffer import PostedLine
from .coherent_cache import CoherentCache
from .inner_cache import InnerCache
from .port_shape import PortShape
from .tag_cache import TagCache

__all__ = ["AnswerLayout", "EntryLayout", "HostSide", "PHASE_BITS", "PortMembers", "SpinSide"]

EntryLayout = data.StructLayout({
    "op": 4, "_op": 4, "flags": 8, "count": 4, "process": 8, "_process": 4,
    "work": 32,
    "address": 32,
    "length": 32,
    "data": data.ArrayLayout(64, BURST),
    "trace": TRACE_BITS, "_trace": 32 - TRACE_BITS,
})
"""An entry of a block, as :mod:`nicbed.layouts.operations` declares it."""

AnswerLayout = data.StructLayout({"cycle": 32, "status": 32, "data": 64})
"""An answer, as :mod:`nicbed.layouts.operations` declares it."""

PHASE_BITS = 33

SpinSide = wiring.Signature({
    "valid": In(1),
    "phase": In(PHASE_BITS),
    "period": In(PHASE_BITS),
    "distance": In(32),
    "leaps": Out(1),
    "to": Out(PHASE_BITS),
    "following": Out(32),
})
"""A spinning port as its environment sees it.

``valid``: the port checks a word that it keeps, and the last check found what the next will find.
Until something else moves in its node, or a deadline, all that its checks change is where in a
check it is: its ``phase``, which each cycle moves on by 256, modulo ``period``. ``distance``: the
cycles from this one to the deadline, from which on a check may end the poll or an interrupt is
seen; all ones for none. ``phase`` and ``period`` are valid with ``valid``.

CPU work is counted in ticks, 1/256 of a cycle. A check takes its work and a cycle: ``period`` ticks
in all. It begins in the cycle, and with the fraction of it, in which its first tick lies. ``phase``
counts the ticks from the check's first tick to the last one of this cycle. So the phase d cycles
later is (phase + 256 d) mod period.

With ``leaps`` the edge loads the phase ``to`` and begins cycle ``following``. The environment gives
it in a cycle with ``valid``, at most ``distance`` cycles before ``following``, and ``to`` as above:
then the port is as if all edges up to ``following`` had come."""

HostSide = wiring.Signature({
    "go": Out(1),
    "count": Out(range(BLOCK + 1)),
    "entry": Out(EntryLayout),
    "index": In(3),
    "answer": In(AnswerLayout),
    "slot": In(3),
    "answers": In(1),
    "discards": In(1),
    "waiting": In(1),
    "stopped": In(1),
    "needs": In(1),
    "asks": In(1),
    "rests": In(1),
    "distance": In(32),
    "spin": Out(SpinSide),
})
"""A :class:`~.host_port.HostPort` as its environment sees it, where the program is.

A block: ``go`` flips with each; it has ``count`` entries, 1 to BLOCK; ``entry`` is that at
``index``. The environment holds all of them while the port works, and shows another entry in the
cycle in which ``index`` changes. In a cycle with ``answers``, ``answer`` is to be stored at
``slot``; with ``discards``, too, all slots behind it become DISCARDED.

``waiting``: the port waits for a block; ``stopped``: its program has ended; ``needs``: it waits and
none was given; ``asks``: it will wait from the next edge on. ``rests``: nothing happens before a
deadline (or at all), ``distance`` being the cycles from this one to that in which the port acts on
it; all ones for none. ``spin``: whether it repeats a poll's check, and how to leap over such
checks; without ``leaps`` an environment takes no notice of it."""


class PortMembers(wiring.Component):
    """Members and parameters of :class:`~.host_port.HostPort`, which says what they are, and the
    blocks that they come from. Only a HostPort is elaborated; nothing makes a PortMembers itself.

    Attributes
    ----------
    posted_buffer
        The posted writes: beats of PIO on their way to the NIC.
    cache
        The cache, or its second level if there are two: the one that uses the memory.
    inner
        The first of two levels; None if there is one.
    """

    def __init__(self, *, shape: PortShape, source: int = 0) -> None:
        if not isinstance(shape, PortShape):
            raise TypeError(f"shape must be a PortShape, not {shape!r}")
        self._shape = shape
        self._source = source
        self.posted_buffer = PostedBuffer(depth=shape.posted_writes,
                                          shape=NicBeat if shape.nics > 1 else PioBeat)
        self.inner = InnerCache(lines=shape.cache_lines, outer_lines=shape.l2_lines,
                                cycles=shape.l2_hit,
                                line_bytes=shape.line_bytes) if shape.l2_lines else None
        self.cache = (CoherentCache(shape=shape.cache) if shape.peers else
                      TagCache(shape=shape.cache, source=source))
        super().__init__({
            "host": In(HostSide),
            "pio": Out(PioInitiator) if shape.nics == 1 else Out(PioInitiator).array(shape.nics),
            "memory": Out(Burst()),
            "lock": Out(1),
            "snoop": In(Snoop),
            "taken": Out(LineTaken),
            "irq": In(1),
            "now": In(32),
            "timing": In(Timing),
            **({"bus": Out(CoherencePort), "stored": Out(Stored),
                "news": In(Stored).array(shape.peers)} if shape.peers else {}),
            **({"block_memory": Out(Burst()), "posted": Out(PostedLine)}
               if shape.block_stores else {}),
        })

    @property
    def shape(self) -> PortShape:
        """Its structure."""
        return self._shape

    @property
    def source(self) -> int:
        """Number among the memory controller's initiators."""
        return self._source
