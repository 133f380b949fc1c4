"""The members of a NIC's socket as ports of a module in Verilog: one name for each field."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Shape, Value
from amaranth.lib import data
from amaranth.lib.wiring import In

from .nic_side import NicSide

__all__ = ["CLOCK_ENABLE", "FlatPort", "flat_ports", "flat_values"]

CLOCK_ENABLE = "ce"

_MAY_LACK = ("taken", "events", "timing", "own", "processor", "cycle", "node", "idle")
_MAY_LACK_FIELDS = ("trace", "process", "credit_stall", "jump", "jump_address")


@dataclass(frozen=True)
class FlatPort:
    """A port of a module that is a NIC.

    Attributes
    ----------
    name
        Its name.
    width
        Bits.
    is_input
        Whether it is an input of the NIC.
    optional
        Whether a NIC need not have it. An output that it lacks is 0.
    """

    name: str
    width: int
    is_input: bool
    optional: bool

    @property
    def direction(self) -> str:
        """"input" or "output"."""
        return "input" if self.is_input else "output"


def flat_values(side: NicSide, interface: Any) -> Iterator[tuple[FlatPort, Value]]:
    """The ports of a NIC of ``side``, each with its value in ``interface``.

    The name of a port is the path of its member in :class:`NicSide`, joined by underscores, without
    ``payload``; a field of a structure has its own name behind that: ``pio_valid``,
    ``dma_0_request_address``, ``dma_0_write_strobe``, ``link_tx_data``, ``timing_bus_max_burst``. A
    payload that is no structure is called ``data``: ``dma_0_read_data``. Beside these a module has
    ``clk``, of which the rising edge counts, and ``rst``, which is 1 for at least one of them.

    It may lack whatever tells it nothing that it wants to know: ``taken``, ``timing``, ``own``,
    ``cycle``, ``node``, ``pio_strobe``, all ``trace``, ``process`` and ``credit_stall``; and what
    it does not offer: ``events``, ``processor``, ``idle`` (it is then never asleep), ``trace``,
    ``jump`` and ``jump_address``. With ``ce``, a clock enable, it changes only at edges at which
    that is 1; it needs it on a board.
    """
    for path, member, value in side.flatten(interface):
        parts = [str(part) for part in path if part != "payload"]
        shape = member.shape
        if isinstance(shape, type) and issubclass(shape, data.Struct):
            shape = data.Layout.cast(shape)
        fields = ([(name, value[name]) for name, _ in shape] if isinstance(shape, data.Layout)
                  else [("data" if path[-1] == "payload" else "", value)])
        for name, field in fields:
            names = [*parts, *([name] if name else [])]
            width = Shape.cast(field.shape()).width
            if width:
                yield FlatPort("_".join(names), width, member.flow == In,
                               names[0] in _MAY_LACK or names[-1] in _MAY_LACK_FIELDS
                               or names == ["pio", "strobe"]), Value.cast(field)


def flat_ports(side: NicSide) -> list[FlatPort]:
    """The ports of a NIC of ``side``, as :func:`flat_values` names them."""
    return [port for port, _ in flat_values(side, side.create())]
