"""The base of all parts: the process, its Active Messages, pointers checked."""

from ..am import Gam
from ..port.node import Node
from .pointers import GlobalPointer
from .statistics import Statistics

__all__ = ["Process", "SplitCError"]


class SplitCError(Exception):
    """A call that breaks a rule of Split-C. The text says which."""


class Process:
    """One process: ``number`` of ``procs``, on ``node``, with the Active Messages ``am``."""

    __slots__ = ("node", "port", "memory", "am", "number", "procs", "statistics")

    def __init__(self, node: Node) -> None:
        if len(node.active) != node.nodes:
            raise SplitCError(f"Split-C has a process on every node: of {node.nodes} nodes "
                              f"{len(node.active)} run a program")
        self.node, self.port, self.memory = node, node.port, node.memory
        self.am = Gam(node)
        self.number = node.number
        self.procs = node.nodes
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
