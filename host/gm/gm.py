"""GM: the message-passing library of one process, all calls under their own names.

Each call is in the file of its concern: :mod:`.opening`, :mod:`.sending`, :mod:`.receiving`.
"""

from .caller import GM_HIGH_PRIORITY, GM_LOW_PRIORITY
from .opening import Opening
from .receiving import Receives
from .sizes import gm_max_length_for_size, gm_min_size_for_length

__all__ = ["GM_HIGH_PRIORITY", "GM_LOW_PRIORITY", "Gm"]


class Gm(Receives, Opening):
    """``gm = Gm(process)``; ``status, port = await gm.gm_open(0, 2, "mine")``.

    A call that accesses the NIC or memory is a coroutine; the CPU time of the other calls is
    charged to the next coroutine. Calls return a
    :class:`~nicbed.host.gm.status.GM_STATUS` where GM's do, or would have to: none raises for what
    a program does.
    """

    gm_min_size_for_length = staticmethod(gm_min_size_for_length)
    gm_max_length_for_size = staticmethod(gm_max_length_for_size)
