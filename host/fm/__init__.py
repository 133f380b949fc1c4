"""Fast Messages 1.1 over firmware ``fm``: :class:`Fm`, one object a node.

The firmware forwards; all else is here: :mod:`.lost` (what the network has lost), :mod:`.frames`
(packets out of the ring and into the queue, room), :mod:`.returning` (return to sender), :mod:`.fm`
(the public calls), :mod:`.costs` (what it costs). For the testbed: :mod:`.layer`, and
:mod:`.endpoint` (a side of an exchange).
"""

from .fm import Fm
from .frames import FmError

__all__ = ["Fm", "FmError"]
