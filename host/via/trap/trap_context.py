"""Kernel-trap design point: the state and the resources that its parts share."""

from collections import Counter
from dataclasses import dataclass, field

from ...nic.send_ring import SendRing
from ...port.node import Node
from ...port.port import Port
from ..regions import Region
from .costs import TrapPrices
from .ends import End
from .memory import TrapMemory
from .timers import Timers

__all__ = ["TrapContext"]


@dataclass(frozen=True, slots=True)
class TrapContext:
    """State and resources that the parts of the kernel share. Each takes those that it needs when
    it is made.

    Attributes
    ----------
    ends
        The kernel's state of each VI, by its number.
    space
        Access to the consumers' memory.
    counters
        unmatched, duplicates, gaps, dropped, malformed, sent, resent, timeouts, probes.
    """

    node: Node
    port: Port
    prices: TrapPrices
    space: TrapMemory
    ring: SendRing
    timers: Timers
    ends: dict[int, End]
    counters: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, node: Node, regions: dict[int, Region]) -> "TrapContext":
        """The context of the kernel of ``node``; ``regions``: registered memory, by handle."""
        prices = node.service(TrapPrices)
        ends: dict[int, End] = {}
        return cls(node, node.port, prices, TrapMemory(node, regions),
                   SendRing(node, node.description.via.send_slots, prices.report),
                   Timers(node.port, ends), ends)
