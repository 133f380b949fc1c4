"""The NIC processor for host programs: loading firmware, queues to it and commands to it.

In the order in which to read:

- :mod:`.loader`: Firmware on a node's NIC processor: load, check, start, stop
- :mod:`.queue`: Queues of slots from a host program to the firmware (firmware/runtime/queue.h)
- :mod:`.mailbox`: Commands to the firmware (firmware/runtime/mailbox.h): one at a time, through NIC
  memory
- :mod:`.firmware_driver`: The kernel's part of a layer that is firmware of the NIC processor, as
  far as it is the same for all
- :mod:`.crash`: Describes a crash of a NIC processor's firmware in words
- :mod:`.costs`: CPU costs of driving a NIC processor, besides PIO and memory traffic
"""

from .crash import FirmwareCrash, describe
from .firmware_driver import FirmwareDriver
from .loader import NicProcessor, ProcessorError
from .mailbox import Mailbox
from .queue import CoherentQueue, PioQueue, SendQueue

__all__ = ["CoherentQueue", "FirmwareCrash", "FirmwareDriver", "Mailbox", "NicProcessor",
           "PioQueue", "ProcessorError", "SendQueue", "describe"]
