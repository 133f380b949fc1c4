"""The CPU's cache without data: the lines it holds, and its traffic on the memory port."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..bus.burst import Burst
from ..bus.memory import Snoop
from ..bus.watch import LineTaken
from ..parts.sizes import check_integer
from .cache.fault import Fault
from .cache.flushing import Flushing
from .cache.policy import Step
from .cache.private import Private
from .cache.refill import Refill, Traffic
from .cache.tags import Tags
from .cache.taken_lines import tell_taken
from .cache.upgrading import Upgrading
from .cache_shape import CacheShape
from .inner_cache import TagChange

__all__ = ["TagCache"]


class TagCache(wiring.Component):
    """Direct-mapped, write-back, write-allocate cache that keeps only tags.

    A policy decides what an access does first, and what a snoop does to its line (:class:`Policy`):
    :class:`Private`, with ``shape.coherent`` :class:`Upgrading`, with ``shape.flushes``
    :class:`Flushing`.

    ``valid`` requests an access to the line at ``address``. The access ends with the cycle in which
    ``done`` is high, which may be the first one; until then the inputs hold. Cycles:

    - a hit, without ``fetch``: 1;
    - a miss, or any ``fetch``: ``memory.latency + 2 + n`` without other users of the memory, n
      being the beats of a line: a read burst of the line, requested in the first cycle. A
      miss whose victim is dirty first writes the victim back (n + 1 cycles more: a request and n
      beats with no byte strobed, as the memory's bytes are always current).

    With ``shape.coherent``, a store that hits a clean line first takes it by an *upgrade*: an
    address-only transaction, 2 cycles (a request, and one beat with no byte strobed) without other
    users of the memory. If another initiator writes to the line before the upgrade has passed, the
    line becomes invalid, and a read for ownership follows. A store that misses is a read for
    ownership in any case.

    A block store makes the line invalid without reading it or writing it back, in 1 cycle.

    With ``shape.flushes`` the bus is not coherent: snoops change no tag, and lines that others
    write to leave the cache by a *flush* alone. It takes 1 cycle, of a dirty line n + 2: it is
    written back. A fetch reads a line as if it had been flushed, so of a dirty one it takes n + 1
    cycles more. A line that DMA has written to is stale, until it is flushed or fetched. ``fault``
    tells of an access to a stale line, and of DMA's reads and writes of dirty ones, whose program
    has forgotten a flush; nothing else follows from it.

    A store makes the line dirty. Snoops take effect in the cycle in which they arrive: another
    initiator's write makes a line invalid, and its read makes a dirty line clean. If a snoop and
    the access change tags in the same cycle, the access takes a cycle longer. A line written to by
    another while it is being read stays invalid (a fetched line: becomes invalid), and ``stale``
    says so.

    Reset: all lines invalid, after one cycle (:class:`Tags`).

    Parameters
    ----------
    shape : :class:`CacheShape`
        The structure, of a node with one CPU.
    source : :class:`int`
        This CPU's number among the memory controller's initiators: its own accesses are not
        snooped.

    Members
    -------
    valid : ``In(1)``, address : ``In(32)``, store : ``In(1)``, fetch : ``In(1)``
        The access: a store or a load of any byte of the line; ``fetch`` reads the line from memory
        even on a hit.
    block : ``In(1)``
        Only with ``shape.block_stores``, and with ``store``: the access is a block store.
    flush : ``In(1)``, fault : ``Out(Fault)``
        Only with ``shape.flushes``: the access is a flush, not a store or a fetch; what was
        forgotten.
    hit : ``Out(1)``
        In a cycle with ``valid``: the line at ``address`` is in the cache now.
    done : ``Out(1)``
        Last cycle of the access.
    reads : ``Out(1)``, word : ``Out(64)``, stale : ``Out(1)``
        ``reads``: the access has gone on to memory. In its last cycle: the 8-byte word at
        ``address``, and whether it may have changed since.
    taken : ``Out(LineTaken)``
        Only with ``shape.coherent``: last cycle of a store's access that took its line, by an
        upgrade or a read for ownership. The stored data is in memory from the next cycle on. So if
        an agent reads the line before that and finds the old data, it sees this signal after its
        read (or in the cycle of its read).
    change : ``Out(TagChange)``
        Only with ``shape.inner``: the entry of the tags that it writes.
    memory : ``Out(Burst)``
        The memory controller.
    snoop : ``In(Snoop)``
        Everybody's accesses to memory.

    Raises
    ------
    TypeError
        ``shape`` is not a :class:`CacheShape`, or ``source`` not an integer.
    ValueError
        ``source`` is not 0 to 15, or ``shape`` has peers.
    """

    def __init__(self, *, shape: CacheShape, source: int = 0) -> None:
        if not isinstance(shape, CacheShape):
            raise TypeError(f"shape must be a CacheShape, not {shape!r}")
        check_integer("source", source)
        if not 0 <= source <= 15:
            raise ValueError(f"source must be 0 to 15, not {source}")
        if shape.peers:
            raise ValueError(f"shape.peers must be 0, not {shape.peers}: a TagCache is that of a "
                             "CPU alone")
        self._shape = shape
        self._source = source
        self._policy: Private | Upgrading | Flushing = (
            Flushing() if shape.flushes else Upgrading() if shape.coherent else Private())
        self._tags = Tags(lines=shape.lines, line_bytes=shape.line_bytes,
                          state=self._policy.state, looks=2)
        self._refill = Refill(shape=shape)
        super().__init__({
            "valid": In(1),
            "address": In(32),
            "store": In(1),
            "fetch": In(1),
            "hit": Out(1),
            "done": Out(1),
            "reads": Out(1),
            "word": Out(64),
            "stale": Out(1),
            "taken": Out(LineTaken),
            "memory": Out(Burst()),
            "snoop": In(Snoop),
            **({"block": In(1)} if shape.block_stores else {}),
            **({"flush": In(1), "fault": Out(Fault)} if shape.flushes else {}),
            **({"change": Out(TagChange)} if shape.inner else {}),
        })

    @property
    def shape(self) -> CacheShape:
        """The structure."""
        return self._shape

    @property
    def source(self) -> int:
        """Number among the memory controller's initiators."""
        return self._source

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape, policy, tags, refill = self._shape, self._policy, self._tags, self._refill
        m.submodules.policy = policy
        m.submodules.tags = tags
        m.submodules.refill = refill
        wiring.connect(m, refill.memory, wiring.flipped(self.memory))
        own, other = tags.look
        enters = Signal()
        self._ask_policy(m, own, other)
        with m.If(policy.change.valid):
            m.d.comb += tags.change.eq(policy.change)
        with m.Elif(enters):
            m.d.comb += [
                tags.change.valid.eq(1),
                tags.change.address.eq(self.address),
                tags.change.state.eq(policy.entered),
            ]
        self._access(m, victim=own, enters=enters)
        if shape.flushes:
            m.d.comb += self.fault.eq(policy.fault)
        if shape.inner:
            m.d.comb += [
                self.change.valid.eq(tags.change.valid),
                self.change.held.eq(tags.change.state.held),
                self.change.address.eq(tags.change.address),
            ]
        if shape.coherent:
            tell_taken(m, self, takes=~self._fsm.ongoing("LOOKUP"), changes=policy.change.valid)
        return m

    def _ask_policy(self, m: Module, own: Any, other: Any) -> None:
        """Show the access and the snoop to the policy, with the looks at their slots."""
        shape, access, snoop = self._shape, self._policy.access, self._policy.snoop
        m.d.comb += [
            own.address.eq(self.address),
            other.address.eq(self.snoop.address),
            access.address.eq(self.address),
            access.store.eq(self.store),
            access.fetch.eq(self.fetch),
            access.hit.eq(self.hit),
            self._policy.own.eq(own.state),
            snoop.write.eq(self.snoop.write),
            snoop.address.eq(self.snoop.address),
            self._policy.other.eq(other.state),
        ]
        with m.If(self.valid):
            m.d.comb += self.hit.eq(own.state.held & own.same)
        with m.If(self.snoop.valid):  # a simulator need not evaluate more than this without one
            m.d.comb += [
                snoop.valid.eq(self.snoop.source != self._source),
                snoop.known.eq(other.state.held & other.same),
                snoop.meets.eq(self.snoop.address[shape.line_bits:]
                               == self.address[shape.line_bits:]),
            ]
        if shape.block_stores:
            m.d.comb += access.block.eq(self.block)
        if shape.flushes:
            m.d.comb += access.flush.eq(self.flush)

    def _access(self, m: Module, *, victim: Any, enters: Signal) -> None:
        """The steps of an access. ``enters``: its line's state changes, unless by a snoop."""
        shape, policy, refill = self._shape, self._policy, self._refill
        changes = policy.change.valid
        struck, fills, read = Signal(), Signal(), Signal()
        m.d.comb += [
            self.stale.eq(struck | policy.strikes),
            self.word.eq(refill.word),
            self.reads.eq(refill.reads),
            policy.snoop.passed.eq(read | (self.snoop.address[shape.beat_bits:shape.line_bits]
                                           < refill.beat)),
        ]

        def transfer(kind: Traffic, address: Any) -> None:
            m.d.comb += [refill.valid.eq(1), refill.kind.eq(kind), refill.address.eq(address)]

        def change(state: str) -> None:
            """Change the line's state, in a cycle in which no snoop changes one: until then repeat,
            in ``state``."""
            m.d.comb += [enters.eq(1), self.done.eq(~changes)]
            m.next = state
            with m.If(self.done):
                m.next = "LOOKUP"

        def finish() -> None:
            """The last beat is here."""
            with m.If(fills & ~self.stale):
                change("ENTER")
            with m.Else():
                m.d.comb += self.done.eq(1)
                m.next = "LOOKUP"

        def take() -> None:
            """The upgrade has passed. If the line is gone, or goes in this cycle, it is read."""
            with m.If(~self.hit | policy.strikes):
                m.d.sync += fills.eq(1)
                m.next = "READ"
            with m.Else():
                change("TAKE")

        with m.If(self.valid), m.FSM() as fsm:
            with m.State("LOOKUP"):
                m.d.sync += [struck.eq(0), fills.eq(policy.fills)]
                with m.Switch(policy.step):
                    with m.Case(Step.END):
                        m.d.comb += self.done.eq(~(policy.waits & changes))
                    with m.Case(Step.READ):
                        transfer(Traffic.READ, self.address)
                        m.next = "READ"
                    with m.Case(Step.BACK, Step.FLUSH):
                        transfer(Traffic.BACK, victim.line)
                        m.next = "BACK"
                    if Step.CHANGE in policy.steps:
                        with m.Case(Step.CHANGE):
                            change("LOOKUP")
                    if Step.UPGRADE in policy.steps:
                        with m.Case(Step.UPGRADE):
                            transfer(Traffic.UPGRADE, self.address)
                            m.next = "UPGRADE"
            with m.State("BACK"):
                transfer(Traffic.BACK, victim.line)
                with m.If(refill.written):
                    m.next = "READ"
                    if Step.FLUSH in policy.steps:
                        with m.If(policy.access.flush):
                            m.next = "GONE"
            with m.State("READ"):
                transfer(Traffic.READ, self.address)
                m.d.sync += struck.eq(refill.reads & self.stale)
                with m.If(refill.arrived):
                    finish()
            with m.State("ENTER"):
                m.d.comb += [self.reads.eq(1), read.eq(1)]
                m.d.sync += struck.eq(self.stale)
                finish()
            if Step.FLUSH in policy.steps:
                with m.State("GONE"):
                    change("GONE")
            if Step.UPGRADE in policy.steps:
                with m.State("UPGRADE"):
                    transfer(Traffic.UPGRADE, self.address)
                    with m.If(refill.written):
                        take()
                with m.State("TAKE"):
                    take()
        self._fsm = fsm
