"""The structure of a host port: what of a description its netlist depends on."""

from dataclasses import dataclass
from typing import Self

from ...layouts.description import Description
from ...layouts.operations import CACHE_LINE
from .cache_shape import CacheShape

__all__ = ["PortShape"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PortShape:
    """The structure of a :class:`~.host_port.HostPort`, the same for all ports of a node.

    The cache's part is a :class:`~.cache_shape.CacheShape`, which knows which options exclude each
    other.

    Attributes
    ----------
    posted_writes : :class:`int`
        Depth of the posted-write buffer in beats, 2 or more.
    cache_lines : :class:`int`
        Lines of the cache: a power of two, 2 or more. With ``l2_lines`` those of its first level.
    line_bytes : :class:`int`
        Bytes of a line.
    beat_bytes : :class:`int`
        Bytes of a line that a beat of the memory port has.
    l2_lines : :class:`int`
        Lines of the second level, which then is the cache that others know of; 0 if there is one
        level.
    l2_hit : :class:`int`
        With ``l2_lines``, cycles of a load that finds its line in the second level alone.
    peers : :class:`int`
        Other CPUs of the node. With any, the cache is a :class:`~.coherent_cache.CoherentCache`.
    nics : :class:`int`
        NICs of the node, each on a bus of its own.
    coherent : :class:`bool`
        The NIC is on the memory bus: stores take their lines from it
        (:class:`~.tag_cache.TagCache`, :class:`~.coherent_cache.CoherentCache`).
    cas_in_cache : :class:`bool`
        A CAS of a CPU alone is done in the cache, too. Not with ``coherent``.
    block_stores : :class:`bool`
        There are block stores. Not with ``coherent``.
    flushes : :class:`bool`
        The bus is not coherent. Not with ``peers``, ``coherent`` or ``block_stores``.

    Raises
    ------
    ValueError
        Two options exclude each other. The text has the knobs of a description that set them.
    """

    posted_writes: int
    cache_lines: int
    line_bytes: int = CACHE_LINE
    beat_bytes: int = 8
    l2_lines: int = 0
    l2_hit: int = 2
    peers: int = 0
    nics: int = 1
    coherent: bool = False
    cas_in_cache: bool = False
    block_stores: bool = False
    flushes: bool = False

    def __post_init__(self) -> None:
        if self.cas_in_cache and self.coherent:
            raise ValueError("cpu.cas_place = 'cache' needs nic.attachment = 'io_bus' or "
                             "'local_bus', not 'memory_bus'")
        _ = self.cache

    @classmethod
    def of(cls, description: Description, cpus: int | None = None) -> Self:
        """The structure of the ports of a node of ``description`` with ``cpus`` host ports
        (default: ``node.cpus``)."""
        cpu = description.cpu
        return cls(
            posted_writes=description.bus.posted_writes,
            cache_lines=cpu.cache_lines,
            line_bytes=cpu.line_bytes,
            beat_bytes=description.memory.width,
            l2_lines=cpu.l2_lines,
            l2_hit=cpu.l2_hit,
            peers=(cpus or description.node.cpus) - 1,
            nics=description.node.nics,
            coherent=description.nic.attachment == "memory_bus",
            cas_in_cache=cpu.cas_place == "cache",
            block_stores=cpu.copy_by == "block",
            flushes=not description.bus.coherent,
        )

    @property
    def cache(self) -> CacheShape:
        """The structure of the cache that others know of."""
        return CacheShape(lines=self.l2_lines or self.cache_lines, line_bytes=self.line_bytes,
                          beat_bytes=self.beat_bytes, peers=self.peers, coherent=self.coherent,
                          block_stores=self.block_stores, flushes=self.flushes,
                          inner=self.l2_lines > 0)

    @property
    def owned_swaps(self) -> bool:
        """Tells whether a CAS is done in the cache, on a line that it takes as a store does."""
        return self.cas_in_cache or self.peers > 0
