"""A node for its program: number, CPU, port, memory; and for layers on one of its NICs."""

from collections.abc import Callable, Container, Coroutine, Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

from ...layouts.description import Description
from ...layouts.doors import DoorError
from ...layouts.fabric import Graph
from ...layouts.operations import NIC_BASE, NIC_BYTES
from ...layouts.packet import TRACE_BITS
from ...layouts.registers import address as register_address
from ..kernel.interrupts import Interrupts
from .backend import Memory
from .memory import Allocator
from .port import Port
from .running import Running, RunningPort

__all__ = ["Explains", "KernelNode", "Node", "NodeNic", "Program", "Programs", "ToldOfEnds"]

Service = TypeVar("Service")


@runtime_checkable
class Explains(Protocol):
    """A service of the run (:meth:`Node.run_service`) that says more about why it does not end."""

    def diagnosis(self, now: int) -> list[str]:
        """Lines about what waits for whom at cycle ``now``, where the ports do not tell."""
        ...


@runtime_checkable
class ToldOfEnds(Protocol):
    """A service of the run (:meth:`Node.run_service`) that is told when a program has ended."""

    def program_ended(self, place: tuple[int, int]) -> None:
        """The program of ``place``, a node and a CPU, has. What this raises ends the run."""
        ...


ALL = -1
"""In place of a CPU's number: all CPUs of a node."""


class _Common:
    """The state that all CPUs of a node share, besides its memory."""

    __slots__ = ("allocator", "routes", "segments", "services", "firmware", "users", "cpus",
                 "kernel")

    def __init__(self, memory_bytes: int) -> None:
        self.allocator = Allocator(memory_bytes)
        self.routes: dict[int, int] = {}
        self.segments: dict[str, tuple[int, int]] = {}
        self.services: dict[type, Any] = {}
        self.firmware: dict[int, Any] = {}
        """By NIC, the image that runs on its processor."""
        self.users: dict[int, tuple[int, str]] = {}
        """By NIC, the CPU that drives it, and the layer by which it does."""
        self.cpus: list[Node] = []
        """The node as each of its CPUs sees it."""
        self.kernel: KernelNode | None = None
        """The node as the kernel sees it, if its CPUs share the NIC."""


class Node:
    """Node ``number`` of ``nodes``, as its CPU ``cpu`` of ``cpus`` sees it. A host program is
    ``async def program(node)``; where a node has several CPUs each has a program, ``async def
    program(cpu)``, and a Node of its own. What one allocates or stores is there for all of them.

    A layer asks for what there is one of by whose it is: the CPU's (on one of several NICs, that
    NIC's) by :meth:`service`; the part of a kernel by :meth:`kernel`; the node's by
    :meth:`shared_service`; the run's, which is no part of the target, by :meth:`run_service`.
    Whoever asks first has it made.

    A layer asks the node for what there is one of, by whose it is: the CPU's (and on one of several
    NICs, the NIC's) by :meth:`service`, the kernel's by :meth:`kernel`, the node's by
    :meth:`shared_service`, the run's by :meth:`run_service`. Whoever asks first makes it. Only what
    the target could have may carry what a program acts on; what the run has is for diagnosis.

    Attributes
    ----------
    number, nodes
        Number of this node, and number of nodes.
    cpu, cpus
        Number of this CPU on its node, and number of the node's CPUs.
    nics
        Number of the node's NICs. :meth:`nic` gives each of them to a layer.
    active
        Numbers of the nodes that run a program.
    description
        The NIC description of the run.
    port
        The CPU's host port, with all operations that take target time.
    memory
        Zero-time access to host memory, for set-up and inspection. Writes that the target can
        observe must use :meth:`store` instead.
    interrupts
        The interrupt handlers of the layers on this CPU.
    """

    __slots__ = ("number", "nodes", "cpu", "cpus", "nics", "active", "description", "port",
                 "memory", "topology", "interrupts", "_allocator", "trace_numbers", "_services",
                 "_nic_services", "_routes", "_common", "_running", "_everywhere")

    def __init__(self, number: int, description: Description, port: Port, memory: Memory,
                 topology: Graph, active: Sequence[int] | None = None,
                 beside: "Node | None" = None, running: Container[int] | None = None,
                 everywhere: dict[type, Any] | None = None) -> None:
        """``beside``: the same node as another of its CPUs sees it; None for the first.
        ``running``: numbers of the ports that run a program; None for all. ``everywhere``: what
        all nodes of the run share."""
        self.number = number
        self.nodes = description.fabric.nodes
        self.cpu = port.cpu
        self.cpus = description.node.cpus
        self.nics = description.node.nics
        self.active = tuple(range(self.nodes)) if active is None else tuple(active)
        self.description = description
        self.port = port
        self.memory = memory
        self.topology = topology
        self._common = common = _Common(memory.size) if beside is None else beside._common
        self._allocator = common.allocator
        self._routes = common.routes
        self.trace_numbers: Iterator[int] = chain.from_iterable(repeat(range(
            number * self.cpus + self.cpu + 1, 1 << TRACE_BITS, self.nodes * self.cpus)))
        """What :meth:`trace_number` returns, one after the other."""
        self._services: dict[type, Any] = {}
        self._nic_services: dict[int, dict[type, Any]] = {}
        self.interrupts = Interrupts()
        self._running = range(self.nodes * self.cpus) if running is None else running
        self._everywhere: dict[type, Any] = {} if everywhere is None else everywhere
        common.cpus.append(self)

    @property
    def nic_offset(self) -> int:
        """Returns what the NIC's addresses have beyond those of NIC 0
        (layouts.operations.NIC_BASE)."""
        return 0

    @property
    def place(self) -> str:
        """The node, and with several NICs the layer's NIC, in words."""
        return f"node {self.number}"

    @property
    def home(self) -> int:
        """The node's number among the nodes."""
        return self.number

    def address_on(self, node: int) -> int:
        """Returns what a layer here calls its peer on node ``node``: that number; on one of several
        NICs the wire address of the NIC with the same number there."""
        return node

    def node_of(self, address: int) -> int:
        """The node of a peer that a layer here calls ``address``."""
        return address

    def register(self, name: str) -> int:
        """Address of the NIC's register ``name``."""
        return register_address(name) + self.nic_offset

    def nic_address(self, offset: int) -> int:
        """Address of what the NIC has at ``offset``, such as a window."""
        return NIC_BASE + self.nic_offset + offset

    @property
    def programs(self) -> list[tuple[int, int]]:
        """Node and CPU of each program of the run, in their order."""
        return [divmod(port, self.cpus) for port in range(self.nodes * self.cpus)
                if port in self._running]

    @property
    def firmware(self) -> Any:
        """The image that runs on the NIC processor; None if none was started."""
        return self.images.get(0)

    @firmware.setter
    def firmware(self, image: Any) -> None:
        self.images[0] = image

    @property
    def images(self) -> dict[int, Any]:
        """The images that run on the node's NIC processors, by NIC."""
        return self._common.firmware

    def service(self, kind: type[Service]) -> Service:
        """The CPU's only instance of ``kind``, made by ``kind(node)`` when it is first
        requested."""
        found: Service | None = self._services.get(kind)
        if found is None:
            found = self._services[kind] = kind(self)  # type: ignore[call-arg]
        return found

    def kernel(self, kind: type[Service]) -> Service:
        """The instance of ``kind``, the kernel's part of a layer, that this CPU enters: its own, or
        the node's where CPUs share the NIC."""
        kernel = self._common.kernel
        return self.service(kind) if kernel is None else kernel.service(kind)

    def share_nic(self) -> None:
        """From now on all CPUs of the node drive its NIC together: each has its processes, and the
        kernel's part of layers is one for all of them, which one CPU executes at a time.

        Raises
        ------
        RuntimeError
            A CPU has it to itself.
        """
        common = self._common
        if common.kernel is None:
            for cpu, layer in common.users.values():
                raise RuntimeError(f"{self.place}: CPU {cpu} drives this NIC ({layer}), and the "
                                   "others are to share it")
            common.kernel = KernelNode(self)

    def nic_driver(self, kind: type[Service]) -> Service:
        """The driver of this NIC that is of ``kind`` (:mod:`nicbed.host.nic.kinds`), as its design
        (``nic.design``) has it. There is one of a kind.

        Raises
        ------
        RuntimeError
            The NIC has none of this kind under the run's description.
        DoorError
            The design makes something else.
        """
        found: Service | None = self._services.get(kind)
        if found is None:
            design = self.description.design
            kinds = design.offered(self.description)
            if kind not in kinds:
                raise RuntimeError(
                    f"{self.place}: NIC design {design.name} has no driver of kind "
                    f"{kind.__name__}; it has {', '.join(one.__name__ for one in kinds) or 'none'}")
            made: object = design.driver(cast(Node, self), kind)
            if not isinstance(made, kind):
                raise DoorError(f"driver() of NIC design {design.name!r} must make an object of "
                                f"{kind.__name__}, not of {type(made).__name__}")
            found = self._services[kind] = made
        return found

    def shared_service(self, kind: type[Service]) -> Service:
        """The node's only instance of ``kind``, which all its CPUs share, made by ``kind()`` when
        it is first requested."""
        services = self._common.services
        if kind not in services:
            services[kind] = kind()
        found: Service = services[kind]
        return found

    def run_service(self, kind: type[Service]) -> Service:
        """The run's only instance of ``kind``, which all nodes share, made by ``kind()`` when it is
        first requested. It is no part of the target: for diagnosis alone."""
        if kind not in self._everywhere:
            self._everywhere[kind] = kind()
        found: Service = self._everywhere[kind]
        return found

    def allocate(self, length: int, align: int = 64) -> int:
        """Address of ``length`` newly allocated bytes of this node's memory. On a bus that is not
        coherent they begin with a line, which nothing else has a part of."""
        return self._allocator.allocate(length, max(align, self.port.costs.flush_bytes))

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

    def nic(self, number: int, peers: Iterable[int] | None = None) -> "NodeNic":
        """The node as a layer on its NIC ``number`` sees it, such as ``Gam(node.nic(1))``.

        Parameters
        ----------
        peers
            Wire addresses of the NICs that have the layer, too. By default those whose CPU runs a
            program: the one that NIC ``k`` interrupts, ``k`` modulo ``node.cpus``.

        Raises
        ------
        ValueError
            There is no such NIC.
        """
        if not 0 <= number < self.nics:
            raise ValueError(f"node {self.number} has {_nics(self.nics)} (node.nics): there is no "
                             f"NIC {number}")
        addresses = self.nodes * self.nics
        if peers is None:
            found = {node * self.nics + nic for node in range(self.nodes)
                     for nic in range(self.nics)
                     if node * self.cpus + nic % self.cpus in self._running}
        else:
            found = set(peers)
            for peer in found:
                if not 0 <= peer < addresses:
                    raise ValueError(f"there is no wire address {peer}: {self.nodes} nodes with "
                                     f"{_nics(self.nics)} each have 0 to {addresses - 1}")
        return NodeNic(self, number, found)

    def drive_nic(self, layer: str, interrupts: bool = False) -> None:
        """This CPU drives the node's NIC by ``layer`` from now on. Layers call this when they are
        made. ``interrupts``: the layer takes interrupts.

        Raises
        ------
        RuntimeError
            Another CPU drives it; the node has several NICs, and the layer is not on one of them;
            or the NIC interrupts another CPU, and the layer takes interrupts.
        """
        if self.nics > 1:
            raise RuntimeError(f"{layer} on node {self.number}, which has {_nics(self.nics)} "
                               "(node.nics): make it on one of them, node.nic(k)")
        self._drive(layer, 0)

    def _drive(self, layer: str, nic: int) -> None:
        cpu, first = self._common.users.setdefault(nic, (self.cpu, layer))
        if cpu == ALL != self.cpu:
            raise RuntimeError(f"{layer} on CPU {self.cpu} of {self.place}: its CPUs share this "
                               f"NIC ({first})")
        if cpu != self.cpu:
            raise RuntimeError(f"{layer} on CPU {self.cpu} of {self.place}: CPU {cpu} drives "
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
        return next(self.trace_numbers)

    async def store(self, address: int, data: bytes) -> None:
        """The CPU writes ``data`` to memory. This takes CPU time; the data becomes visible at its
        end."""
        port = self.port
        port.work("store", -(-len(data) // 8))
        await port.touch(address, len(data), store=True)
        await port.flush()
        self.memory.write(address, data)

    async def store_blocks(self, address: int, data: bytes) -> None:
        """The CPU writes ``data``, whole lines, to memory by block stores
        (:meth:`Port.store_blocks`). This takes CPU time; the data becomes visible at its end."""
        port = self.port
        port.work("store", len(data) // self.description.cpu.line_bytes)
        await port.store_blocks(address, len(data))
        await port.flush()
        self.memory.write(address, data)

    async def load(self, address: int, length: int) -> bytes:
        """The CPU reads memory. This takes CPU time; the result is the content at its end."""
        port = self.port
        port.work("load", -(-length // 8))
        await port.touch(address, length)
        await port.flush()
        return self.memory.read(address, length)


class NodeNic(Node):
    """A node as a layer on one of its NICs sees it: ``number`` is the NIC's wire address,
    ``nodes`` the number of wire addresses, and ``active`` has those of the layer's peers. The rest
    is the node's, as the CPU sees it."""

    __slots__ = ("_node", "_nic")

    def __init__(self, node: Node, nic: int, peers: Iterable[int]) -> None:
        self._node = node
        self._nic = nic
        self.number = node.number * node.nics + nic
        self.nodes = node.nodes * node.nics
        self.cpu, self.cpus, self.nics = node.cpu, node.cpus, node.nics
        self.active = tuple(sorted({self.number, *peers}))
        self.description = node.description
        self.port = node.port
        self.memory = node.memory
        self.topology = node.topology
        self._common = node._common
        self._allocator = node._allocator
        self.interrupts = node.interrupts
        self.trace_numbers = node.trace_numbers
        self._routes = {} if node.nics > 1 else node._routes
        self._services = (node._nic_services.setdefault(nic, {}) if node.nics > 1
                          else node._services)
        self._everywhere = node._everywhere

    @property
    def place(self) -> str:
        node = f"node {self._node.number}"
        return node if self.nics == 1 else f"{node}, NIC {self._nic}"

    @property
    def home(self) -> int:
        return self._node.number

    @property
    def programs(self) -> list[tuple[int, int]]:
        return self._node.programs

    def address_on(self, node: int) -> int:
        return node * self.nics + self._nic

    def node_of(self, address: int) -> int:
        return address // self.nics

    @property
    def nic_offset(self) -> int:
        return self._nic * NIC_BYTES

    @property
    def firmware(self) -> Any:
        return self.images.get(self._nic)

    @firmware.setter
    def firmware(self, image: Any) -> None:
        self.images[self._nic] = image

    def nic(self, number: int, peers: Iterable[int] | None = None) -> "NodeNic":
        return self._node.nic(number, peers)

    def drive_nic(self, layer: str, interrupts: bool = False) -> None:
        if self.nics == 1:
            self._node.drive_nic(layer, interrupts)
            return
        interrupted = self._nic % self.cpus
        if interrupts and interrupted != self.cpu:
            raise RuntimeError(f"{layer} on CPU {self.cpu} of {self.place}: it takes "
                               f"interrupts, and this NIC interrupts CPU {interrupted}")
        self._drive(layer, self._nic)


class KernelNode(Node):
    """A node as the kernel's part of layers sees it whose CPUs share the NIC: ``port`` is that of
    the CPU which executes it, and so are trace numbers. The rest is the node's."""

    __slots__ = ()

    def __init__(self, node: Node) -> None:
        self.number, self.nodes = node.number, node.nodes
        self.cpu, self.cpus, self.nics = ALL, node.cpus, node.nics
        self.active = node.active
        self.description = node.description
        self.port = cast(Port, RunningPort(node.run_service(Running)))
        self.memory = node.memory
        self.topology = node.topology
        self._common = node._common
        self._allocator = node._allocator
        self._services = {}
        self._nic_services = {}
        self._routes = node._routes
        self.interrupts = Interrupts()
        self._running = node._running
        self._everywhere = node._everywhere
        self.trace_numbers = iter(self.trace_number, None)

    def trace_number(self) -> int:
        return self._common.cpus[self.port.cpu].trace_number()


def _nics(count: int) -> str:
    return "1 NIC" if count == 1 else f"{count} NICs"


Program = Callable[[Node], Coroutine[Any, Any, Any]]
"""A host program: a function of its node, as its CPU sees it, that returns a coroutine, which
awaits every operation that takes target time."""

Programs = Sequence[Program | Sequence[Program | None] | None]
"""Programs of a run, one entry a node: a program, which CPU 0 runs; a sequence of programs, one a
CPU, with None for a CPU without one; or None."""
