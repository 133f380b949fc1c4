"""The layer tcp for the testbed."""

from collections.abc import Iterable

from ...layouts.description import Description, Tcp
from ...layouts.doors.layer import Layer
from ..rpc.layer import needs as needs_of_kernel

__all__ = ["LAYER"]


def _needs(description: Description, name: str) -> Iterable[str]:
    yield from needs_of_kernel(description, name)
    if description.node.nics > 1:
        yield f"node.nics = {description.node.nics}: {name} drives nodes with one NIC"


LAYER = Layer(
    name="tcp",
    title="TCP/IP: sockets through the kernel, on the rings of the NIC",
    knobs=Tcp,
    drivers=("nicbed.host.nic.kinds:Rings",),
    needs=_needs,
    endpoint="nicbed.host.tcp.endpoint:TcpEndpoint",
)
