"""Declarations: words, routes, descriptions, timing registers."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nicbed.layouts.bits import Field, Word
from nicbed.layouts.description import Description, Kind, knobs
from nicbed.layouts.fabric import Graph
from nicbed.layouts.operations import ANSWER, ANSWER_WORDS, ENTRY, ENTRY_WORDS
from nicbed.layouts.packet import HEADER, encode_displacement
from nicbed.layouts.rate import fixed_point
from nicbed.layouts.registers import RECEIVE_WINDOW, REGISTERS, SEND_WINDOW
from nicbed.layouts.timing import TIMING_REGISTERS, timing_values
from nicbed.layouts.topologies.chain import chain
from nicbed.layouts.topologies.fat_tree import fat_tree
from nicbed.layouts.topologies.mesh import mesh
from pydantic import ValidationError

from tests.models.routes import step


@given(st.fixed_dictionaries({field.name: st.integers(0, (1 << field.width) - 1)
                              for field in HEADER.fields}))
def test_word_round_trip(values: dict[str, int]) -> None:
    word = HEADER.pack(**values)
    assert HEADER.unpack(word) == values
    assert all(HEADER.get(word, name) == value for name, value in values.items())


def test_word_refuses() -> None:
    word = Word("w", Field("a", 3), width=8)
    with pytest.raises(ValueError, match=r"w\.a = 8: must be 0 to 7"):
        word.pack(a=8)
    with pytest.raises(ValueError, match="no field 'b'"):
        word.pack(b=0)
    with pytest.raises(ValueError, match="9 bits of fields"):
        Word("w", Field("a", 9), width=8)


def test_structs_have_the_declared_size() -> None:
    assert ENTRY.size == 4 * ENTRY_WORDS
    assert ANSWER.size == 4 * ANSWER_WORDS


def test_registers_do_not_reach_the_windows() -> None:
    assert len({register.name for register in REGISTERS}) == len(REGISTERS)
    assert max(register.offset for register in REGISTERS) < SEND_WINDOW < RECEIVE_WINDOW
    assert all(register.offset % 8 == 0 and register.doc for register in REGISTERS)


@pytest.mark.parametrize(("topology", "nodes"), [
    (chain(2, 1, 2), 2), (chain(16, 1, 16), 16), (chain(14, 2, 8), 14), (chain(9, 3, 5), 9),
    (chain(5, 4, 4), 5), (fat_tree(64, 4, 16), 64), (fat_tree(7, 2, 4), 7), (fat_tree(2, 1, 2), 2),
    (fat_tree(5, 8, 16), 5), (mesh(6, 3, 8), 6), (mesh(6, 2, 5), 6), (mesh(4, 4, 5), 4),
    (mesh(3, 1, 5), 3), (mesh(16, 4, 5), 16), (mesh(64, 8, 5), 64), (mesh(32, 1, 5), 32)])
def test_routes_arrive(topology: Graph, nodes: int) -> None:
    joined = {a: b for one, two in topology.trunks for a, b in ((one, two), (two, one))}
    assert len(set(topology.places)) == nodes
    for source in range(nodes):
        for destination in range(nodes):
            route = topology.route(source, destination)
            switch = topology.places[source][0]
            for _ in range(topology.switches):
                port, route = step(route, topology.routing)
                if (switch, port) not in joined:
                    break
                switch = joined[switch, port][0]
            assert (switch, port) == topology.places[destination] and route == 0


def test_how_far_a_route_leads_in_a_mesh() -> None:
    assert encode_displacement(-128, 127) == 0x7F80 and encode_displacement(127, -1) == 0xFF7F
    for wrong in ((128, 0), (0, -129)):
        with pytest.raises(ValueError, match=r"-128 to 127 switches along a row or column, not "
                                             f"{wrong[0]} and {wrong[1]}"):
            encode_displacement(*wrong)


def test_a_mesh_goes_along_the_row_first() -> None:
    """Else packets could wait for each other in a circle."""
    graph = mesh(6, 3, 8)
    for source in range(6):
        for destination in range(6):
            ports = graph.way(source, destination)[:-1]
            assert ports == sorted(ports, key=lambda port: port >= 2)


def test_a_fat_tree_spreads_by_destination() -> None:
    graph = fat_tree(24, 4, 16)
    for source in range(12):
        roots = [graph.way(source, destination)[0] - 12 for destination in range(12, 24)]
        assert roots == [destination % 4 for destination in range(12, 24)]


def test_a_route_longer_than_the_header_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 4 hops"):
        chain(10, 5, 4).route(0, 9)


@pytest.mark.parametrize(("change", "message"), [
    ({"nic": {"send_fifo": 512}}, r"nic.send_fifo = 512: must hold one packet of 1052 bytes"),
    ({"nic": {"receive_fifo": 3000}}, r"nic.receive_fifo = 3000: must be a power of two"),
    ({"fabric": {"nodes": 65}}, "less than or equal to 64"),
    ({"fabric": {"nodes": 64}}, "fabric.nodes = 64: 1 switch .* switch.ports = 64 would be enough, "
                                "or fabric.topology = 'fat_tree'"),
    ({"fabric": {"nodes": 7, "topology": "mesh"}}, "a mesh of 2 columns .* is no rectangle"),
    ({"fabric": {"nodes": 4, "topology": "mesh"}, "switch": {"ports": 4}},
     "switch.ports = 4: must be at least 5"),
    ({"fabric": {"nodes": 64, "topology": "fat_tree", "uplinks": 4}, "switch": {"ports": 8}},
     "fabric.nodes = 64: 16 leaves with 4 nodes each, but a root has 8 ports"),
    ({"fabric": {"topology": "fat_tree", "uplinks": 8}, "switch": {"ports": 8}},
     "fabric.uplinks = 8: a leaf of 8 ports .* has none left for nodes"),
    ({"fabric": {"nodes": 15, "switches": 2}, "switch": {"ports": 8}}, "room for 14 nodes"),
    ({"fabric": {"nodes": 3}, "switch": {"ports": 2}}, "fabric.nodes = 3"),
    ({"memory": {"bytes_per_cycle": "17/2"}},
     "memory.bytes_per_cycle = 17/2: must be at most memory.width = 8, a beat a cycle"),
    ({"bus": {"coherent": False}, "node": {"cpus": 2}},
     "node.cpus = 2: must be 1 where bus.coherent = false"),
    ({"bus": {"coherent": False}, "nic": {"attachment": "memory_bus"}},
     "nic.attachment = memory_bus: must be io_bus or local_bus where bus.coherent = false"),
    ({"bus": {"coherent": False}, "node": {"nics": 2}}, "node.nics = 2: must be 1 where bus.coh"),
    ({"bus": {"coherent": False}, "cpu": {"copy_by": "block"}},
     "cpu.copy_by = block: must be cache where bus.coherent = false"),
    ({"memory": {"width": 24}}, "memory.width = 24: must be a power of two"),
    ({"memory": {"width": 16}, "nic": {"attachment": "memory_bus"}},
     "memory.width = 16: must be 8 where nic.attachment = 'memory_bus'"),
    ({"node": {"cpus": 9}}, "less than or equal to 8"),
    ({"node": {"cpus": 8}, "fabric": {"nodes": 9}},
     r"fabric.nodes \* node.cpus = 72: must be at most 64, the host ports of a target"),
    ({"node": {"nics": 5}}, "less than or equal to 4"),
    ({"node": {"nics": 4}, "fabric": {"nodes": 17}},
     r"fabric.nodes \* node.nics = 68: must be at most 64, the wire addresses of a fabric"),
    ({"node": {"nics": 3}, "fabric": {"nodes": 6}},
     r"fabric.nodes \* node.nics = 18: 1 switch .* switch.ports = 18 would be enough, or fabric"),
    ({"node": {"nics": 3}, "fabric": {"nodes": 3, "topology": "mesh"}},
     r"fabric.nodes \* node.nics = 9: a mesh of 2 columns .* is no rectangle"),
    ({"node": {"nics": 2, "cpus": 2}, "am": {"message_processor": "cpu"}},
     "node.nics = 2: must be 1 where am.message_processor = 'cpu', which drives one NIC"),
    ({"cpu": {"line_bytes": 64}, "nic": {"attachment": "memory_bus"}},
     "cpu.line_bytes = 64: must be 32 where nic.attachment = 'memory_bus'"),
    ({"cpu": {"cas_place": "cache"}, "nic": {"attachment": "memory_bus"}},
     "cpu.cas_place = cache: must be memory where nic.attachment = 'memory_bus'"),
    ({"cpu": {"copy_by": "block"}, "nic": {"attachment": "memory_bus"}},
     "cpu.copy_by = block: must be cache where nic.attachment = 'memory_bus'"),
    ({"cpu": {"line_bytes": 48}}, "cpu.line_bytes = 48: must be a power of two"),
    ({"cpu": {"line_bytes": 64, "cache_lines": 32768}},
     r"cpu.cache_lines \* cpu.line_bytes = 2097152: must be at most 1 MB"),
    ({"cpu": {"l2_lines": 768}}, "cpu.l2_lines = 768: must be a power of two"),
    ({"cpu": {"l2_lines": 512}},
     "cpu.l2_lines = 512: must be more than cpu.cache_lines = 512, or 0 for one level"),
    ({"cpu": {"l2_lines": 32768, "line_bytes": 64}},
     r"cpu.l2_lines \* cpu.line_bytes = 2097152: must be at most 1 MB"),
    ({"cpu": {"l2_hit": 9}}, r"cpu.l2_hit = 9: needs a second level \(cpu.l2_lines\)"),
    ({"cpu": {"l2_lines": 1024, "l2_hit": 1}}, "greater than or equal to 2"),
    ({"bus": {"pio_width": 6}}, "bus.pio_width = 6: must be a power of two"),
    ({"bus": {"pio_width": 16}}, "less than or equal to 8"),
    ({"am": {"reply_window": 75}}, "must be larger than am.request_window"),
    ({"link": {"bytes_per_cycle": "160/0"}}, "a number or a fraction"),
    ({"link": {"bytes_per_cycle": True}}, "a number or a fraction"),
    ({"link": {"latency": 4.5}}, "valid integer"),
    ({"link": {"speed": 1}}, "Extra inputs"),
    ({"nic": {"overflow": "lose"}}, "pattern"),
    ({"memory": {"bytes": 100000}}, "power of two"),
])
def test_descriptions_that_cannot_work_are_refused(change: dict, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Description.model_validate(change)


def test_description_survives_json() -> None:
    description = Description.model_validate({"link": {"bytes_per_cycle": "160/33"}})
    again = Description.model_validate_json(description.model_dump_json())
    assert again == description
    assert again.link.bytes_per_cycle == Fraction(160, 33)


def test_every_knob_tells_what_it_is() -> None:
    for knob in knobs():
        assert knob.doc and knob.bounds and isinstance(knob.kind, Kind)


def test_timing_registers_hold_every_value_in_range() -> None:
    for register, value in zip(TIMING_REGISTERS, timing_values(Description()), strict=True):
        assert 0 <= value < 1 << register.width <= 1 << 32
    top = {knob.name: knob.bounds.split(" to ")[-1] for knob in knobs() if knob.kind is Kind.TIMING}
    for register in TIMING_REGISTERS:
        if register.name not in ("nic.overflow", "memory.bytes_per_cycle"):
            kind = type(next(k.default for k in knobs() if k.name == register.name))
            assert register.encode(kind(top[register.name])) < 1 << register.width


@pytest.mark.parametrize(("width", "rate"), [(8, 8), (16, 16), (32, 32), (32, "132/5"), (32, 1)])
def test_the_memory_s_register_counts_beats_of_its_width(width: int, rate: int | str) -> None:
    """A beat of 8 bytes a cycle is the most, however wide it is."""
    description = Description.model_validate({"memory": {"width": width, "bytes_per_cycle": rate}})
    [value] = [value for register, value in zip(TIMING_REGISTERS, timing_values(description),
                                                strict=True)
               if register.name == "memory.bytes_per_cycle"]
    assert value == fixed_point(Fraction(rate) * 8 / width) <= 8 << 16


def test_fixed_point_rounds_to_nearest() -> None:
    assert fixed_point(Fraction(2)) == 2 << 16
    assert abs(Fraction(fixed_point(Fraction(160, 33)), 1 << 16) - Fraction(160, 33)) <= \
        Fraction(1, 1 << 17)
