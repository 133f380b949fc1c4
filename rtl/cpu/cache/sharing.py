"""The effects that other caches and the NIC have on the lines of a cache."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...bus.memory import Snoop
from ..address_bus import Phase
from ..cache_shape import CacheShape
from .mesi import Mesi
from .tags import Look, tag_change

__all__ = ["Sharing"]


class Sharing(wiring.Component):
    """Answers the address phases of other caches, and finds what they and the NIC's accesses change
    in the tags.

    It has no state: all outputs follow the inputs in their cycle. The tags have one write port,
    which the NIC's access gets first; another cache's phase is then to be repeated.

    Parameters
    ----------
    shape : :class:`CacheShape`
        With ``coherent`` a line in M that the NIC reads is in S afterwards, else in E.

    Members
    -------
    snoop : ``In(Snoop)``, nic : ``Out(Look)``
        An access of the NIC to memory, and the look at its line.
    phase : ``In(Phase)``, commits : ``In(1)``, other : ``Out(Look)``
        An address phase of another cache, whether it takes effect, and the look at its line.
    has : ``Out(1)``, has_dirty : ``Out(1)``, busy : ``Out(1)``
        The answer to the phase, as in :data:`CoherencePort`.
    nic_changes : ``Out(1)``
        The NIC's access changes the state of its line.
    change : ``Out(tag_change(Mesi))``
        The change of the tags.
    """

    def __init__(self, *, shape: CacheShape) -> None:
        self._shape = shape
        super().__init__({
            "snoop": In(Snoop),
            "nic": Out(Look(Mesi)),
            "phase": In(Phase),
            "commits": In(1),
            "other": Out(Look(Mesi)),
            "has": Out(1),
            "has_dirty": Out(1),
            "busy": Out(1),
            "nic_changes": Out(1),
            "change": Out(tag_change(Mesi)),
        })

    @property
    def shape(self) -> CacheShape:
        """The structure of the cache."""
        return self._shape

    def elaborate(self, platform: object) -> Module:
        m = Module()
        nic, other, snoop, phase, change = self.nic, self.other, self.snoop, self.phase, self.change
        would = Signal()
        m.d.comb += [nic.address.eq(snoop.address), other.address.eq(phase.address)]
        with m.If(snoop.valid):
            m.d.comb += self.nic_changes.eq(nic.same & Mux(
                snoop.write, nic.state != Mesi.I, nic.state == Mesi.M))
        with m.If(phase.valid):
            m.d.comb += [
                self.has.eq(other.same & (other.state != Mesi.I)),
                self.has_dirty.eq(other.same & (other.state == Mesi.M)),
                would.eq(self.has & (phase.exclusive | (other.state != Mesi.S))),
                self.busy.eq(self.nic_changes & would),
            ]
        clean = Mesi.S if self._shape.coherent else Mesi.E
        with m.If(self.nic_changes):
            m.d.comb += [
                change.valid.eq(1),
                change.address.eq(snoop.address),
                change.state.eq(Mux(snoop.write, Mesi.I, clean)),
            ]
        with m.Elif(would & self.commits):
            m.d.comb += [
                change.valid.eq(1),
                change.address.eq(phase.address),
                change.state.eq(Mux(phase.exclusive, Mesi.I, Mesi.S)),
            ]
        return m
