"""Generic Active Messages 1.1 over the NIC.

A program has a :class:`Gam` a node. :mod:`.gam` makes the parts and holds the public calls; each
part is an object with one job, and knows only those before it in this list:

- :mod:`.wire` (packets), :mod:`.window` (the state of a peer), :mod:`.marks`, :mod:`.costs` (CPU
  costs), :mod:`.deadline`;
- :mod:`.handlers`: the handler table, and which handler runs;
- :mod:`.receive_ring`: the ring or queue in which the next packet is found;
- :mod:`.message_queues`: the queues between two CPUs, and :mod:`.message_processor`, which runs on
  the second one;
- :mod:`.pinned_region`: where bulk data are copied to for the NIC;
- :mod:`.ways`: the ways to the NIC, or to its firmware, a file each;
- :mod:`.sending`: small packets out, and the backlog of packets without room;
- :mod:`.bulk_sending`: transfers out;
- :mod:`.acknowledging`: acknowledgements, NACKs and probes;
- :mod:`.credit`: the rules by which a request's credit comes back;
- :mod:`.presence`: the peers that are to be waited for, known beside the target;
- :mod:`.settling`: postponed work: retransmission, time-outs;
- :mod:`.bulk_receiving`: transfers in;
- :mod:`.receiving`: packets in, to their handlers;
- :mod:`.polling`: looking for packets and deadlines;
- :mod:`.transfers`: transfers that the program begins;
- :mod:`.leaving`: the end of a node's communication.

For the testbed: :mod:`.layer` (what it has to know of the layer) and :mod:`.endpoint` (a side of an
exchange).
"""

from .gam import Gam
from .window import AmError, PeerGone

__all__ = ["Gam", "AmError", "PeerGone"]
