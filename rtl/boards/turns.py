"""Turns of two nodes that share their logic: when each takes its edge."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..node.shared_nodes import Turn

__all__ = ["Turns"]


class Turns(wiring.Component):
    """Turns of the nodes of :class:`SharedNodes`, and of the blocks around them.

    The outputs of node 1 are shown, then those of node 0. If the target should then take a step,
    node 0 has its edge, then node 1 and all the rest; a clock later the sequence restarts. If not,
    the deciding logic may advance, and both nodes are shown again. So a target cycle takes 4
    clocks, and while time stands still there is a ``look`` every other clock. Reset: node 1 is
    shown first. A reset during operation may exchange the state without reset between the two
    nodes.

    Parameters
    ----------
    turn : Turn
        Driven by this block.

    Members
    -------
    step : In(1)
        The target should take a step. Changes only by a ``look``.
    last : Out(1)
        The next edge is the edge of the whole target except node 0.
    look : Out(1)
        The next edge is an edge of the blocks that use the nodes' outputs, including the one that
        drives ``step``.

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
        # The banks change places at every clock, so each path back to SHOW has an even length.
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
