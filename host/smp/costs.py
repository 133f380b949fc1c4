"""CPU costs of locks and barriers: their paths, counted from a C implementation.

Loads and stores of shared words, CAS and spinning are operations, which cost time besides.
"""

from ..port.costs import Path
from ..port.prices import prices

__all__ = ["Prices"]

TAKE = Path("spin_lock_take", call=1, branch=1)
"""Each attempt: CAS, and whether it took the lock."""
RELEASE = Path("spin_lock_release", call=1)
QUEUE = Path("queue_lock_take", call=1, alu=2, branch=1)
"""The CPU's record is written, and its predecessor's."""
SWAP = Path("swap", load=1, branch=1)
"""Each attempt of a CAS that exchanges a word."""
HAND_OVER = Path("queue_lock_release", call=1, branch=2)
ARRIVE = Path("barrier_arrive", call=1, alu=1, branch=1)
COUNT = Path("barrier_count", alu=1, branch=1)
"""Each attempt of a CAS that counts up."""
TURN = Path("next_layer", load=1, alu=1, branch=1)
"""On to the next of several layers, before its poll."""
LAST = Path("barrier_last", alu=1)
"""The last to arrive sets the counter back and lets the others go."""


class Prices(prices(globals())):
    """The paths of locks and barriers as a CPU charges them."""
