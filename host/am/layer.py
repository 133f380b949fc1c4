"""The layer am for the testbed."""

from collections.abc import Iterable

from ...layouts.description import Am, Description
from ...layouts.doors.layer import Layer

__all__ = ["LAYER", "flushes", "needs"]


def needs(description: Description, name: str) -> Iterable[str]:
    """Rules for all layers that send by Active Messages or by the rings that these use."""
    if description.nic.send_ring == 0 and description.nic.processor == "none":
        yield (f"nic.send_ring = 0: {name} needs a send ring, or a NIC processor "
               "(nic.processor)")
    if description.am.carrier == "unet":
        from ..unet.knobs import Knobs as Unet
        if description.nic.processor == "none":
            yield (f"am.carrier = unet: {name} over U-Net needs firmware of the NIC processor; "
                   "try --set nic.processor=picorv32")
        if description.section(Unet).buffers == "tlb":
            yield (f"unet.buffers = tlb: {name} over U-Net (am.carrier) polls without answering "
                   "what the NIC asks for; it takes segment or direct")
        if description.am.message_processor != "none":
            yield (f"am.message_processor = {description.am.message_processor}: {name} over U-Net "
                   "(am.carrier) has none")


def flushes(description: Description) -> bool:
    """Tells whether it flushes lines: over firmware tb2."""
    return description.am.firmware == "tb2"


def _settle(description: Description) -> Description:
    """Over U-Net the description has its knobs."""
    return description.of_layers(["unet"] if description.am.carrier == "unet" else [])


LAYER = Layer(
    name="am",
    title="Generic Active Messages 1.1 over the rings of the NIC, or over firmware",
    knobs=Am,
    drivers=("nicbed.host.nic.kinds:Rings", "nicbed.host.nic.kinds:Queues"),
    needs=needs,
    flushes=flushes,
    settle=_settle,
    messages="nicbed.host.am.gam:Gam",
    endpoint="nicbed.host.am.endpoint:AmEndpoint",
    background="nicbed.host.am.message_processor:background",
)
