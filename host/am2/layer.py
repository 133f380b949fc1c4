"""The layer am2 for the testbed."""

from collections.abc import Iterator

from ...layouts.am2_nic import memory_needed
from ...layouts.description import Am2, Description
from ...layouts.doors.layer import Layer

__all__ = ["LAYER"]


def _needs_of_firmware(description: Description, name: str) -> Iterator[str]:
    """The rules where messages go by the NICs."""
    node, am2, memory = description.node, description.am2, description.processor.memory
    nics = description.fabric.nodes * node.nics
    sharers = -(-node.cpus // node.nics)
    if am2.endpoints < sharers:
        yield (f"am2.endpoints = {am2.endpoints}: {sharers} CPUs share a NIC, and each needs an "
               "endpoint of it")
    needed = memory_needed(nics, am2.frames, am2.endpoints)
    if needed > memory:
        room = 1 << (needed - 1).bit_length()
        yield (f"processor.memory = {memory}: firmware {name} with am2.frames = {am2.frames} and "
               f"am2.endpoints = {am2.endpoints} for {nics} NICs needs {needed}; try --set "
               f"processor.memory={room}, or fewer frames")


def _needs(description: Description, name: str) -> Iterator[str]:
    protocol = description.am2.protocol
    if protocol != "shared" and description.nic.processor == "none":
        yield (f"nic.processor = none: {name} is firmware of the NIC processor; try --set "
               "nic.processor=picorv32, or am2.protocol=shared on a node with several CPUs")
    if protocol == "shared" and description.node.cpus < 2:
        yield (f"node.cpus = {description.node.cpus}: {name} with am2.protocol = shared is between "
               "the CPUs of a node; try --set node.cpus=2")
    if protocol != "shared" and description.nic.processor != "none":
        yield from _needs_of_firmware(description, name)
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
