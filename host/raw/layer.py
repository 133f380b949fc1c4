"""The layer raw for the testbed."""

from ...layouts.doors.layer import Layer
from ...layouts.packet import Protocol
from ...layouts.trace import Activity
from ..endpoint import needs_no_loss

__all__ = ["LAYER"]

LAYER = Layer(
    name="raw",
    title="frames as the NIC has them: no protocol, and what is lost stays lost",
    costs="nicbed.host.nic.costs",
    activities=(Activity.REQUEST_SEND, Activity.REQUEST_HANDLE, Activity.EMPTY_POLL,
                Activity.CONTROL),
    protocol=(Protocol.RAW,),
    drivers=("nicbed.host.nic.kinds:Frames",),
    needs_of_exchange=needs_no_loss,
    endpoint="nicbed.host.raw.endpoint:RawEndpoint",
)
