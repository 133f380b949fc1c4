"""U-Net over the NIC processor's firmware ``unet``: endpoints that a process reaches without the
kernel.

:mod:`.unet` has the calls that enter the kernel, ``unet = Unet(process)``;
:mod:`.communication_endpoint` the endpoint, whose calls do not.

In the order in which to read:

- :mod:`.unet`: U-Net of one process: what the kernel does for it
- :mod:`.communication_endpoint`: An endpoint: its segment, its queues, and all that a process does
  with them
- :mod:`.channel`: A channel of an endpoint
- :mod:`.received`: Messages that have come, and buffers that were refused
- :mod:`.send_queue`: The send queue: descriptors, done flags, back-pressure
- :mod:`.receive_queue`: The free queue and the receive queue
- :mod:`.copying`: Copies between a program's buffers and the segment
- :mod:`.driver`: The driver: firmware, endpoints, channels, registered memory, the interrupt
- :mod:`.pinning`: Pages that the NIC may access: registered, or pinned on demand
- :mod:`.knobs`: Knobs of the layer unet
- :mod:`.layer`: The layer unet for the testbed
- :mod:`.endpoint`: A side of an exchange over U-Net
- :mod:`.costs`: Prices U-Net: every path of the library and of the driver is a sum of cost items
"""

from .channel import Channel
from .communication_endpoint import CommunicationEndpoint
from .received import Received
from .unet import STATUS, Unet, UnetError

__all__ = ["Channel", "CommunicationEndpoint", "Received", "STATUS", "Unet", "UnetError"]
