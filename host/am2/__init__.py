"""Active Messages II: endpoints on clusters of SMPs, over shared memory and the network.

:mod:`.am2` has all calls under their own names: ``am = Am2(node)``.

In the order in which to read:

- :mod:`.am2`: Active Messages II of one process: all calls under their own names
- :mod:`.endpoint_name`: Names of endpoints, which all processes may know
- :mod:`.control_block`: The control block of an endpoint, in its process's memory
- :mod:`.translation`: An entry of an endpoint's translation table
- :mod:`.bundles`: Bundles: endpoints that are polled, and waited for, together
- :mod:`.packets`: Messages on their way: as a call sends them, and as a way has found them
- :mod:`.arguments`: Checks what programs give to calls
- :mod:`.requesting`: AM_Request: from the call to the way on which the message goes
- :mod:`.way`: A way of messages: the queues in shared memory, or the NICs
- :mod:`.shared`: Active Messages II between the processes of a node: lock-free queues in shared
  memory
- :mod:`.polling`: AM_Poll: looks for messages of a bundle, in shared memory and from the network
- :mod:`.network_polls`: Chooses the polls that look at the network, where both protocols are
  polled
- :mod:`.looking`: Marks of a process that looks for messages
- :mod:`.handling`: Handles messages that have come: checks, handlers, replies that nobody else
  sends
- :mod:`.token`: The token of a message, which its handler gets
- :mod:`.replying`: AM_Reply and what the layer replies itself
- :mod:`.kept_replies`: Replies that have found no room: they are kept, and go in a later poll
- :mod:`.back_off`: The back-off of a request that finds no room
- :mod:`.events`: Events: a process waits until a message has come, and handles none
- :mod:`.copying`: Copies of bulk data by the CPU
- :mod:`.startup`: Processes meet: none goes on before all have come
- :mod:`.gam_over_am2`: The calls of Generic Active Messages over AM-II, for programs above
- :mod:`.endpoint`: A side of an exchange over Active Messages II, one a process
- :mod:`.layer`: The layer am2 for the testbed
- :mod:`.costs`: Prices AM-II: every path of the library is a sum of cost items
- :mod:`.status`: Results of AM-II's calls, and what handler 0 gets
- :mod:`.am2_error`: Errors that are no result of a call
"""

from ...layouts.am2 import ALL as AM_ALL
from ...layouts.am2 import NONE as AM_NONE
from .am2 import Am2
from .am2_error import Am2Error
from .bundles import AM_EVENTS, AM_MODE
from .endpoint_name import EndpointName
from .gam_over_am2 import GamOverAm2
from .status import AM_OP, AM_RETURNED, AM_STATUS

__all__ = ["AM_ALL", "AM_EVENTS", "AM_MODE", "AM_NONE", "AM_OP", "AM_RETURNED", "AM_STATUS",
           "Am2", "Am2Error", "EndpointName", "GamOverAm2"]
