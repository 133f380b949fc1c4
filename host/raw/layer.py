"""The layer raw for the testbed."""

from ...layouts.doors.layer import Layer
from ..endpoint import needs_no_loss

__all__ = ["LAYER"]

LAYER = Layer(
    name="raw",
    title="frames as the NIC has them: no protocol, and what is lost stays lost",
    drivers=("nicbed.host.nic.kinds:Frames",),
    needs_of_exchange=needs_no_loss,
    endpoint="nicbed.host.raw.endpoint:RawEndpoint",
)
