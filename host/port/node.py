"""A node for its program: number, port, memory."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from ...layouts.description import Description
from ...layouts.fabric import Topology
from ...layouts.packet import TRACE_BITS
from .backend import Memory
from .memory import Allocator
from .port import Port

__all__ = ["Node", "Program"]

Service = TypeVar("Service")


class Node:
    """Node ``number`` of ``nodes``. A host program is ``async def program(node)``.

    Attributes
    ----------
    number, nodes
        Number of this node, and number of nodes.
    active
        Numbers of the nodes that run a program.
    description
        The NIC description of the run.
    port
        The host port, with all operations that take target time.
    firmware
        The image that runs on the NIC processor; None if none was started.
    memory
        Zero-time access to host memory, for set-up and inspection. Writes that the target can
        observe must use :meth:`store` instead.
    """

    __slots__ = ("number", "nodes", "active", "description", "port", "memory", "topology",
                 "firmware", "_allocator", "_trace", "_services", "_routes")

    def __init__(self, number: int, description: Description, port: Port, memory: Memory,
                 topology: Topology, active: Sequence[int] | None = None) -> None:
        self.number = number
        self.nodes = description.fabric.nodes
        self.active = tuple(range(self.nodes)) if active is None else tuple(active)
        self.description = description
        self.port = port
        self.memory = memory
        self.topology = topology
        self.firmware: Any = None
        self._allocator = Allocator(memory.size)
        self._trace = number + 1
        self._services: dict[type, Any] = {}
        self._routes: dict[int, int] = {}

    def service(self, kind: type[Service]) -> Service:
        """The node's only instance of ``kind``, made by ``kind(node)`` when it is first
        requested."""
        found: Service | None = self._services.get(kind)
        if found is None:
            found = self._services[kind] = kind(self)  # type: ignore[call-arg]
        return found

    def allocate(self, length: int, align: int = 64) -> int:
        """Address of ``length`` newly allocated bytes of this node's memory."""
        return self._allocator.allocate(length, align)

    def route(self, destination: int) -> int:
        """The wire header's route field to ``destination``."""
        found = self._routes.get(destination)
        if found is None:
            found = self._routes[destination] = self.topology.route(self.number, destination)
        return found

    def trace_number(self) -> int:
        """A trace number for a packet. It is never 0, and unique over all nodes until the numbers
        wrap around."""
        number = self._trace
        following = number + self.nodes
        self._trace = following if not following >> TRACE_BITS else self.number + 1
        return number

    async def store(self, address: int, data: bytes) -> None:
        """The CPU writes ``data`` to memory. This takes CPU time; the data becomes visible at its
        end."""
        port = self.port
        port.work("store", -(-len(data) // 8))
        await port.touch(address, len(data), store=True)
        await port.flush()
        self.memory.write(address, data)

    async def load(self, address: int, length: int) -> bytes:
        """The CPU reads memory. This takes CPU time; the result is the content at its end."""
        port = self.port
        port.work("load", -(-length // 8))
        await port.touch(address, length)
        await port.flush()
        return self.memory.read(address, length)


Program = Callable[[Node], Coroutine[Any, Any, Any]]
"""A host program: a function of its node that returns a coroutine, which awaits every operation
that takes target time."""
