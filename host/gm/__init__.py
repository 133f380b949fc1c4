"""GM message passing over the NIC processor's firmware ``gm``: the library and the driver.

:mod:`.gm` has all calls under their own names: ``gm = Gm(process)``.

In the order in which to read:

- :mod:`.gm`: GM: the message-passing library of one process, all calls under their own names
- :mod:`.opening`: gm_init, gm_open, gm_close: the control program and its ports
- :mod:`.registering`: gm_register_memory, gm_deregister_memory, gm_dma_malloc: memory that the
  NIC may access
- :mod:`.sending`: gm_send_with_callback, gm_directed_send_with_callback, gm_resume_sending,
  gm_drop_sends; send tokens
- :mod:`.buffers`: gm_provide_receive_buffer, and the messages that a port accepts
- :mod:`.event_ring`: gm_receive, gm_blocking_receive, gm_unknown: the events of a port
- :mod:`.commands`: Commands to the firmware, in a port's queue
- :mod:`.caller`: The base of GM's parts: it knows their owner and checks the calls' arguments
- :mod:`.driver`: The driver: firmware, ports, registered memory, the interrupt
- :mod:`.handles`: An open port, as the library knows it
- :mod:`.events`: The events that gm_receive returns
- :mod:`.sizes`: Size classes: a message of n bytes goes into buffers of class ceil(log2(n + 8))
- :mod:`.status`: gm_status_t
- :mod:`.layer`: The layer gm for the testbed
- :mod:`.endpoint`: A side of an exchange over GM
- :mod:`.costs`: Prices GM: every path of the library and of the driver is a sum of cost items
"""

from .events import GM_EVENT, Event
from .gm import GM_HIGH_PRIORITY, GM_LOW_PRIORITY, Gm
from .handles import Port
from .sizes import gm_max_length_for_size, gm_min_size_for_length
from .status import GM_STATUS

__all__ = ["Event", "GM_EVENT", "GM_HIGH_PRIORITY", "GM_LOW_PRIORITY", "GM_STATUS", "Gm", "Port",
           "gm_max_length_for_size", "gm_min_size_for_length"]
