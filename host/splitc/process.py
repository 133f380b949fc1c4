"""The base of all parts: the process, its Active Messages, pointers checked."""

from ...layouts.doors.layer import Layer
from ...layouts.doors.lazy import resolved
from ..am.layer import LAYER as AM
from ..port.node import Node
from .messages import Messages
from .pointers import GlobalPointer
from .statistics import Statistics

__all__ = ["Process", "SplitCError"]


class SplitCError(Exception):
    """A call that breaks a rule of Split-C. The text says which."""


class Process:
    """One process: ``number`` of ``procs``, on ``node``, with the Active Messages ``am`` of
    ``layer``.

    Attributes
    ----------
    lanes
        Of each process, how many processes before it are on its node.
    here
        How many processes are on this one's node.
    """

    __slots__ = ("node", "port", "memory", "am", "number", "procs", "lanes", "here", "statistics")

    def __init__(self, node: Node, layer: Layer = AM) -> None:
        places, running = layer.places(node.description), {*node.programs}
        if running != {*places}:
            raise SplitCError(f"Split-C has a process on every node: of {len(places)} nodes "
                              f"{len(running)} run a program" if layer.processes is None else
                              f"Split-C has {len(places)} processes over {layer.name}, and "
                              f"{len(running)} CPUs run a program")
        self.node, self.port, self.memory = node, node.port, node.memory
        self.am: Messages = resolved(layer.messages)(node)
        self.number = places.index((node.number, node.cpu))
        self.procs = len(places)
        self.lanes = [sum(place[0] == other[0] for other in places[:number])
                      for number, place in enumerate(places)]
        self.here = sum(place[0] == node.number for place in places)
        self.statistics = Statistics()

    def is_local(self, place: GlobalPointer, length: int) -> bool:
        """Tells whether ``place``, with ``length`` bytes, is in this process's memory.

        Raises
        ------
        SplitCError
            The bytes are nowhere.
        """
        if not 0 <= place.process < self.procs:
            raise SplitCError(f"process {place.process}: there are 0 to {self.procs - 1} (PROCS)")
        self.check(place.address, length)
        return place.process == self.number

    def check(self, address: int, length: int) -> None:
        """Refuse bytes that are not in a process's memory."""
        if length < 0 or address < 0 or address + length > self.memory.size:
            raise SplitCError(f"{length} bytes at {address:#x} are not in the {self.memory.size} "
                              "bytes of a process's memory")
