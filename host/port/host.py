"""A node without its NICs: what all its CPUs share, whoever looks at it."""

from collections.abc import Container, Sequence
from itertools import chain, repeat
from typing import Any

from ...layouts.description import Description
from ...layouts.fabric import Graph
from ...layouts.packet import TRACE_BITS
from .backend import Memory
from .cpu import ALL, Cpu
from .memory import Allocator
from .port import Port
from .services import Finds, Services

__all__ = ["Host"]


class Host:
    """Node ``number`` of a run of ``description``: one object for all views of it.

    Attributes
    ----------
    memory, topology
        Its memory, and the fabric with its wire addresses.
    cpus
        Its CPUs.
    running, active
        Numbers of the ports that run a program, and of the nodes that have such a port.
    services, run_services
        Those of the node, and those of the run.
    kernel
        The node as its kernel sees it; None unless its CPUs share the NIC.
    allocator
        Its memory that is free.
    routes
        Route fields by destination, which are found once, for each wire address of the node.
    images
        By NIC, the image that runs on its processor.
    drivers
        By NIC, the CPU that drives it, and the layer by which it does.
    """

    __slots__ = ("number", "description", "memory", "topology", "cpus", "running", "active",
                 "services", "run_services", "kernel", "allocator", "routes", "images", "drivers",
                 "_segments")

    def __init__(self, number: int, description: Description, memory: Memory, topology: Graph,
                 ports: Sequence[Port], run_services: Services,
                 running: Container[int] | None = None) -> None:
        """``ports``: of its CPUs. ``running``: None for all."""
        nodes, cpus = description.fabric.nodes, description.node.cpus
        everywhere = range(nodes * cpus)
        self.number = number
        self.description = description
        self.memory = memory
        self.topology = topology
        self.cpus = [Cpu(port.cpu, port, chain.from_iterable(repeat(range(
            port.number + 1, 1 << TRACE_BITS, len(everywhere))))) for port in ports]
        self.running = everywhere if running is None else running
        self.active = tuple(sorted({port // cpus for port in everywhere if port in self.running}))
        self.services = Services()
        self.run_services = run_services
        self.kernel: Finds | None = None
        self.allocator = Allocator(memory.size)
        self.routes: dict[int, dict[int, int]] = {}
        self.images: dict[int, Any] = {}
        self.drivers: dict[int, tuple[int, str]] = {}
        self._segments: dict[str, tuple[int, int]] = {}

    def allocate(self, length: int, align: int) -> int:
        """:meth:`.Node.allocate`."""
        return self.allocator.allocate(length, max(align, self.cpus[0].port.costs.flush_bytes))

    def segment(self, name: str, length: int, align: int) -> int:
        """:meth:`.Node.shared`."""
        if name not in self._segments:
            self._segments[name] = self.allocate(length, align), length
        address, has = self._segments[name]
        if has != length or address % align:
            raise ValueError(f"shared memory {name!r} of node {self.number} has {has} bytes at "
                             f"{address:#x}, not {length} bytes aligned to {align}")
        return address

    def drive(self, nic: int, cpu: int, layer: str, place: str) -> None:
        """CPU ``cpu`` drives ``nic``, which is ``place`` in words, by ``layer`` from now on.

        Raises
        ------
        RuntimeError
            Another CPU does.
        """
        first, by = self.drivers.setdefault(nic, (cpu, layer))
        if first == ALL != cpu:
            raise RuntimeError(f"{layer} on CPU {cpu} of {place}: its CPUs share this NIC ({by})")
        if first != cpu:
            raise RuntimeError(f"{layer} on CPU {cpu} of {place}: CPU {first} drives this NIC "
                               f"({by}), and one CPU has it to itself")

    def refuse_drivers(self, place: str) -> None:
        """Refuse to share the NIC, which is ``place`` in words, if a CPU drives it.

        Raises
        ------
        RuntimeError
            One does.
        """
        for cpu, layer in self.drivers.values():
            raise RuntimeError(f"{place}: CPU {cpu} drives this NIC ({layer}), and the others are "
                               "to share it")
