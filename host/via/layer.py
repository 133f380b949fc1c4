"""The layer via for the testbed."""

from collections.abc import Iterable

from ...layouts.description import LONG_PACKET, Description, Via
from ...layouts.doors.layer import Layer

__all__ = ["LAYER"]


def _settle(description: Description) -> Description:
    """With via.design = 'auto' resolved: firmware if there is a NIC processor, else an engine."""
    if description.via.design != "auto":
        return description
    design = "engine" if description.nic.processor == "none" else "firmware"
    via = description.via.model_copy(update={"design": design})
    return description.model_copy(update={"via": via})


def _needs(description: Description, name: str) -> Iterable[str]:
    if description.via.design == "kernel":
        if description.nic.send_ring == 0:
            yield "nic.send_ring = 0: via.design = 'kernel' needs a send ring"
    elif description.nic.mtu > LONG_PACKET:
        yield (f"nic.mtu = {description.nic.mtu}: {name} on a VI engine takes at "
               f"most {LONG_PACKET}; try --set via.design=kernel")


LAYER = Layer(
    name="via",
    title="Virtual Interface Architecture 1.0: VIPL on a VI engine, the kernel or firmware",
    knobs=Via,
    drivers=("nicbed.host.nic.kinds:VirtualInterfaces", "nicbed.host.nic.kinds:Rings"),
    needs=_needs,
    settle=_settle,
    endpoint="nicbed.host.via.endpoint:ViaEndpoint",
)
