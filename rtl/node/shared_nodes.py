"""Two nodes that share one copy of a node's logic, and take turns."""

from dataclasses import dataclass, field

from amaranth.hdl import DomainRenamer, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from .banked import Banked
from .node import Node

__all__ = ["SharedNodes", "Turn"]

_TAKEN_AT_AN_EDGE = ("memory", "trace")
"""Members of a node that nobody looks at but at the edge that ends a cycle."""


@dataclass(frozen=True)
class Turn:
    """Whose turn it is, of two nodes that share one copy of the logic.

    ``bank`` is the node whose inputs and outputs are the copy's, the one and the other by turns;
    with ``edge`` the next clock is an edge of that node. What node 1 shows at an edge with ``keep``
    it is taken to show in node 0's turn as well, in which it is decided whether the target takes a
    step; but for its host memory and trace. The clock is that of domain ``banks``.
    """

    bank: Signal = field(default_factory=lambda: Signal(name="bank"))
    edge: Signal = field(default_factory=lambda: Signal(name="edge"))
    keep: Signal = field(default_factory=lambda: Signal(name="keep"))


class SharedNodes(wiring.Component):
    """A node that is two: ``node[0]`` and ``node[1]`` are what two of :class:`Node` would be.

    Of a target cycle node 0's edge comes first. From then on, until its next turn, its outputs are
    kept as they were in that cycle; so at node 1's edge, which is that of all the rest of the
    target, both show what they show in the same cycle. Nothing that a node is told may depend in
    the same cycle on what the other one says.

    Parameters
    ----------
    node : Node
        What both are. It becomes part of this.
    turn : Turn
        Whose turn it is.

    Members
    -------
    node : as the signature of ``node``, twice
        The two. What ``memory`` and ``trace`` of node 1 show means something at node 1's own edge
        only: in node 0's turn it is what node 0 shows.

    Raises
    ------
    TypeError
        ``node`` is no :class:`Node`, or ``turn`` no :class:`Turn`; when it is elaborated, as
        :class:`Banked` does.
    """

    def __init__(self, *, node: Node, turn: Turn) -> None:
        for value, kind in ((node, Node), (turn, Turn)):
            if not isinstance(value, kind):
                raise TypeError(f"a {kind.__name__} is needed, not {value!r}")
        self._one = node
        self._turn = turn
        super().__init__({"node": Out(node.signature).array(2)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        turn = self._turn
        m.submodules.copy = DomainRenamer("banks")(
            Banked(bank=turn.bank, edge=turn.edge)(self._one))
        signature = self._one.signature
        for members in zip(*(signature.flatten(one) for one in (self._one, *self.node)),
                           strict=True):
            path, member, _ = members[0]
            inside, first, second = (Value.cast(value) for _, _, value in members)
            if member.flow == Out:
                name = "__".join(map(str, path))
                of_first = Signal(len(inside), name=f"first_{name}", reset_less=True)
                with m.If(turn.edge & ~turn.bank):
                    m.d.banks += of_first.eq(inside)
                m.d.comb += first.eq(Mux(turn.bank, of_first, inside))
                if path[0] in _TAKEN_AT_AN_EDGE:
                    m.d.comb += second.eq(inside)
                    continue
                of_second = Signal(len(inside), name=f"second_{name}", reset_less=True)
                with m.If(turn.keep):
                    m.d.banks += of_second.eq(inside)
                m.d.comb += second.eq(Mux(turn.bank, inside, of_second))
            else:
                m.d.comb += inside.eq(Mux(turn.bank, second, first))
        return m
