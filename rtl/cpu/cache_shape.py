"""The structure of a CPU's cache, which its blocks are made from."""

from dataclasses import dataclass

from amaranth.utils import ceil_log2

from ...layouts.operations import CACHE_LINE
from ..parts.sizes import check_count, check_power_of_two
from .beats import check_beat, line_beats

__all__ = ["CacheShape"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheShape:
    """The structure of a :class:`~.tag_cache.TagCache` or a
    :class:`~.coherent_cache.CoherentCache`, the same for all CPUs of a node.

    Attributes
    ----------
    lines : :class:`int`
        Lines: a power of two, 2 or more. Of two levels, those of the second one.
    line_bytes : :class:`int`
        Bytes of a line: a power of two, 16 or more.
    beat_bytes : :class:`int`
        Bytes of a line that a beat of the memory port has: a power of two, 8 to ``line_bytes``.
    peers : :class:`int`
        Other CPUs of the node.
    coherent : :class:`bool`
        The NIC is on the memory bus, and is told of the lines that stores take.
    block_stores : :class:`bool`
        There are block stores. Not with ``coherent``.
    flushes : :class:`bool`
        The bus is not coherent: lines leave the cache by flushes. Not with ``peers``, ``coherent``
        or ``block_stores``.
    inner : :class:`bool`
        There is an :class:`~.inner_cache.InnerCache` in front of it.

    Raises
    ------
    TypeError
        A number is not an integer.
    ValueError
        A number is out of its range, or two options exclude each other. The text names the knobs
        that set them.
    """

    lines: int
    line_bytes: int = CACHE_LINE
    beat_bytes: int = 8
    peers: int = 0
    coherent: bool = False
    block_stores: bool = False
    flushes: bool = False
    inner: bool = False

    def __post_init__(self) -> None:
        check_power_of_two("lines", self.lines)
        check_power_of_two("line_bytes", self.line_bytes, least=16)
        check_beat(self.beat_bytes, self.line_bytes)
        check_count("peers", self.peers, least=0)
        off_memory_bus = "nic.attachment = 'io_bus' or 'local_bus', not 'memory_bus'"
        for option, excluded, knob, needed in (
                (self.flushes, self.peers, "bus.coherent = false",
                 f"node.cpus = 1, not {self.peers + 1}"),
                (self.flushes, self.coherent, "bus.coherent = false", off_memory_bus),
                (self.flushes, self.block_stores, "bus.coherent = false",
                 "cpu.copy_by = 'cache', not 'block'"),
                (self.block_stores, self.coherent, "cpu.copy_by = 'block'", off_memory_bus)):
            if option and excluded:
                raise ValueError(f"{knob} needs {needed}")

    @property
    def line_bits(self) -> int:
        """Low bits of an address that are of a byte within its line."""
        return ceil_log2(self.line_bytes)

    @property
    def beat_bits(self) -> int:
        """Low bits of an address that are of a byte within its beat."""
        return ceil_log2(self.beat_bytes)

    @property
    def beats(self) -> int:
        """Beats of a line."""
        return line_beats(self.line_bytes, self.beat_bytes)
