"""Generic Active Messages 1.1 over the NIC.

One object a node, made in steps, each a file that knows those before it only: :mod:`.state`,
:mod:`.sending`, :mod:`.bulk`, :mod:`.acknowledging`, :mod:`.settling` (what has been put off:
retransmission, time-outs), :mod:`.receiving`, :mod:`.polling`, :mod:`.gam` (the public calls).
Beside them: :mod:`.injection` (the way to the NIC, or to its firmware), :mod:`.window` (what is
kept about a peer), :mod:`.wire` (packets), :mod:`.paths` (what it all costs).
"""

from .gam import Gam
from .window import AmError, PeerGone

__all__ = ["Gam", "AmError", "PeerGone"]
