"""The layer unet for the testbed."""

from ...layouts.doors.layer import Layer
from ..endpoint import needs_no_loss
from ..gm.layer import needs
from .knobs import Knobs

__all__ = ["LAYER"]

LAYER = Layer(
    name="unet",
    title="U-Net: endpoints reached without the kernel, over firmware of the NIC processor",
    knobs=Knobs,
    drivers=("nicbed.host.nic.kinds:Queues",),
    needs=needs,
    needs_of_exchange=needs_no_loss,
    endpoint="nicbed.host.unet.endpoint:UnetEndpoint",
)
