"""CPU costs of driving the NIC's rings, besides PIO and memory traffic."""

from ..port.costs import Path
from ..port.prices import prices

__all__ = ["Prices"]

PACKET = Path("packet", call=1, load=4, store=2, branch=3, alu=3)
"""A packet from the receive ring, until its protocol's handler is called."""


class Prices(prices(globals())):
    """The paths of the drivers as a CPU charges them."""
