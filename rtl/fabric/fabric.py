"""The fabric: everything between the nodes' NICs."""

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...layouts.fabric import SWITCH_PIPELINE, Graph
from ...layouts.trace import Block
from ..parts.event import EventPort
from ..parts.flit import FlitStream
from ..parts.timing import Timing
from .faults import FaultInjector, seed_constant
from .link import Link
from .switch import Switch

__all__ = ["Fabric"]


class Fabric(wiring.Component):
    """Links, switches and fault injectors that join the nodes of a :class:`Graph`.

    Each node has an uplink, with a fault injector before it, and a downlink; each trunk is two
    links, one each way. Unused ports of a switch have no hardware.

    Latency: a packet's first flit, taken at edge t, is offered to a node one switch away from cycle
    t + 2 * (ceil(8 / rate) + link.latency) + switch.latency + 1 on if nothing is in its way; each
    further switch adds ceil(8 / rate) + link.latency + switch.latency + 1. Throughput and
    back-pressure: those of :class:`Link`, under credits on every link, so that only injected faults
    lose packets. A link into a switch keeps the full rate if ``buffer + 8 * SWITCH_PIPELINE`` is at
    least (2 * link.latency + switch.latency) * rate. Reset: empty.

    Parameters
    ----------
    topology : :class:`Graph`
        Switches, and where the nodes are on them.
    buffer : :class:`int`
        Receiver's buffer of each link, in bytes.
    mtu : :class:`int`
        Most bytes of a packet behind its header; the injectors can duplicate packets up to this
        size.

    Members
    -------
    up : ``In(FlitStream).array(nodes)``
        From each node; packets with CRC.
    down : ``Out(FlitStream).array(nodes)``
        To each node.
    timing : ``In(Timing)``
        Timing registers: links, switches and faults.
    now : ``In(32)``
        The cycle counter.
    idle : ``Out(1)``
        No flit and no credit is on its way.
    credit_stall : ``Out(1).array(nodes)``
        A flit waits at the node's uplink only for a credit.
    events : ``Out(EventPort).array(...)``
        The events of ``event_sources``, in that order.

    Attributes
    ----------
    event_sources : list of (:class:`int`, :class:`Block`)
        Node and block of each of ``events``: FAULT, SEND_LINK (uplink) and RECEIVE_LINK (downlink)
        with the node's number, SWITCH and TRUNK with the switch's, ``arg`` its output.

    Raises
    ------
    TypeError
        ``topology`` is no :class:`Graph`.
    ValueError
        A node or a trunk is at a port that does not exist or is in use.
    """

    def __init__(self, *, topology: Graph, buffer: int, mtu: int = 1024) -> None:
        if not isinstance(topology, Graph):
            raise TypeError(f"topology must be a Graph, not {topology!r}")
        taken = set()
        for place in [*topology.places, *(end for trunk in topology.trunks for end in trunk)]:
            switch, port = place
            if not (0 <= switch < topology.switches and 0 <= port < topology.ports):
                raise ValueError(f"topology has no port {port} on a switch {switch}")
            if place in taken:
                raise ValueError(f"topology uses port {port} of switch {switch} twice")
            taken.add(place)
        self._topology = topology
        self._used = [sorted(port for switch, port in taken if switch == number)
                      for number in range(topology.switches)]

        nodes = len(topology.places)
        self._switches = [Switch(ports=topology.ports, used=used, routing=topology.routing)
                          for used in self._used]
        self._injectors = [FaultInjector(mtu=mtu) for _ in range(nodes)]
        self._uplinks = [Link(buffer=buffer, pipeline=SWITCH_PIPELINE) for _ in range(nodes)]
        self._downlinks = [Link(buffer=buffer) for _ in range(nodes)]
        self._trunks = [(near, far, Link(buffer=buffer, pipeline=SWITCH_PIPELINE))
                        for ends in topology.trunks for near, far in (ends, ends[::-1])]

        self._sources = [
            *((node, Block.FAULT) for node in range(nodes)),
            *((node, Block.SEND_LINK) for node in range(nodes)),
            *((node, Block.RECEIVE_LINK) for node in range(nodes)),
            *((number, Block.SWITCH) for number, switch in enumerate(self._switches)
              for _ in switch.events),
            *((near[0], Block.TRUNK) for near, _, _ in self._trunks),
        ]
        super().__init__({
            "up": In(FlitStream).array(nodes),
            "down": Out(FlitStream).array(nodes),
            "timing": In(Timing),
            "now": In(32),
            "idle": Out(1),
            "credit_stall": Out(1).array(nodes),
            "events": Out(EventPort).array(len(self._sources)),
        })

    @property
    def topology(self) -> Graph:
        return self._topology

    @property
    def event_sources(self) -> list[tuple[int, Block]]:
        return list(self._sources)

    def elaborate(self, platform) -> Module:
        m = Module()
        events = []
        idles = []

        def port(place: tuple[int, int]):
            """The input and the output of a switch at ``place``."""
            number, at = place
            switch, index = self._switches[number], self._used[number].index(at)
            return switch.i[index], switch.o[index]

        def place_link(name: str, link: Link) -> None:
            m.submodules[name] = link
            m.d.comb += [link.timing.eq(self.timing), link.now.eq(self.now)]
            if link.pipeline:
                m.d.comb += link.hold.eq(self.timing.switch_latency)
            idles.append(link.idle)

        def tell(source, arg: int | None = None) -> None:
            """Join an event port to the next of ``events``."""
            target = self.events[len(events)]
            m.d.comb += [target.valid.eq(source.valid), target.kind.eq(source.kind),
                         target.number.eq(source.number),
                         target.arg.eq(source.arg if arg is None else arg)]
            events.append(source)

        for number, switch in enumerate(self._switches):
            m.submodules[f"switch_{number}"] = switch
            idles.append(switch.idle)
        for node, injector in enumerate(self._injectors):
            m.submodules[f"faults_{node}"] = injector
            m.d.comb += [injector.timing.eq(self.timing), injector.now.eq(self.now),
                         injector.draws.eq(seed_constant(node))]
            idles.append(injector.idle)
            tell(injector.event)
        for node, link in enumerate(self._uplinks):
            place_link(f"uplink_{node}", link)
            wiring.connect(m, wiring.flipped(self.up[node]), self._injectors[node].i)
            wiring.connect(m, self._injectors[node].o, link.i)
            wiring.connect(m, link.o, port(self._topology.places[node])[0])
            m.d.comb += self.credit_stall[node].eq(link.credit_stall)
            tell(link.event)
        for node, link in enumerate(self._downlinks):
            place_link(f"downlink_{node}", link)
            wiring.connect(m, port(self._topology.places[node])[1], link.i)
            wiring.connect(m, link.o, wiring.flipped(self.down[node]))
            tell(link.event)
        for switch in self._switches:
            for event in switch.events:
                tell(event)
        for near, far, link in self._trunks:
            place_link(f"trunk_{near[0]}_{far[0]}_{near[1]}", link)
            wiring.connect(m, port(near)[1], link.i)
            wiring.connect(m, link.o, port(far)[0])
            tell(link.event, near[1])

        m.d.comb += self.idle.eq(Cat(idles).all())
        return m
