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


def _needs_of_exchange(description: Description, name: str) -> Iterator[str]:
    am2 = description.am2
    if am2.protocol == "shared" and am2.processes in ("nodes", "all"):
        yield (f"am2.processes = {am2.processes}: with am2.protocol = shared no message of {name} "
               "leaves its node; try am2.processes=cpus")


def _processes(description: Description) -> list[tuple[int, int]]:
    """Node and CPU of each process of a benchmark."""
    chosen = description.am2.processes
    if chosen == "auto":
        chosen = "cpus" if description.am2.protocol == "shared" else "nodes"
    nodes = 1 if chosen == "cpus" else description.fabric.nodes
    cpus = 1 if chosen == "nodes" else description.node.cpus
    return [(node, cpu) for node in range(nodes) for cpu in range(cpus)]


LAYER = Layer(
    name="am2",
    title="Active Messages II, over shared memory and firmware of the NIC processor (am2.protocol)",
    knobs=Am2,
    # The queues are those of its firmware, which it needs unless it is in shared memory alone.
    drivers=("nicbed.host.nic.kinds:Queues", "nicbed.host.nic.kinds:Frames"),
    needs=_needs,
    needs_of_exchange=_needs_of_exchange,
    endpoint="nicbed.host.am2.endpoint:Am2Endpoint",
    processes=_processes,
    messages="nicbed.host.am2.gam_over_am2:GamOverAm2",
)
