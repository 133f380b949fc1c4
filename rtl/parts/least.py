"""The least of several numbers."""

from collections.abc import Iterable
from functools import reduce

from amaranth.hdl import Module, Mux, Signal, Value

__all__ = ["least"]


def least(m: Module, values: Iterable[Value], width: int = 32) -> Value:
    """The least of ``values``, of ``width`` bits, unsigned; combinational."""
    def lesser(one: Value, other: Value) -> Signal:
        result = Signal(width, name="least")
        m.d.comb += result.eq(Mux(one < other, one, other))
        return result
    return reduce(lesser, values)
