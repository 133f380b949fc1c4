"""The NIC processor for host programs: loading firmware, queues to it and commands to it.

In the order in which to read:

- :mod:`.loader`: Firmware on a node's NIC processor: load, check, start, stop
- :mod:`.queue`: Queues of slots from a host program to the firmware (firmware/runtime/queue.h)
- :mod:`.mailbox`: Commands to the firmware (firmware/runtime/mailbox.h): one at a time, through NIC
  memory
- :mod:`.crash`: Describes a crash of a NIC processor's firmware in words
- :mod:`.costs`: CPU costs of driving a NIC processor, besides PIO and memory traffic
"""

from .crash import FirmwareCrash, describe
from .loader import NicProcessor, ProcessorError
from .mailbox import Mailbox
from .queue import CoherentQueue, PioQueue, SendQueue

__all__ = ["CoherentQueue", "FirmwareCrash", "Mailbox", "NicProcessor", "PioQueue",
           "ProcessorError", "SendQueue", "describe"]
