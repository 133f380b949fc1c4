"""The token of a message, which its handler gets."""

from typing import Any

from .control_block import ControlBlock
from .packets import Arrived

__all__ = ["Token"]


class Token:
    """Message ``arrived`` at ``endpoint`` by ``way``. It is good until the handler has ended.

    Attributes
    ----------
    live
        Whether its handler still runs.
    may_reply
        Whether it is a request, which has had no reply yet.
    """

    __slots__ = ("endpoint", "way", "arrived", "live", "may_reply")

    def __init__(self, endpoint: ControlBlock, way: Any, arrived: Arrived, may_reply: bool) -> None:
        self.endpoint = endpoint
        self.way = way
        self.arrived = arrived
        self.live = True
        self.may_reply = may_reply
