"""The layer mpl for the testbed: it needs what Active Messages need."""

from ...layouts.description import Mpl
from ...layouts.doors.layer import Layer
from ...layouts.packet import Protocol
from ...layouts.trace import Activity
from ..am.layer import flushes, needs

__all__ = ["LAYER"]

LAYER = Layer(
    name="mpl",
    title="MPL, the SP-2's message passing, over Active Messages",
    knobs=Mpl,
    sections=("am",),
    costs="nicbed.host.mpl.costs",
    activities=(Activity.POST_SEND, Activity.POST_RECEIVE),
    protocol=(Protocol.AM, Protocol.NOTE),
    drivers=("nicbed.host.nic.kinds:Rings", "nicbed.host.nic.kinds:Queues"),
    needs=needs,
    flushes=flushes,
    endpoint="nicbed.host.mpl.endpoint:MplEndpoint",
    background="nicbed.host.am.message_processor:background",
)
