"""The layer gm for the testbed."""

from collections.abc import Iterable

from ...layouts.description import Description, Gm
from ...layouts.doors.layer import Layer
from ...layouts.packet import Protocol
from ...layouts.trace import Activity

__all__ = ["LAYER", "needs"]


def needs(description: Description, name: str) -> Iterable[str]:
    """The rule for layers that are firmware."""
    if description.nic.processor == "none":
        yield (f"nic.processor = none: {name} is firmware of the NIC processor; "
               "try --set nic.processor=picorv32")


LAYER = Layer(
    name="gm",
    title="GM message passing, over firmware of the NIC processor",
    knobs=Gm,
    costs="nicbed.host.gm.costs",
    activities=(Activity.POST_SEND, Activity.POST_RECEIVE, Activity.SEND_COMPLETE,
                Activity.RECEIVE_COMPLETE, Activity.EMPTY_CHECK, Activity.BLOCKED),
    protocol=(Protocol.GM,),
    drivers=("nicbed.host.nic.kinds:Queues",),
    needs=needs,
    endpoint="nicbed.host.gm.endpoint:GmEndpoint",
)
