"""When each of two nodes that share their logic takes its edge."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..node.shared_nodes import Turn

__all__ = ["Turns"]


class Turns(wiring.Component):
    """Turns of the nodes of :class:`SharedNodes`, and of whoever is around them.

    Node 1 is shown, then node 0. If then, with what both show, the target is to take a step, it is
    node 0's edge, next that of node 1 and all the rest; a clock later it begins anew. If not, what
    decides may move on, and both are shown once more. So a target cycle takes 4 clocks, and while
    time stands still there is a ``look`` every other clock. Reset: node 1 is shown first. One while
    it runs may exchange what of the two nodes has no reset.

    Parameters
    ----------
    turn : Turn
        Is driven.

    Members
    -------
    step : In(1)
        The target is to take a step. Does not change but by a ``look``.
    last : Out(1)
        The next edge is that of all of the target but node 0.
    look : Out(1)
        The next edge is one of those who look at what the nodes show, ``step``'s owner among them.

    Raises
    ------
    TypeError
        ``turn`` is no :class:`Turn`.
    """

    step: In(1)
    last: Out(1)
    look: Out(1)

    def __init__(self, *, turn: Turn) -> None:
        if not isinstance(turn, Turn):
            raise TypeError(f"turn must be a Turn, not {turn!r}")
        self._turn = turn
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        turn = self._turn
        # The banks change places at every clock: so each way back to SHOW is an even number.
        with m.FSM(name="turn"):
            with m.State("SHOW"):
                m.d.comb += [turn.bank.eq(1), turn.keep.eq(1)]
                m.next = "FIRST"
            with m.State("FIRST"):
                m.d.comb += [turn.edge.eq(self.step), self.look.eq(~self.step)]
                m.next = "SHOW"
                with m.If(self.step):
                    m.next = "SECOND"
            with m.State("SECOND"):
                m.d.comb += [turn.bank.eq(1), turn.edge.eq(1), self.last.eq(1), self.look.eq(1)]
                m.next = "SETTLE"
            with m.State("SETTLE"):
                m.next = "SHOW"
        return m
