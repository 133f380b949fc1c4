"""Reads a packet's route in a switch: the output that it names, and what remains of it."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Signal, Value

from ...layouts.fabric import MeshPort, Routing
from ...layouts.packet import HEADER, HOP_BITS, MESH_BITS

__all__ = ["ROUTE_BITS", "DisplacementRoutes", "PortRoutes", "routes"]

ROUTE_BITS = HEADER.mask("route").bit_length()
assert HEADER.offset("route") == 0


class PortRoutes:
    """A route has the output port of each switch on the way, the next one lowest.

    Parameters
    ----------
    words : sequence of :class:`Value`
        The header word at each input of the switch.

    Attributes
    ----------
    reads : list of assignments
        Combinational, of the switch.
    """

    def __init__(self, words: Sequence[Value]) -> None:
        self._hops = [Signal(len(words), name=f"hops_{bit}") for bit in range(HOP_BITS)]
        self.reads: list[Any] = [hop.eq(Cat(word[bit] for word in words))
                                    for bit, hop in enumerate(self._hops)]

    def to(self, port: int, heads: Value) -> Value:
        """The inputs in ``heads``, a bit each, whose routes lead to ``port``."""
        found = heads
        for bit, hop in enumerate(self._hops):
            found &= hop if port >> bit & 1 else ~hop
        return found

    @staticmethod
    def rest(port: int, word: Value) -> Value:
        """The route field behind ``port``."""
        return word[HOP_BITS:ROUTE_BITS]


class DisplacementRoutes:
    """A route has the switches of a mesh that are left to pass, along the row and along the column.
    It leads along the row until none is left there, then along the column, then to the node.

    Parameters and attributes as of :class:`PortRoutes`. Source: the mesh of the Paragon, whose
    routers take such displacements from a message's first words.
    """

    def __init__(self, words: Sequence[Value]) -> None:
        self._along_row, self._left, self._along_column, self._up = signals = [
            Signal(len(words), name=name)
            for name in ("along_row", "left", "along_column", "up")]
        ways = [(across.any(), across[-1], down.any(), down[-1])
                for across, down in map(_displacement, words)]
        self.reads: list[Any] = [signal.eq(Cat(bits)) for signal, bits in zip(
            signals, zip(*ways, strict=True), strict=True)]

    def to(self, port: int, heads: Value) -> Value:
        """As of :class:`PortRoutes`."""
        straight = heads & ~self._along_row
        return {
            MeshPort.RIGHT: heads & self._along_row & ~self._left,
            MeshPort.LEFT: heads & self._along_row & self._left,
            MeshPort.DOWN: straight & self._along_column & ~self._up,
            MeshPort.UP: straight & self._along_column & self._up,
            MeshPort.NODE: straight & ~self._along_column,
        }[MeshPort(port)]

    @staticmethod
    def rest(port: int, word: Value) -> Value:
        """As of :class:`PortRoutes`."""
        across, down = _displacement(word)
        steps = {MeshPort.RIGHT: (-1, 0), MeshPort.LEFT: (1, 0), MeshPort.DOWN: (0, -1),
                 MeshPort.UP: (0, 1), MeshPort.NODE: (0, 0)}[MeshPort(port)]
        return Cat((part + step)[:MESH_BITS] if step else part
                   for part, step in zip((across, down), steps, strict=True))


def _displacement(word: Value) -> tuple[Value, Value]:
    return word[:MESH_BITS], word[MESH_BITS:2 * MESH_BITS]


def routes(routing: Routing, words: Sequence[Value]) -> PortRoutes | DisplacementRoutes:
    """Makes what reads the routes of ``words`` as ``routing`` says."""
    return (PortRoutes if routing is Routing.PORTS else DisplacementRoutes)(words)
