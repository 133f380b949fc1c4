"""The layer rpc for the testbed."""

from collections.abc import Iterable

from ...layouts.description import Description
from ...layouts.doors.layer import Layer
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
    drivers=("nicbed.host.nic.kinds:Rings",),
    needs=needs,
    endpoint="nicbed.host.rpc.endpoint:RpcEndpoint",
)
