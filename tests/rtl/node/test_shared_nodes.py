"""Two nodes on one copy of the logic against two plain ones, whenever the target takes a step."""

import random
from collections.abc import Iterable
from typing import Any

import pytest
from amaranth.hdl import (
    Cat,
    ClockDomain,
    DomainRenamer,
    EnableInserter,
    Fragment,
    Instance,
    Module,
    Signal,
    Value,
    signed,
)
from amaranth.hdl._ir import PortDirection, build_netlist
from amaranth.hdl._nir import Instance as Cell
from amaranth.hdl._nir import Net, Netlist
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.sim import Simulator
from nicbed.layouts.board import IDENTITY_WORDS
from nicbed.layouts.description import Description
from nicbed.rtl import machine
from nicbed.rtl.boards.core import BoardCore
from nicbed.rtl.boards.harness import Harness
from nicbed.rtl.boards.turns import Turns
from nicbed.rtl.bus.memory import MemoryPort
from nicbed.rtl.fabric.fabric import Fabric
from nicbed.rtl.node.node import HostSide, Node
from nicbed.rtl.node.shared_nodes import SharedNodes, Turn
from nicbed.rtl.parts.flit import FlitStream
from nicbed.rtl.parts.trace_sink import TracePort
from nicbed.testbench.descriptions.load import for_layer, load
from nicbed.testbench.simulators import verilog

from tests.labs.rows import more

AT_AN_EDGE = ("memory", "trace")
"""Members that nobody looks at before the edge that ends the cycle."""


class Toy(Node):
    """Ports of a node's kinds, with registers behind them and with ``memories`` one of these."""

    def __init__(self, memories: bool) -> None:
        self._memories = memories
        wiring.Component.__init__(self, {
            "cpu": In(HostSide).array(1),
            "memory": Out(MemoryPort(16)),
            "tx": Out(FlitStream),
            "rx": In(FlitStream),
            "node": In(8),
            "balance": Out(signed(6)),
            "idle": Out(1),
            "trace": Out(TracePort).array(2),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        told = ports(self, In)
        state, kept = Signal(40, init=3), Signal(24, reset_less=True)
        shown = Cat(state, kept)
        if self._memories:
            m.submodules.ram = ram = memory.Memory(shape=12, depth=16, init=range(7, 23))
            write, read = ram.write_port(), ram.read_port()
            m.d.comb += [write.en.eq(state[3]), write.addr.eq(state[4:]), write.data.eq(kept),
                         read.en.eq(state[5] ^ self.node[0]), read.addr.eq(kept)]
            shown = Cat(state, read.data, kept)
        m.d.sync += state.eq(state * 5 + shown[7:] + sum(
            value * (2 * n + 1) for n, value in enumerate(told)))
        with m.If(state[9]):
            m.d.sync += kept.eq(kept + self.rx.payload.as_value() + shown[11:])
        at_once = self.rx.payload.as_value() ^ self.cpu[0].entry.as_value() ^ self.node
        for number, value in enumerate(ports(self, Out)):
            m.d.comb += value.eq((shown >> number) ^ at_once[number:])
        return m


def ports(node: Any, flow: Any, besides: Iterable[str] = ()) -> list[Value]:
    """What goes ``flow`` of a node, but for the members ``besides``."""
    return [Value.cast(value) for path, member, value in node.signature.flatten(node)
            if member.flow == flow and path[0] not in besides]


@pytest.mark.parametrize("often", [1.0, 0.5, 0.1])
@pytest.mark.parametrize("memories", [False, True])
def test_two_nodes_are_two_nodes(often: float, memories: bool) -> None:
    """At each edge of the target, and but for memory and trace where a step is decided on. With
    resets where there is no memory: Amaranth's simulator resets what was read."""
    m = Module()
    m.domains.sync = ClockDomain()
    m.domains.banks = banks = ClockDomain()
    turn, reset = Turn(), Signal()
    m.d.comb += banks.rst.eq(reset)
    m.submodules.turns = turns = Turns(turn=turn)
    m.submodules.shared = shared = SharedNodes(node=Toy(memories), turn=turn)
    plain = [Toy(memories) for _ in range(2)]
    m.submodules += [DomainRenamer("banks")(EnableInserter(turns.last)(one)) for one in plain]
    free = Signal()
    told = []
    seen: dict[bool, list[Signal]] = {True: [], False: []}      # at an edge, or not
    for number, one in enumerate(plain):
        for node in (one, shared.node[number]):
            inputs = Cat(value for value in ports(node, In) if value is not node.tx.ready)
            if node is one:
                told.append(Signal(len(inputs), name=f"told_{number}"))
            for last, signals in seen.items():
                shows = Cat(ports(node, Out, () if last else AT_AN_EDGE))
                signals.append(Signal(len(shows)))
                m.d.comb += signals[-1].eq(shows)
            m.d.comb += [
                inputs.eq(told[number]),
                # As with a link, whether something is taken depends on what it is.
                node.tx.ready.eq(free & (node.tx.valid ^ node.tx.payload.as_value().xor())),
            ]
    rng = random.Random(f"{often} {memories}")
    edges: list[tuple[int, int]] = []

    async def owner(sim: Any) -> None:
        decided = shown = 0
        for _ in range(1000):
            await sim.delay(1e-7)
            last, look, at_reset = (sim.get(one) for one in (turns.last, turns.look, reset))
            if last or (shown and not at_reset):
                shows = [sim.get(signal) for signal in seen[bool(last)]]
                assert shows[0] == shows[1] and shows[2] == shows[3]
                decided += not last
                if last and not at_reset:
                    edges.append((shows[0], shows[2]))
            shown = sim.get(turn.keep)
            await sim.tick()
            if look:
                sim.set(turns.step, rng.random() < often)
                sim.set(reset, not memories and rng.random() < 0.03)
                sim.set(free, rng.randrange(2))
                for signal in told:
                    sim.set(signal, rng.getrandbits(len(signal)))
        assert decided > 180

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_clock(1e-6, domain="banks")
    simulator.add_testbench(owner)
    simulator.run()
    assert len(edges) > 220 * often and all(one != other for one, other in edges)
    assert len({*edges}) == len(edges)


@pytest.mark.parametrize("arguments, text", [
    ({"node": None}, "a Node is needed, not None"),
    ({"node": wiring.Component({"tx": Out(1)})}, "a Node is needed, not .*Component"),
    ({"turn": 3}, "a Turn is needed, not 3"),
    ({"turn": Turn}, "a Turn is needed, not <class"),
])
def test_wrong_kinds(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(TypeError, match=f"^{text}"):
        SharedNodes(**{"node": Toy(False), "turn": Turn()} | arguments)


def black_box(node: Node, platform: object) -> Module:
    m = Module()
    m.submodules.box = Instance("node", **{
        ("i_" if member.flow == In else "o_") + "__".join(map(str, path)): value
        for path, member, value in node.signature.flatten(node)})
    return m


def netlist(component: wiring.Component) -> Netlist:
    directed = {name: (value, PortDirection.Input if is_input else PortDirection.Output)
                for name, (value, is_input) in verilog.ports(component).items()}
    return build_netlist(Fragment.get(component, None), ports=directed)


def causes(design: Netlist, nets: Iterable[Net]) -> set[Net]:
    """What ``nets`` depend on in the same cycle; not through instances."""
    found: set[Net] = set()
    left = list(nets)
    while left:
        net = left.pop()
        if net not in found and not net.is_const:
            found.add(net)
            left += [one for one, _ in design.cells[net.cell].comb_edges_to(net.bit)]
    return found


def outputs(design: Netlist, cell: int, named: Any) -> dict[Net, str]:
    return {Net.from_cell(cell, bit): name for name, (start, width) in named.items()
            for bit in range(start, start + width)}


Port = tuple[int, str]


def paths(core: BoardCore) -> set[tuple[Port, Port]]:
    """From which node's outputs there is a way, within a cycle, to which node's inputs."""
    design = netlist(core)
    boxes = [number for number, cell in enumerate(design.cells) if isinstance(cell, Cell)]
    nodes = [design.cells[box] for box in boxes]
    assert [node.type for node in nodes] == 2 * ["node"]
    said: dict[Net, Port] = {}
    for number, (box, node) in enumerate(zip(boxes, nodes, strict=True)):
        said |= {net: (number, name) for net, name in outputs(design, box, node.ports_o).items()}
    return {(said[net], (number, name)) for number, node in enumerate(nodes)
            for name, value in node.ports_i.items() for net in causes(design, value) & said.keys()}


def board_core(description: Description, **arguments: Any) -> BoardCore:
    return BoardCore(description=description, divisor=2, identity=bytes(4 * IDENTITY_WORDS),
                     frames=64, **arguments)


@pytest.mark.parametrize("nic, layer, changes", [
    ("board-via", "via", ()), more("default", "am", ()),
    more("default", "am", ("fabric.switches=2",)), more("default", "via", ("link.buffer=64",)),
])
def test_no_combinational_path_between_nodes(
        nic: str, layer: str, changes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """What SharedNodes rests upon."""
    monkeypatch.setattr(Node, "elaborate", black_box)
    found = paths(board_core(for_layer(load(nic, changes), layer)))
    assert {one for (one, _), (other, _) in found if one != other} == set()
    # A flit that a link does not take is one that its node says in that cycle.
    assert ((0, "link__0__tx__valid"), (0, "link__0__tx__ready")) in found


class Wires(Fabric):
    """No links: what a node sends the other one gets in the same cycle."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for up, down in zip(self.up, reversed(list(self.down)), strict=True):
            connect(m, flipped(up), flipped(down))
        return m


def test_a_path_between_two_nodes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Node, "elaborate", black_box)
    monkeypatch.setattr(machine, "Fabric", Wires)
    assert paths(board_core(load("board-via"))) == {
        ((number, f"link__0__{one}"), (1 - number, f"link__0__{other}")) for number in range(2)
        for one, other in (("tx__payload", "rx__payload"), ("tx__valid", "rx__valid"),
                           ("rx__ready", "tx__ready"))}


def test_no_combinational_path_from_memory_or_trace() -> None:
    """A board decides on a step without them: in node 0's turn those of node 1 mean nothing."""
    harness = Harness(nodes=2, words=1 << 18, sources=3, identity=bytes(4 * IDENTITY_WORDS),
                      frames=64)
    design = netlist(harness)
    told = outputs(design, 0, design.top.ports_i)
    found = {(told[net], name) for name, value in design.top.ports_o.items()
             for net in causes(design, value) & told.keys()}
    assert {one for one in found if one[0].split("__")[0] in AT_AN_EDGE} == set()
    assert ("stall", "step") in found


@pytest.mark.parametrize("shared", [False, True])
def test_a_board_tells(shared: bool) -> None:
    assert board_core(load("board-via"), shared=shared).shared is shared
    assert not board_core(load("board-via")).shared
