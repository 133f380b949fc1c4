"""A crossbar switch: source routes, wormhole, round-robin."""

from collections.abc import Iterable

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ...layouts.fabric import MeshPort, Routing
from ...layouts.packet import HOP_BITS
from ...layouts.trace import Kind
from ..parts.event import EventPort
from ..parts.flit import Flit, FlitStream
from ..parts.round_robin import RoundRobin
from ..parts.sizes import check_integer
from .routing import ROUTE_BITS, routes

__all__ = ["Switch"]

_MISROUTED = 2


class Switch(wiring.Component):
    """Sends packets from ``ports`` inputs to the outputs that their routes name.

    A packet's first flit names its output in the lowest hop of its route, which is shifted off as
    it passes; or, by ``routing``, as a displacement in a mesh (:mod:`.routing`). A free output is
    granted to the next requesting input (round-robin) and keeps this input until the packet's last
    flit has passed. A packet for a missing port is dropped and reported.

    Latency: none, flits pass combinationally. The latency of a switch is spent in the buffers
    before it (``Link.hold``). Throughput: a flit a cycle and output; no cycle is lost between
    packets. Back-pressure: an input's ``ready`` follows the ``ready`` of its output. Reset: all
    outputs free, input 0 first in turn.

    Events: BEGIN in the cycle in which a packet's first flit passes, END in that of its last,
    ``arg`` is the output port. DROP with ``arg`` 2 in the cycle in which the first flit of a
    misrouted packet is swallowed. Packets have two flits or more.

    Parameters
    ----------
    ports : :class:`int`
        Ports of the switch, 2 to 16.
    used : iterable of :class:`int`
        The ports that have hardware, ascending; all by default.
    masked : :class:`bool`
        With ``joined``, which says at run time what of that leads somewhere.
    routing : :class:`Routing`
        What routes hold.

    Members
    -------
    i : ``In(FlitStream).array(len(used))``
        Input of each port in ``used``.
    o : ``Out(FlitStream).array(len(used))``
        Output of each port in ``used``.
    joined : ``In(len(used))``
        Only if ``masked``: a packet for a port whose bit is 0 is misrouted. Constant.
    idle : ``Out(1)``
        No packet is passing.
    events : ``Out(EventPort).array(len(used) + 1)``
        One for each output, then one for misrouted packets.

    Raises
    ------
    TypeError
        A parameter is of a wrong kind.
    ValueError
        ``ports`` is not 2 to 16, or not 5 in a mesh; ``used`` is empty, not ascending or has a
        missing port.
    """

    def __init__(self, *, ports: int, used: Iterable[int] | None = None,
                 masked: bool = False, routing: Routing = Routing.PORTS) -> None:
        check_integer("ports", ports)
        if not 2 <= ports <= 1 << HOP_BITS:
            raise ValueError(f"ports must be 2 to {1 << HOP_BITS}, not {ports}")
        if not isinstance(routing, Routing):
            raise TypeError(f"routing must be a Routing, not {routing!r}")
        if routing is Routing.DISPLACEMENT and ports != len(MeshPort):
            raise ValueError(f"ports must be {len(MeshPort)} in a mesh, not {ports}")
        chosen = tuple(range(ports)) if used is None else tuple(used)
        if not all(isinstance(port, int) and not isinstance(port, bool) for port in chosen):
            raise TypeError(f"used must be port numbers, not {chosen!r}")
        if not chosen or list(chosen) != sorted(set(chosen)):
            raise ValueError(f"used must be one or more port numbers, ascending, not {chosen}")
        if chosen[0] < 0 or chosen[-1] >= ports:
            raise ValueError(f"used must be ports 0 to {ports - 1}, not {chosen}")
        self._ports = ports
        self._used = chosen
        self._masked = masked
        self._routing = routing
        count = len(chosen)
        super().__init__({
            "i": In(FlitStream).array(count),
            "o": Out(FlitStream).array(count),
            "idle": Out(1),
            "events": Out(EventPort).array(count + 1),
            **({"joined": In(count)} if masked else {}),
        })

    @property
    def ports(self) -> int:
        return self._ports

    @property
    def used(self) -> tuple[int, ...]:
        return self._used

    @property
    def routing(self) -> Routing:
        return self._routing

    def elaborate(self, platform) -> Module:
        m = Module()
        count = len(self._used)

        # The inputs' requests as one vector for each property: an output compares all of them at
        # once.
        valids = Signal(count)
        heads = Signal(count)
        way = routes(self._routing, [i.p.data for i in self.i])
        m.d.comb += [
            valids.eq(Cat(i.valid for i in self.i)),
            heads.eq(Cat(i.valid & i.p.first for i in self.i)),
            *way.reads,
        ]
        wanted = []
        for number, port in enumerate(self._used):
            wants = Signal(count, name=f"wants_{port}")
            match = way.to(port, heads)
            if self._masked:
                match &= self.joined[number].replicate(count)
            m.d.comb += wants.eq(match)
            wanted.append(wants)
        nowhere = Signal(count)
        anywhere = Const(0, count)
        for wants in wanted:
            anywhere |= wants
        m.d.comb += nowhere.eq(heads & ~anywhere)

        taken = Const(0, count)
        passing = Const(0, 1)
        for n, wants in enumerate([*wanted, nowhere]):
            drain = n == count
            name = "drain" if drain else f"output_{self._used[n]}"
            m.submodules[f"arbiter_{name}"] = arbiter = RoundRobin(count=count)
            busy = Signal(name=f"{name}_busy")
            owner = Signal(count, name=f"{name}_owner")
            owner_index = Signal(ceil_log2(count), name=f"{name}_owner_index")
            grant = Signal(count, name=f"{name}_grant")
            index = Signal(ceil_log2(count), name=f"{name}_index")
            flit = Signal(Flit, name=f"{name}_flit")
            valid = Signal(name=f"{name}_valid")
            ready = Signal(name=f"{name}_ready")
            m.d.comb += [
                arbiter.requests.eq(wants),
                arbiter.advance.eq(~busy),
                grant.eq(Mux(busy, owner, arbiter.grant)),
                index.eq(Mux(busy, owner_index, arbiter.index)),
                valid.eq((grant & valids).any()),
                flit.eq(self.i[0].p),
            ]
            with m.Switch(index):
                for k in range(1, count):
                    with m.Case(k):
                        m.d.comb += flit.eq(self.i[k].p)

            # The winner stays even if it cannot move yet, because an output's payload must hold.
            with m.If(valid):
                m.d.sync += busy.eq(~(ready & flit.last))
            with m.If(~busy):
                m.d.sync += [owner.eq(arbiter.grant), owner_index.eq(arbiter.index)]

            event = self.events[n]
            m.d.comb += event.number.eq(flit.trace)
            if drain:
                m.d.comb += [
                    ready.eq(1),
                    event.valid.eq(valid & flit.first),
                    event.kind.eq(Kind.DROP),
                    event.arg.eq(_MISROUTED),
                ]
            else:
                o = self.o[n]
                m.d.comb += [
                    o.valid.eq(valid),
                    o.p.eq(flit),
                    ready.eq(o.ready),
                    event.valid.eq(valid & ready & (flit.first | flit.last)),
                    event.kind.eq(Mux(flit.first, Kind.BEGIN, Kind.END)),
                    event.arg.eq(self._used[n]),
                ]
                with m.If(flit.first):
                    m.d.comb += o.p.data[:ROUTE_BITS].eq(way.rest(self._used[n], flit.data))
            taken |= Mux(ready, grant, 0)
            passing |= busy

        ready_inputs = Signal(count)
        m.d.comb += [ready_inputs.eq(taken), self.idle.eq(~passing)]
        for k, i in enumerate(self.i):
            m.d.comb += i.ready.eq(ready_inputs[k])
        return m
