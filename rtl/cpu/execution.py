"""Blocks and signals that the parts of a host port's control share while it executes an entry."""

from amaranth.hdl import Module, Signal, Value
from amaranth.utils import ceil_log2

from ...layouts.operations import BURST, WORK_BITS, Flag
from ..bus.posted_buffer import PostedBuffer
from .block_buffer import BlockBuffer
from .coherent_cache import CoherentCache
from .compare_and_swap import CompareAndSwap
from .irq_delay import IrqDelay
from .kept_words import KeptWords
from .owned_swap import OwnedSwap
from .port_members import PortMembers
from .state import State
from .tag_cache import TagCache

__all__ = ["Execution"]


class Execution:
    """One elaboration of ``port``, a host port, into ``module``: its blocks, and the signals that
    say how far an entry is."""

    def __init__(self, port: PortMembers, posted: PostedBuffer,
                 cache: TagCache | CoherentCache) -> None:
        self.module = m = Module()
        self.port = port
        self.shape = shape = port.shape
        m.submodules.posted = self.posted = posted
        m.submodules.cache = self.cache = cache
        self.accessed = cache.done  # an access to the cache ends
        self.line_bits = ceil_log2(shape.line_bytes)
        m.submodules.kept = self.kept = KeptWords(source=port.source, peers=shape.peers,
                                                  line_bytes=shape.line_bytes)
        self.swap: CompareAndSwap | OwnedSwap = (OwnedSwap() if shape.owned_swaps
                                                 else CompareAndSwap())
        m.submodules.swap = self.swap
        m.submodules.irq = self.irq = IrqDelay()
        self.blocks: BlockBuffer | None = None
        if shape.block_stores:
            m.submodules.blocks = self.blocks = BlockBuffer(
                line_bytes=shape.line_bytes, beat_bytes=shape.beat_bytes)
        self.host = port.host
        self.entry = port.host.entry

        self.state = Signal(State)
        self.begins = Signal()      # the entry's first cycle; of a poll, the check's
        self.executes = Signal()    # its work is done: the operation itself
        self.finishes = Signal()    # its last cycle
        self.discard = Signal()
        self.status = Signal(8)
        self.result = Signal(64)
        self.slot = Signal(3)       # the entry that is answered
        self.turn = Signal()        # on to entry `following` of the same poll
        self.following = Signal(3)

        # A poll has WATCH entries from `base` on, or none; then its POLL entry, `last`.
        self.watching = Signal()
        self.polling = Signal()
        self.base = Signal(3)
        self.last = Signal(3)
        self.timeout = Signal(32)
        self.once = Signal()
        self.repeats = Signal()     # a check of a kept word, which the next one will repeat
        self.spins = Signal()       # all checks since such a one were the same
        self.opens = Signal()       # a poll's last entry begins for the first time
        self.begun = Signal(32)
        self.check_begun = Signal(32)
        self.check_cycles = Signal(16)

        self.until = Signal(32)
        self.fraction = Signal(WORK_BITS)
        self.total = Signal(34)     # work before the operation, in its first cycle
        # What an operation of several cycles has done; clear when one begins.
        self.sent = Signal()
        self.beat = Signal(range(BURST))
        self.last_beat = Signal()
        self.writes = Signal()
        self.touching = Signal()
        self.waits = Signal()
        self.quiet = Signal()       # no posted write or interrupt is on its way through the port
        self.owns = Signal()
        # An access to the cache, if no block store holds it back.
        self.accesses = Signal() if shape.block_stores else cache.valid

    def flag(self, flag: Flag) -> Value:
        """Tells whether the entry has the flag."""
        return (self.entry.flags & flag.value).any()
