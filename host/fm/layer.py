"""The layer fm for the testbed."""

from ...layouts.doors.layer import Layer
from ..endpoint import needs_no_loss
from ..gm.layer import needs

__all__ = ["LAYER"]

LAYER = Layer(
    name="fm",
    title="Fast Messages 1.1, over firmware of the NIC processor",
    drivers=("nicbed.host.nic.kinds:Queues",),
    needs=needs,
    needs_of_exchange=needs_no_loss,
    endpoint="nicbed.host.fm.endpoint:FmEndpoint",
)
