"""The layer fm for the testbed."""

from ...layouts.doors.layer import Layer
from ...layouts.packet import Protocol
from ...layouts.trace import Activity
from ..endpoint import needs_no_loss
from ..gm.layer import needs

__all__ = ["LAYER"]

LAYER = Layer(
    name="fm",
    title="Fast Messages 1.1, over firmware of the NIC processor",
    costs="nicbed.host.fm.costs",
    activities=(Activity.REQUEST_SEND, Activity.REQUEST_HANDLE, Activity.EMPTY_POLL,
                Activity.WINDOW_WAIT, Activity.CONTROL),
    protocol=(Protocol.FM,),
    drivers=("nicbed.host.nic.kinds:Queues",),
    needs=needs,
    needs_of_exchange=needs_no_loss,
    endpoint="nicbed.host.fm.endpoint:FmEndpoint",
)
