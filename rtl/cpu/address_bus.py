"""Carries between the caches of a node's CPUs: address phases, and stores that have ended."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ...layouts.operations import CACHE_LINE
from ..parts.first_come import FirstCome
from ..parts.sizes import check_count
from .block_buffer import PostedLine

__all__ = ["AddressBus", "CoherencePort", "Phase", "Stored", "covers"]

Stored = data.StructLayout({"valid": 1, "first": 32, "last": 32})
"""In a cycle with ``valid`` a CPU's store of the bytes from ``first`` to ``last`` ends: memory has
them from the next cycle on."""


def covers(stored: Any, line: Value, line_bits: int) -> Value:
    """Tells whether ``stored`` ends a store to some byte of the ``line`` (its number)."""
    return stored.valid & (stored.first[line_bits:] <= line) & (line <= stored.last[line_bits:])


class Phase(data.Struct):
    """The address phase of another CPU's cache for the line at ``address``, to read or, with
    ``exclusive``, to own it."""

    valid: 1
    exclusive: 1
    address: 32


CoherencePort = wiring.Signature({
    "request": Out(1),
    "exclusive": Out(1),
    "address": Out(32),
    "held": Out(1),
    "grant": In(1),
    "shared": In(1),
    "dirty": In(1),
    "phase": In(Phase),
    "commits": In(1),
    "has": Out(1),
    "has_dirty": Out(1),
    "busy": Out(1),
})
"""A cache's side. ``request``: it wants an address phase for the line at ``address``; in the cycle
with ``grant`` it has it, and learns whether another cache has the line (``shared``), and dirty.
``held``: phases of others for the line at ``address`` have to wait. ``phase`` is that of another
cache. In the same cycle the cache answers whether it has the line (``has``, ``has_dirty``), and
whether it is ``busy`` and the phase has to be repeated. The phase takes effect in a cycle with
``commits``."""


class AddressBus(wiring.Component):
    """Orders the address phases of the caches of a node: one a cycle, first come, first served.

    Latency: none. Throughput: one phase a cycle. A phase waits while another cache holds its line,
    and meanwhile others go; once the line is free it is the turn of the cache that has wanted it
    longest. Reset: no cache waits.

    Parameters
    ----------
    caches : :class:`int`
        Caches, 2 or more.
    line_bytes : :class:`int`
        Bytes of a line.
    block_stores : :class:`bool`
        Whether the CPUs have block stores. A phase also waits while the line is in another's buffer
        for them.

    Members
    -------
    cache : ``In(CoherencePort)``, one a cache
        The caches.
    posted : ``In(PostedLine)``, one a cache
        Only with ``block_stores``: the lines in the CPUs' buffers.

    Raises
    ------
    TypeError
        ``caches`` is not an integer.
    ValueError
        ``caches`` is less than 2.
    """

    def __init__(self, *, caches: int, line_bytes: int = CACHE_LINE,
                 block_stores: bool = False) -> None:
        check_count("caches", caches, least=2)
        self._line_bits = ceil_log2(line_bytes)
        self._block_stores = block_stores
        super().__init__({
            "cache": In(CoherencePort).array(caches),
            **({"posted": In(PostedLine).array(caches)} if block_stores else {})})

    @property
    def caches(self) -> int:
        """Caches."""
        return len(self.cache)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.arbiter = arbiter = FirstCome(count=self.caches)
        chosen = Signal(Phase)
        commits = Signal()
        for number, cache in enumerate(self.cache):
            waits = Signal(name=f"waits_{number}")
            others = [other for other in self.cache if other is not cache]
            line = cache.address[self._line_bits:]
            held = [other.held & (other.address[self._line_bits:] == line) for other in others]
            if self._block_stores:
                held += [posted.valid & (posted.address[self._line_bits:] == line)
                         for other, posted in enumerate(self.posted) if other != number]
            with m.If(cache.request):
                m.d.comb += waits.eq(Cat(held).any())
            m.d.comb += [
                arbiter.requests[number].eq(cache.request),
                arbiter.able[number].eq(~waits),
                cache.grant.eq(arbiter.grant[number] & commits),
                cache.shared.eq(Cat(other.has for other in others).any()),
                cache.dirty.eq(Cat(other.has_dirty for other in others).any()),
                cache.phase.address.eq(chosen.address),
                cache.phase.exclusive.eq(chosen.exclusive),
                cache.phase.valid.eq(chosen.valid & ~arbiter.grant[number]),
                cache.commits.eq(cache.phase.valid & commits),
            ]
            with m.If(arbiter.grant[number]):
                m.d.comb += [chosen.valid.eq(1), chosen.address.eq(cache.address),
                             chosen.exclusive.eq(cache.exclusive)]
        m.d.comb += [
            commits.eq(chosen.valid & ~Cat(cache.busy for cache in self.cache).any()),
            arbiter.advance.eq(commits),
        ]
        return m
