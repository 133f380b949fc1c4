"""Raw frames: the NIC by itself, without a protocol. A frame that is lost stays lost.

In the order in which to read:

- :mod:`.raw`: Frames between programs, as the NIC has them
- :mod:`.endpoint`: A side of an exchange by raw frames
- :mod:`.layer`: The layer raw for the testbed
"""

from ..nic.kinds import Frame
from .raw import Raw

__all__ = ["Frame", "Raw"]
