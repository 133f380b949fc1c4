"""VMMC and VMMC-2: virtual memory-mapped communication over the NIC processor's firmware ``vmmc``.

In the order in which to read:

- :mod:`.vmmc`: VMMC: the library of one process
- :mod:`.send_queue`: The send queue of a port: slots in NIC memory, written by PIO, and what has
  become of them
- :mod:`.event_ring`: The events of a port: messages that were told of, ends of redirections
- :mod:`.driver`: The driver: firmware, ports, tables, pinned pages, the interrupt
- :mod:`.handles`: Exports, imports, sends and events, as the library knows them
- :mod:`.pool`: Numbers in a row, taken and given back
- :mod:`.status`: The results of calls and sends
- :mod:`.knobs`: Knobs of the layer vmmc
- :mod:`.layer`: The layer vmmc for the testbed
- :mod:`.endpoint`: A side of an exchange over VMMC
- :mod:`.costs`: Prices VMMC: every path of the library and of the driver is a sum of cost items
"""

from .handles import Event, Export, Import, Sending
from .status import Status
from .vmmc import EVERYBODY, Vmmc

__all__ = ["EVERYBODY", "Event", "Export", "Import", "Sending", "Status", "Vmmc"]
