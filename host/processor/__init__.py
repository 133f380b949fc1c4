"""The NIC processor as a host program sees it: loading firmware, queues and commands to it."""

from .crash import FirmwareCrash, describe
from .loader import NicProcessor, ProcessorError
from .mailbox import Mailbox
from .queue import CoherentQueue, PioQueue, SendQueue

__all__ = ["CoherentQueue", "FirmwareCrash", "Mailbox", "NicProcessor", "PioQueue",
           "ProcessorError", "SendQueue", "describe"]
