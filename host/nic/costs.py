"""CPU costs of driving the NIC's rings, besides PIO and memory traffic."""

from ..port.costs import Path
from ..port.prices import prices

__all__ = ["Prices"]

PACKET = Path("packet", call=1, load=4, store=2, branch=3, alu=3)
"""A packet from the receive ring, until its protocol's handler is called."""

# Frames

FRAME_SEND = Path("frame_send", call=2, load=6, store=9, branch=4, alu=8, flush=1)
"""A frame by a descriptor: arguments, header, trace number, descriptor; besides its line."""
FRAME_WINDOW = Path("frame_window", call=2, load=5, branch=4, alu=8)
"""A frame through the send window, besides the loads of its data."""
FRAME_SPACE = Path("frame_space", call=1, load=1, store=1, branch=1)
"""Reading the free space of the send window from the NIC."""
FRAME_REPORT = Path("frame_report", load=2, store=1, branch=2, alu=2)
"""Reading how far the NIC has read the send ring."""
FRAME_CHECK = Path("frame_check", call=1, load=2, branch=2)
"""Looking for a frame, besides the check itself."""
FRAME_TAKE = Path("frame_take", load=4, store=3, branch=2, alu=4)
"""A frame that is there: its length, its source, the next slot."""
FRAME_RELEASE = Path("frame_release", call=1, load=3, store=2, branch=2, alu=2)
FRAMES_TAKEN = Path("frames_taken", load=2, store=1, alu=2)
"""Telling the NIC how many slots are free again."""


class Prices(prices(globals())):
    """The paths of the drivers as a CPU charges them."""
