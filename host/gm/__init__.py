"""GM message passing over the NIC processor's firmware ``gm``: the library and the driver.

:mod:`.gm` has all calls under their own names: ``gm = Gm(process)``.
"""

from .events import GM_EVENT, Event
from .gm import GM_HIGH_PRIORITY, GM_LOW_PRIORITY, Gm
from .handles import Port
from .sizes import gm_max_length_for_size, gm_min_size_for_length
from .status import GM_STATUS

__all__ = ["Event", "GM_EVENT", "GM_HIGH_PRIORITY", "GM_LOW_PRIORITY", "GM_STATUS", "Gm", "Port",
           "gm_max_length_for_size", "gm_min_size_for_length"]
