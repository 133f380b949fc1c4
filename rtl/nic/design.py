"""Today's NIC as an object at the door: rings, windows, a VI engine or a processor."""

from ...layouts.doors import NicDesign

__all__ = ["DESIGN", "Rings"]


class Rings(NicDesign):
    """The NIC of which the knobs are those of the sections nic, via and processor."""

    name = "rings"
    title = "send and receive rings and windows; a VI engine or a processor beside them"


DESIGN = Rings()
