"""The layer rpc for the testbed."""

from collections.abc import Iterable

from ...layouts.description import Description
from ...layouts.doors.layer import Layer
from ...layouts.packet import Protocol
from ...layouts.trace import Activity
from ..am.layer import needs as needs_of_rings

__all__ = ["LAYER", "needs"]


def needs(description: Description, name: str) -> Iterable[str]:
    """Rules for layers through the kernel, which take interrupts of the NIC's receive ring."""
    if description.nic.processor != "none" or description.am.message_processor != "none":
        yield (f"{name} takes interrupts of the NIC's receive ring: nic.processor and "
               "am.message_processor must be none")
    yield from needs_of_rings(description, name)


LAYER = Layer(
    name="rpc",
    title="asynchronous remote procedure calls, through the kernel and by interrupts",
    costs="nicbed.host.rpc.costs",
    activities=(Activity.REQUEST_SEND, Activity.REQUEST_HANDLE, Activity.REPLY_SEND,
                Activity.REPLY_HANDLE, Activity.BLOCKED, Activity.CONTROL),
    protocol=(Protocol.AM,),
    drivers=("nicbed.host.nic.kinds:Rings",),
    needs=needs,
    endpoint="nicbed.host.rpc.endpoint:RpcEndpoint",
)
