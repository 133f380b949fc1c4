"""Two nodes that share one copy of a node's logic, and take turns."""

from dataclasses import dataclass, field

from amaranth.hdl import DomainRenamer, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from .banked import Banked
from .node import Node

__all__ = ["SharedNodes", "Turn"]

_TAKEN_AT_AN_EDGE = ("memory", "trace")
"""Members of a node that are read only at the edge that ends a cycle."""


@dataclass(frozen=True)
class Turn:
    """Selects one of two nodes that share one copy of the logic.

    ``bank`` is the node that currently has the copy's inputs and outputs; it alternates. With
    ``edge`` the next clock edge is an edge of that node. At an edge with ``keep`` the outputs of
    node 1 are stored and shown during node 0's turn, in which the target decides whether to take a
    step; this excludes node 1's host memory and trace. The clock is that of domain ``banks``.
    """

    bank: Signal = field(default_factory=lambda: Signal(name="bank"))
    edge: Signal = field(default_factory=lambda: Signal(name="edge"))
    keep: Signal = field(default_factory=lambda: Signal(name="keep"))


class SharedNodes(wiring.Component):
    """Two nodes in one block: ``node[0]`` and ``node[1]`` behave as two :class:`Node` would.

    In a target cycle node 0's edge comes first. From then on until its next turn, its outputs keep
    their values of that cycle. So at node 1's edge, which is also the edge of the rest of the
    target, both nodes show outputs of the same cycle. No input of a node may depend combinationally
    on an output of the other one.

    Parameters
    ----------
    node : Node
        The node to share. It becomes part of this block.
    turn : Turn
        Selects the node.

    Members
    -------
    node : as the signature of ``node``, twice
        The two nodes. ``memory`` and ``trace`` of node 1 are valid only at node 1's own edge; in
        node 0's turn they have node 0's values.

    Raises
    ------
    TypeError
        ``node`` is no :class:`Node`, or ``turn`` no :class:`Turn`; at elaboration, the errors of
        :class:`Banked`.
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
