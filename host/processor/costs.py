"""CPU costs of driving a NIC processor, besides PIO and memory traffic."""

from ..port.costs import Path
from ..port.prices import prices

__all__ = ["Prices"]

LOAD = Path("processor_load", load=4, alu=2, branch=1)
"""A block of BURST words of an image."""
COMMAND = Path("processor_command", call=1, load=2, store=1, alu=2, branch=1)
"""A command to the firmware: its number, and the checks of its answer."""
POST = Path("queue_post", load=2, store=1, alu=4, branch=1)
"""A slot of a queue: its address, and the count of posted slots."""
ROOM = Path("queue_room", load=2, store=1, alu=1, branch=1)
"""Reading how many slots the firmware reports as taken."""


class Prices(prices(globals())):
    """The paths of the driver as a CPU charges them."""
