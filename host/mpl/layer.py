"""The layer mpl for the testbed: it needs what Active Messages need."""

from ...layouts.description import Mpl
from ...layouts.doors.layer import Layer
from ..am.layer import flushes, needs

__all__ = ["LAYER"]

LAYER = Layer(
    name="mpl",
    title="MPL, the SP-2's message passing, over Active Messages",
    knobs=Mpl,
    sections=("am",),
    drivers=("nicbed.host.nic.kinds:Rings", "nicbed.host.nic.kinds:Queues"),
    needs=needs,
    flushes=flushes,
    endpoint="nicbed.host.mpl.endpoint:MplEndpoint",
    background="nicbed.host.am.message_processor:background",
)
