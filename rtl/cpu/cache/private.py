"""The policy of a cache beside which nobody has to be told of stores."""

from amaranth.hdl import Module
from amaranth.lib import data, wiring

from .policy import Policy, Step, follow_snoops, look_up

__all__ = ["Private"]


class Private(wiring.Component):
    """A store to a line in the cache makes it dirty, and that is all. A block store makes its line
    invalid, without reading it or writing it back.

    A snooped write makes its line invalid, and a snooped read makes it clean.

    Members
    -------
    As :class:`Policy`.
    """

    state = data.StructLayout({"held": 1, "dirty": 1})
    """The line is in the cache, and has to be written back."""
    steps = frozenset((Step.END, Step.CHANGE, Step.READ, Step.BACK))
    """The steps that it gives."""

    def __init__(self) -> None:
        super().__init__(Policy(self.state))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        follow_snoops(m, self)
        look_up(m, self, Step.CHANGE)
        with m.If(self.access.block):
            m.d.comb += [self.step.eq(Step.END), self.entered.held.eq(0)]
            with m.If(self.access.hit):
                m.d.comb += self.step.eq(Step.CHANGE)
        return m
