"""The policy of a cache whose NIC is on the memory bus, and sees what lines stores take."""

from amaranth.hdl import Module
from amaranth.lib import data, wiring

from .policy import Policy, Step, follow_snoops, look_up

__all__ = ["Upgrading"]


class Upgrading(wiring.Component):
    """A store to a clean line in the cache first takes it, by an upgrade. A store that misses is a
    read for ownership.

    A snooped write makes its line invalid, and a snooped read makes it clean. A store to a line
    does not end in a cycle in which a snoop changes the line.

    Members
    -------
    As :class:`Policy`.
    """

    state = data.StructLayout({"held": 1, "dirty": 1})
    """The line is in the cache, and has to be written back."""
    steps = frozenset((Step.END, Step.UPGRADE, Step.READ, Step.BACK))
    """The steps that it gives."""

    def __init__(self) -> None:
        super().__init__(Policy(self.state))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        follow_snoops(m, self)
        look_up(m, self, Step.UPGRADE)
        m.d.comb += self.waits.eq(self.access.store & self.snoop.meets)
        return m
