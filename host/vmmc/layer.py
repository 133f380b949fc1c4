"""The layer vmmc for the testbed."""

from collections.abc import Iterator

from ...layouts.description import Description
from ...layouts.doors.layer import Layer
from ...layouts.vmmc import NODES
from ..endpoint import needs_no_loss
from .knobs import Knobs

__all__ = ["LAYER"]

IMAGE_BYTES = 47104
"""Bytes of the firmware's code and of what it has one of, and of two packets, at the most."""
NODE_BYTES, PAGE_BYTES, TRANSLATION_BYTES = 600, 8, 8
"""Bytes that it keeps of a node, of a page that is imported or exported, of a translation."""


def _needs(description: Description, name: str) -> Iterator[str]:
    if description.nic.processor == "none":
        yield (f"nic.processor = none: {name} is firmware of the NIC processor; "
               "try --set nic.processor=picorv32")
        return
    vmmc, memory = description.section(Knobs), description.processor.memory
    nics = description.fabric.nodes * description.node.nics
    if nics > NODES:
        yield f"fabric.nodes = {description.fabric.nodes}: {name} knows {NODES} NICs"
    needed = (IMAGE_BYTES + NODE_BYTES * nics + PAGE_BYTES * (vmmc.imports + vmmc.exports)
              + TRANSLATION_BYTES * vmmc.translations)
    if needed > memory:
        room = 1 << (needed - 1).bit_length()
        yield (f"processor.memory = {memory}: firmware {name} with vmmc.imports = {vmmc.imports} "
               f"and vmmc.exports = {vmmc.exports} for {nics} NICs needs {needed}; try --set "
               f"processor.memory={room}, or smaller tables")
    if not description.bus.coherent:
        yield f"bus.coherent = false: {name} writes to memory that programs poll"


def _needs_of_exchange(description: Description, name: str) -> Iterator[str]:
    if not description.section(Knobs).reliable:
        yield from needs_no_loss(description, name)


LAYER = Layer(
    name="vmmc",
    title="VMMC: sends into imported memory, over firmware of the NIC processor",
    knobs=Knobs,
    drivers=("nicbed.host.nic.kinds:Queues",),
    needs=_needs,
    needs_of_exchange=_needs_of_exchange,
    endpoint="nicbed.host.vmmc.endpoint:VmmcEndpoint",
)
