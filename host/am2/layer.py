"""The layer am2 for the testbed."""

from collections.abc import Iterator

from ...layouts.description import Am2, Description
from ...layouts.doors.layer import Layer

__all__ = ["LAYER"]


def _needs(description: Description, name: str) -> Iterator[str]:
    protocol = description.am2.protocol
    if protocol != "shared" and description.nic.processor == "none":
        yield (f"nic.processor = none: {name} is firmware of the NIC processor; try --set "
               "nic.processor=picorv32, or am2.protocol=shared on a node with several CPUs")
    if protocol == "shared" and description.node.cpus < 2:
        yield (f"node.cpus = {description.node.cpus}: {name} with am2.protocol = shared is between "
               "the CPUs of a node; try --set node.cpus=2")
    if not description.bus.coherent:
        yield f"bus.coherent = false: {name} has queues in memory that CPUs and NICs share"


LAYER = Layer(
    name="am2",
    title="Active Messages II, over shared memory and firmware of the NIC processor (am2.protocol)",
    knobs=Am2,
    drivers=("nicbed.host.nic.kinds:Queues",),
    needs=_needs,
)
