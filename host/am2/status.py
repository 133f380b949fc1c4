"""Results of AM-II's calls, and what handler 0 gets."""

from ...layouts.am2 import Opcode as AM_OP
from ...layouts.am2 import Returned as AM_RETURNED
from ...layouts.am2 import Status as AM_STATUS

__all__ = ["AM_OP", "AM_RETURNED", "AM_STATUS"]
