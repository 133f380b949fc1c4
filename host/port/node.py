"""A node for its program: number, CPU, port, memory."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from ...layouts.description import Description
from ...layouts.fabric import Topology
from ...layouts.packet import TRACE_BITS
from .backend import Memory
from .memory import Allocator
from .port import Port

__all__ = ["Node", "Program", "Programs"]

Service = TypeVar("Service")


class _Common:
    """What all CPUs of a node share, besides its memory."""

    __slots__ = ("allocator", "routes", "segments", "services", "firmware", "user")

    def __init__(self, memory_bytes: int) -> None:
        self.allocator = Allocator(memory_bytes)
        self.routes: dict[int, int] = {}
        self.segments: dict[str, tuple[int, int]] = {}
        self.services: dict[type, Any] = {}
        self.firmware: Any = None
        self.user: tuple[int, str] | None = None
        """The CPU that drives the NIC, and the layer by which it does."""


class Node:
    """Node ``number`` of ``nodes``, as its CPU ``cpu`` of ``cpus`` sees it. A host program is
    ``async def program(node)``; where a node has several CPUs each has a program, ``async def
    program(cpu)``, and a Node of its own. What one allocates or stores is there for all of them.

    Attributes
    ----------
    number, nodes
        Number of this node, and number of nodes.
    cpu, cpus
        Number of this CPU on its node, and number of the node's CPUs.
    active
        Numbers of the nodes that run a program.
    description
        The NIC description of the run.
    port
        The CPU's host port, with all operations that take target time.
    memory
        Zero-time access to host memory, for set-up and inspection. Writes that the target can
        observe must use :meth:`store` instead.
    """

    __slots__ = ("number", "nodes", "cpu", "cpus", "active", "description", "port", "memory",
                 "topology", "_allocator", "_trace", "_first_trace", "_trace_step", "_services",
                 "_routes", "_common")

    def __init__(self, number: int, description: Description, port: Port, memory: Memory,
                 topology: Topology, active: Sequence[int] | None = None,
                 beside: "Node | None" = None) -> None:
        """``beside``: the same node as another of its CPUs sees it; None for the first."""
        self.number = number
        self.nodes = description.fabric.nodes
        self.cpu = port.cpu
        self.cpus = description.node.cpus
        self.active = tuple(range(self.nodes)) if active is None else tuple(active)
        self.description = description
        self.port = port
        self.memory = memory
        self.topology = topology
        self._common = common = _Common(memory.size) if beside is None else beside._common
        self._allocator = common.allocator
        self._routes = common.routes
        self._trace = self._first_trace = number * self.cpus + self.cpu + 1
        self._trace_step = self.nodes * self.cpus
        self._services: dict[type, Any] = {}

    @property
    def firmware(self) -> Any:
        """The image that runs on the NIC processor; None if none was started."""
        return self._common.firmware

    @firmware.setter
    def firmware(self, image: Any) -> None:
        self._common.firmware = image

    def service(self, kind: type[Service]) -> Service:
        """The CPU's only instance of ``kind``, made by ``kind(node)`` when it is first
        requested."""
        found: Service | None = self._services.get(kind)
        if found is None:
            found = self._services[kind] = kind(self)  # type: ignore[call-arg]
        return found

    def shared_service(self, kind: type[Service]) -> Service:
        """The node's only instance of ``kind``, which all its CPUs share, made by ``kind()`` when
        it is first requested."""
        services = self._common.services
        if kind not in services:
            services[kind] = kind()
        found: Service = services[kind]
        return found

    def allocate(self, length: int, align: int = 64) -> int:
        """Address of ``length`` newly allocated bytes of this node's memory."""
        return self._allocator.allocate(length, align)

    def shared(self, name: str, length: int, align: int = 64) -> int:
        """Address of the ``length`` bytes that all CPUs of this node know as ``name``. The first
        that asks for them allocates them.

        Raises
        ------
        ValueError
            ``name`` has another length, or an address that is no multiple of ``align``.
        """
        segments = self._common.segments
        if name not in segments:
            segments[name] = self.allocate(length, align), length
        address, has = segments[name]
        if has != length or address % align:
            raise ValueError(f"shared memory {name!r} of node {self.number} has {has} bytes at "
                             f"{address:#x}, not {length} bytes aligned to {align}")
        return address

    def drive_nic(self, layer: str) -> None:
        """This CPU drives the node's NIC by ``layer`` from now on. Layers call this when they are
        made.

        Raises
        ------
        RuntimeError
            Another CPU does.
        """
        common = self._common
        if common.user is None:
            common.user = self.cpu, layer
        elif common.user[0] != self.cpu:
            cpu, first = common.user
            raise RuntimeError(f"{layer} on CPU {self.cpu} of node {self.number}: CPU {cpu} drives "
                               f"this NIC ({first}), and one CPU has it to itself")

    def route(self, destination: int) -> int:
        """The wire header's route field to ``destination``."""
        found = self._routes.get(destination)
        if found is None:
            found = self._routes[destination] = self.topology.route(self.number, destination)
        return found

    def trace_number(self) -> int:
        """A trace number for a packet. It is never 0, and unique over all CPUs until the numbers
        wrap around."""
        number = self._trace
        following = number + self._trace_step
        self._trace = following if not following >> TRACE_BITS else self._first_trace
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
"""A host program: a function of its node, as its CPU sees it, that returns a coroutine, which
awaits every operation that takes target time."""

Programs = Sequence[Program | Sequence[Program | None] | None]
"""Programs of a run, one entry a node: a program, which CPU 0 runs; a sequence of programs, one a
CPU, with None for a CPU without one; or None."""
