"""A node with its ends of the network."""

from typing import Any

from amaranth.hdl import Cat, ClockDomain, DomainRenamer, Module, Mux, ResetSignal, Shape, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ...layouts.description import MAX_CPUS, Description
from ...layouts.fabric import SWITCH_PIPELINE
from ...layouts.processor import CRASH_WORDS
from ...layouts.trace import Block
from ..bus.memory import HostMemory
from ..cpu.mailbox import add_mailboxes, mailbox_ports
from ..cpu.port_members import PHASE_BITS
from ..fabric.faults import FaultInjector
from ..fabric.link import Link
from ..node.node import Node
from ..parts.flit import FlitStream
from ..parts.least import least
from ..parts.timing import Timing, whole_timing
from ..parts.trace_sink import TraceSink

__all__ = ["Station"]


class Station(wiring.Component):
    """A :class:`Node` with its host memory and mailboxes, and the fault injector, the uplink and
    the downlink of each of its NICs.

    The network is cut at the switch: ``up.valid``, ``up.p`` and ``down.ready`` depend on registers
    alone, and what comes in by ``up.ready`` and ``down`` changes registers, events and ``busy``. So
    the stations of a cycle are independent of each other once the switches have settled.

    An edge of ``clk`` is needed in each cycle, one of ``clk_rest`` in a cycle with ``busy`` or with
    a flit at ``down``, and in the three cycles that follow. While ``idle``, edges that only count
    time may be left out: the one that ends the pause takes its ``following`` from the environment,
    at most ``distance`` cycles on.

    Parameters
    ----------
    description : :class:`Description`
        Its structure knobs.
    cpus : :class:`int`, optional
        Host ports that are built, at least ``node.cpus``, which is the default.

    Members
    -------
    clk_rest : ``In(1)``
        Clock of all but the host ports and the cycle counter.
    following : ``In(64)``
        The cycle that the next edge begins.
    timing : ``In(whole_timing(description))``
        The timing registers. Constant outside reset.
    trace_enable, profile_enable : ``In(1)``, number : ``In(8)``, draws : ``In(32)``, one a NIC
        Whether to trace and to profile; the node's number; of each NIC what :class:`FaultInjector`
        calls ``draws``. Constant outside reset.
    up : ``Out(FlitStream)``, down : ``In(FlitStream)``, one of each a NIC
        To the switch and from it.
    cpus : ``In(4)``
        Only where more than one is built: how many host ports are in use. The others get no block,
        and nothing waits for them. Constant outside reset.
    go : ``In(ports)``, port{p}_count : ``In(3)``, port{p}_entries : ``In``,
    port{p}_answers : ``Out``
        Blocks of the host ports, as of :class:`Target`.
    leaps : ``In(ports)``, port{p}_to : ``In``; spins : ``Out(ports)``, port{p}_phase : ``Out``,
    port{p}_period : ``Out``
        Of each host port what :class:`SpinSide` has. A port that ``spins`` and may sleep through
        more than one edge gets ``leaps`` with the one that ends the pause.
    waiting : ``Out(ports)``, needs : ``Out(1)``
        Host ports that wait for a block; whether one needs its program.
    busy : ``Out(1)``, idle : ``Out(1)``, distance : ``Out(32)``
        Whether something is under way behind the host ports; whether nothing happens before a flit
        or a deadline, host ports that spin not counted; cycles until the first host port acts, all
        ones if none will.
    crashed : ``Out(1)``, crash : ``Out(32 * CRASH_WORDS)``
        As of :class:`Node`.

    Raises
    ------
    TypeError
        ``description`` is not a :class:`Description`.
    ValueError
        ``cpus`` is less than ``node.cpus``.
    """

    def __init__(self, *, description: Description, cpus: int | None = None) -> None:
        self._description = description
        self._node = Node(description=description, gated=True, cpus=cpus)
        ports = len(self._node.cpu)

        nics = description.node.nics
        super().__init__({
            "clk_rest": In(1),
            "following": In(64),
            "timing": In(whole_timing(description)),
            "trace_enable": In(1),
            "profile_enable": In(1),
            "number": In(8),
            "draws": In(32).array(nics),
            "up": Out(FlitStream).array(nics),
            "down": In(FlitStream).array(nics),
            **({"cpus": In(range(MAX_CPUS + 1))} if ports > 1 else {}),
            **mailbox_ports(ports),
            "leaps": In(ports),
            "spins": Out(ports),
            **{f"port{cpu}_{name}": flow(PHASE_BITS) for cpu in range(ports)
               for name, flow in (("to", In), ("phase", Out), ("period", Out))},
            "waiting": Out(ports),
            "needs": Out(1),
            "busy": Out(1),
            "idle": Out(1),
            "distance": Out(32),
            "crashed": Out(1),
            "crash": Out(32 * CRASH_WORDS),
        })

    @property
    def description(self) -> Description:
        """The description that it was made from."""
        return self._description

    def elaborate(self, platform: object) -> Module:
        m = Module()
        description = self._description
        m.domains.ends = domain = ClockDomain(async_reset=True, local=True)
        m.d.comb += [domain.clk.eq(self.clk_rest), domain.rst.eq(ResetSignal())]
        rest = DomainRenamer({"sync": "ends"})

        cycle = Signal(64)
        m.d.sync += cycle.eq(self.following)
        memory = HostMemory(words=description.memory.bytes // 8, kind="dpi")
        m.submodules.node = node = self._node
        m.submodules.memory = rest(memory)
        connect(m, node.memory, memory.port)
        timing = data.View(Timing, self.timing.as_value()[:Shape.cast(Timing).width])
        nics = description.node.nics
        sources: list[tuple[Any, Block, int, Any]] = []
        for number, (link, up, down, draws) in enumerate(zip(node.link, self.up, self.down,
                                                             self.draws, strict=True)):
            injector = FaultInjector(mtu=description.nic.mtu)
            uplink = Link(buffer=description.link.buffer, pipeline=SWITCH_PIPELINE)
            downlink = Link(buffer=description.link.buffer)
            address = self.number * nics + number
            m.submodules[f"faults_{number}"] = rest(injector)
            m.submodules[f"uplink_{number}"] = rest(uplink)
            m.submodules[f"downlink_{number}"] = rest(downlink)
            connect(m, link.tx, injector.i)
            connect(m, injector.o, uplink.i)
            connect(m, uplink.o, flipped(up))
            connect(m, flipped(down), downlink.i)
            connect(m, downlink.o, link.rx)
            m.d.comb += [
                injector.draws.eq(draws),
                uplink.hold.eq(timing.switch_latency),
                link.credit_stall.eq(uplink.credit_stall),
                *(part.timing.eq(timing) for part in (injector, uplink, downlink)),
                *(part.now.eq(cycle) for part in (injector, uplink, downlink)),
            ]
            sources += [(injector, Block.FAULT, number, address),
                        (uplink, Block.SEND_LINK, number, address),
                        (downlink, Block.RECEIVE_LINK, number, address)]
        m.d.comb += [
            memory.node.eq(self.number),
            node.timing.eq(self.timing),
            node.clk_rest.eq(self.clk_rest),
            node.node.eq(self.number),
            node.cpus.eq(self.cpus if len(node.cpu) > 1 else 1),
            node.cycle.eq(cycle),
            node.trace_enable.eq(self.trace_enable),
            node.profile_enable.eq(self.profile_enable),
        ]

        add_mailboxes(m, self, node.cpu)

        # All that is there of a host port without a CPU is that it waits.
        there = Signal(len(node.cpu), init=1)
        if len(node.cpu) > 1:
            m.d.comb += there.eq(Cat(self.cpus > number for number in range(len(node.cpu))))
        links_idle = Cat(part.idle for part, *_ in sources).all()
        m.d.comb += [
            self.waiting.eq(Cat(cpu.waiting for cpu in node.cpu) & there),
            self.needs.eq((Cat(cpu.needs for cpu in node.cpu) & there).any()),
            self.distance.eq(least(m, [
                Mux(cpu.spin.valid, cpu.spin.distance, cpu.distance) for cpu in node.cpu])),
            self.idle.eq(Cat(links_idle, node.idle).all() & (
                Cat(cpu.rests | cpu.spin.valid for cpu in node.cpu) | ~there).all()),
            self.busy.eq(~links_idle | node.wake
                         | Cat(part.event.valid for part, *_ in sources).any()),
            self.crashed.eq(node.crashed),
            self.crash.eq(node.crash),
        ]
        for number, cpu in enumerate(node.cpu):
            m.d.comb += [
                self.spins[number].eq(cpu.spin.valid),
                getattr(self, f"port{number}_phase").eq(cpu.spin.phase),
                getattr(self, f"port{number}_period").eq(cpu.spin.period),
                cpu.spin.leaps.eq(self.leaps[number]),
                cpu.spin.to.eq(getattr(self, f"port{number}_to")),
                cpu.spin.following.eq(self.following),
            ]
        for part, block, number, address in sources:
            sink = TraceSink(block=block)
            m.submodules[f"trace_{block.name.lower()}_{number}"] = rest(sink)
            connect(m, part.event, sink.event)
            m.d.comb += [
                sink.enable.eq(self.trace_enable),
                sink.cycle.eq(cycle),
                sink.node.eq(address),
            ]
        return m
