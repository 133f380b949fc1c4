"""The layer gm for the testbed."""

from collections.abc import Iterable

from ...layouts.description import Description, Gm
from ...layouts.doors.layer import Layer

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
    drivers=("nicbed.host.nic.kinds:Queues",),
    needs=needs,
    endpoint="nicbed.host.gm.endpoint:GmEndpoint",
)
