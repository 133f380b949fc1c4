"""The drivers of the NIC that is built in, whose design is called "rings"."""

from ...layouts.description import Description
from ..port.node import Node
from .kinds import Driver, Frames, Queues, Rings, VirtualInterfaces, Windows
from .ring_frames import RingFrames

__all__ = ["driver", "kinds"]


def kinds(description: Description) -> tuple[type[Driver], ...]:
    """The kinds that the NIC offers under ``description``, best first. Beside a processor, whose
    firmware has them, rings and windows are not the host's."""
    found: list[type[Driver]] = []
    processor = description.nic.processor != "none"
    if description.via.design in ("auto", "firmware" if processor else "engine"):
        found.append(VirtualInterfaces)
    if processor:
        found.append(Queues)
    else:
        found += [Rings, Windows, Frames] if description.nic.send_ring else [Windows, Frames]
    return tuple(found)


def driver(node: Node, kind: type[Driver]) -> Driver:
    """The driver of ``kind`` for the NIC of ``node``. Layers drive rings, queues and doorbells by
    the parts of this folder, of :mod:`nicbed.host.processor` and of :mod:`nicbed.host.via`: for
    them there is no object.

    Raises
    ------
    RuntimeError
        There is none.
    """
    if kind is Frames and kind in kinds(node.description):
        return RingFrames(node)
    raise RuntimeError(f"{node.place}: its NIC has no driver of kind {kind.__name__}")
