"""A node for its program: number, CPU, port, memory; and for layers on one of its NICs."""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

from ...layouts.operations import NIC_BASE
from ...layouts.registers import address as register_address
from .cpu import ALL, Cpu
from .host import Host
from .kernel_cpu import kernel_cpu
from .position import Position, nics_in_words, on_nic, whole

__all__ = ["Node", "Program", "Programs"]

Service = TypeVar("Service")


class Node:
    """Node ``number`` of ``nodes``, as its CPU ``cpu`` of ``cpus`` sees it. A host program is
    ``async def program(node)``; where a node has several CPUs each has a program, ``async def
    program(cpu)``, and a Node of its own. What one allocates or stores is there for all of them.

    A layer asks the node for what there is one of, by whose it is: the CPU's (and on one of several
    NICs, the NIC's) by :meth:`service`, the kernel's by :meth:`kernel`, the node's by
    :meth:`shared_service`, the run's by :meth:`run_service`. Whoever asks first has it made. Only
    what the target could have may carry what a program acts on; what the run has is for diagnosis.

    Layers on one of several NICs (:meth:`nic`), and the parts of a kernel that CPUs share, get
    Nodes, too: other views of the same node. On a NIC ``number`` is a wire address, ``nodes`` the
    number of wire addresses, and ``active`` has those of the layer's peers. In a shared kernel
    ``cpu`` is ALL, and ``port`` is that of the CPU which executes it.

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
    topology
        The fabric.
    interrupts
        The interrupt handlers of the layers on this CPU.
    trace_numbers
        What :meth:`trace_number` returns, one after the other.
    home
        The node's number among the nodes.
    nic_offset
        What the NIC's addresses have beyond those of NIC 0 (layouts.operations.NIC_BASE).
    host
        What all views of the node share.
    """

    __slots__ = ("number", "nodes", "cpu", "cpus", "nics", "active", "description", "port",
                 "memory", "topology", "interrupts", "trace_numbers", "home", "nic_offset", "host",
                 "_cpu", "_position", "_services", "_routes")

    def __init__(self, host: Host, cpu: Cpu, position: Position | None = None) -> None:
        """``host`` as ``cpu`` sees it at ``position``; None: as a whole."""
        self._position = position = position or whole(host)
        self.number = position.number
        self.nodes = position.nodes
        self.active = position.active
        self.home = position.home
        self.nic_offset = position.nic_offset
        self._cpu = cpu
        self.cpu = cpu.number
        self.port = cpu.port
        self.trace_numbers = cpu.trace_numbers
        self.interrupts = cpu.interrupts
        self.host = host
        self.description = host.description
        self.cpus = host.description.node.cpus
        self.nics = host.description.node.nics
        self.memory = host.memory
        self.topology = host.topology
        # On one of several NICs a layer has its own; else it shares those of the CPU.
        self._services = cpu.services if position.nics == 1 else cpu.services_on(position.nic)
        self._routes = host.routes.setdefault(position.number, {})

    @property
    def place(self) -> str:
        """The node, and with several NICs the layer's NIC, in words."""
        return self._position.place

    def address_on(self, node: int) -> int:
        """Returns what a layer here calls its peer on node ``node``: that number; on one of several
        NICs the wire address of the NIC with the same number there."""
        return self._position.address_on(node)

    def node_of(self, address: int) -> int:
        """The node of a peer that a layer here calls ``address``."""
        return self._position.node_of(address)

    def register(self, name: str) -> int:
        """Address of the NIC's register ``name``."""
        return register_address(name) + self.nic_offset

    def nic_address(self, offset: int) -> int:
        """Address of what the NIC has at ``offset``, such as a window."""
        return NIC_BASE + self.nic_offset + offset

    @property
    def programs(self) -> list[tuple[int, int]]:
        """Node and CPU of each program of the run, in their order."""
        return [divmod(port, self.cpus)
                for port in range(self.description.fabric.nodes * self.cpus)
                if port in self.host.running]

    @property
    def firmware(self) -> Any:
        """The image that runs on the NIC processor; None if none was started."""
        return self.images.get(self._position.nic)

    @firmware.setter
    def firmware(self, image: Any) -> None:
        self.images[self._position.nic] = image

    @property
    def images(self) -> dict[int, Any]:
        """The images that run on the node's NIC processors, by NIC."""
        return self.host.images

    def service(self, kind: type[Service]) -> Service:
        """The CPU's only instance of ``kind``, made by ``kind(node)`` when it is first
        requested."""
        return self._services.find(kind, lambda: kind(self))  # type: ignore[call-arg]

    def kernel(self, kind: type[Service]) -> Service:
        """The instance of ``kind``, the kernel's part of a layer, that this CPU enters: its own, or
        the node's where CPUs share the NICs. On one of several NICs it is that NIC's."""
        kernel = self.host.kernel
        if kernel is None:
            return self.service(kind)
        nic = self._position.nic if self._position.nics > 1 else None
        return (kernel if nic is None else kernel.nic(nic)).service(kind)

    def share_nic(self) -> None:
        """From now on all CPUs of the node drive its NICs together: each has its processes, and the
        kernel's part of layers is one a NIC for all of them, which one CPU executes at a time.
        Interrupts of NIC ``k`` of several still come to CPU ``k`` modulo ``node.cpus``.

        Raises
        ------
        RuntimeError
            A CPU has it to itself.
        """
        host = self.host
        if host.kernel is None:
            host.refuse_drivers(self.place)
            host.kernel = Node(host, kernel_cpu(host))

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
        return self._services.find(
            kind, lambda: self.description.design.offered_driver(self, kind))

    def shared_service(self, kind: type[Service]) -> Service:
        """The node's only instance of ``kind``, which all its CPUs share, made by ``kind()`` when
        it is first requested."""
        return self.host.services.find(kind, kind)

    def at_end(self, end: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Have ``end`` run on this CPU when its program has returned: what the kernel does for a
        layer whose process leaves something behind. The last one runs first."""
        self._cpu.ends.append(end)

    def run_service(self, kind: type[Service]) -> Service:
        """The run's only instance of ``kind``, which all nodes share, made by ``kind()`` when it is
        first requested. It is no part of the target: for diagnosis alone."""
        return self.host.run_services.find(kind, kind)

    def allocate(self, length: int, align: int = 64) -> int:
        """Address of ``length`` newly allocated bytes of this node's memory. On a bus that is not
        coherent they begin with a line, which nothing else has a part of."""
        return self.host.allocate(length, align)

    def shared(self, name: str, length: int, align: int = 64) -> int:
        """Address of the ``length`` bytes that all CPUs of this node know as ``name``. The first
        that asks for them allocates them.

        Raises
        ------
        ValueError
            ``name`` has another length, or an address that is no multiple of ``align``.
        """
        return self.host.segment(name, length, align)

    def nic(self, number: int, peers: Iterable[int] | None = None) -> "Node":
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
        return Node(self.host, self._cpu, on_nic(self.host, number, peers))

    def drive_nic(self, layer: str, interrupts: bool = False) -> None:
        """This CPU drives the node's NIC by ``layer`` from now on. Layers call this when they are
        made. ``interrupts``: the layer takes interrupts.

        Raises
        ------
        RuntimeError
            Another CPU drives it; the node has several NICs, and the layer is not on one of them;
            or the NIC interrupts another CPU, and the layer takes interrupts.
        """
        nic, nics = self._position.nic, self._position.nics
        if self.nics > nics:
            raise RuntimeError(f"{layer} on {self.place}, which has {nics_in_words(self.nics)} "
                               "(node.nics): make it on one of them, node.nic(k)")
        interrupted = nic % self.cpus
        if interrupts and nics > 1 and self.cpu not in (interrupted, ALL):
            raise RuntimeError(f"{layer} on CPU {self.cpu} of {self.place}: it takes "
                               f"interrupts, and this NIC interrupts CPU {interrupted}")
        self.host.drive(nic, self.cpu, layer, self.place)

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


Program = Callable[[Node], Coroutine[Any, Any, Any]]
"""A host program: a function of its node, as its CPU sees it, that returns a coroutine, which
awaits every operation that takes target time."""

Programs = Sequence[Program | Sequence[Program | None] | None]
"""Programs of a run, one entry a node: a program, which CPU 0 runs; a sequence of programs, one a
CPU, with None for a CPU without one; or None."""
