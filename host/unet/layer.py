"""The layer unet for the testbed."""

from ...layouts.description import Unet
from ...layouts.doors.layer import Layer
from ..endpoint import needs_no_loss
from ..gm.layer import needs

__all__ = ["LAYER"]

LAYER = Layer(
    name="unet",
    title="U-Net: endpoints reached without the kernel, over firmware of the NIC processor",
    knobs=Unet,
    drivers=("nicbed.host.nic.kinds:Queues",),
    needs=needs,
    needs_of_exchange=needs_no_loss,
    endpoint="nicbed.host.unet.endpoint:UnetEndpoint",
)
