"""Topologies from files: what they read, and graphs that are refused."""

from pathlib import Path

import pytest
from nicbed.layouts.description import Description
from nicbed.layouts.doors import TOPOLOGIES, DoorError
from nicbed.layouts.fabric import Graph, MeshPort, Routing
from nicbed.layouts.topologies.chain import chain
from nicbed.layouts.topologies.fat_tree import fat_tree
from nicbed.layouts.topologies.mesh import mesh
from nicbed.layouts.topologies.sound import check_graph

TRIANGLE = """
places = ["0.0", "1.0", "2.0"]
trunks = ["0.1-1.2", "1.1-2.2", "2.1-0.2"]
"""
SQUARE = """
places = ["0.0", "1.0", "2.0", "3.0"]
trunks = ["0.1-1.2", "1.1-2.2", "2.1-3.2", "3.1-0.2"]
"""
ROUND = """
[routes]
"0-2" = [1, 1, 0]
"1-3" = [1, 1, 0]
"2-0" = [1, 1, 0]
"3-1" = [1, 1, 0]
"""


def loaded(folder: Path, text: str, name: str = "ring.toml"):
    (folder / name).write_text(text)
    return TOPOLOGIES.get(f"./{name}", folder)


def test_a_graph_is_read(tmp_path: Path) -> None:
    found = loaded(tmp_path, TRIANGLE + '[routes]\n"0-1" = [2, 2, 0]\n')
    graph = found.graph(Description(), 3, "fabric.nodes")
    assert found.name == "ring"
    assert graph.places == ((0, 0), (1, 0), (2, 0)) and graph.ports == 16
    assert graph.way(0, 2) == [2, 0] and graph.way(1, 0) == [2, 0]
    assert graph.way(0, 1) == [2, 2, 0]


def test_a_mesh_with_a_hole_is_read(tmp_path: Path) -> None:
    found = loaded(tmp_path, """
        routing = "displacement"
        places = ["0.4", "1.4", "2.4"]
        trunks = ["0.0-1.1", "0.2-2.3"]
        """.replace('"1.4", "2.4"', '"1.4"').replace(', "0.2-2.3"', ""))
    graph = found.graph(Description(), 2, "fabric.nodes")
    assert graph.routing is Routing.DISPLACEMENT and graph.ports == len(MeshPort)
    assert graph.way(0, 1) == [MeshPort.RIGHT, MeshPort.NODE]


@pytest.mark.parametrize("text, said", [
    ("places = [", "not TOML"),
    ('places = ["0.0"]', "two wire addresses"),
    ('places = ["0.0", "0-1"]', "must be SWITCH.PORT"),
    ('places = ["0.0", "0.0"]', "0.0: this port is used twice"),
    ('places = ["0.0", "1.0"]', "no way from node 0 to node 1"),
    ('places = ["0.0", "1.0"]\ntrunks = ["0.0-1.1"]', "0.0: this port is used twice"),
    ('places = ["0.0", "1.0"]\ntrunks = ["0.1:1.1"]', "must be SWITCH.PORT-SWITCH.PORT"),
    ('plases = ["0.0", "1.0"]', "no key is called plases"),
    (TRIANGLE + 'routes = 3', "must be a table"),
    (TRIANGLE + '[routes]\n"0-7" = [0]', "wire addresses 0 to 2"),
    (TRIANGLE + '[routes]\n"0-1" = [5, 0]', "leaves by 0.5, where there is no trunk"),
    (TRIANGLE + '[routes]\n"0-1" = [1, 3]', "ends at 1.3, not at the node"),
    (TRIANGLE + '[routes]\n"0-1" = ["1"]', "must be a list of output ports"),
    (SQUARE + ROUND, "could wait for each other in a circle of trunks: 0.1 → 1.1 → 2.1 → 3.1"),
    ('places = ["0.0", "5.0"]\n'
     'trunks = ["0.1-1.1", "1.2-2.2", "2.1-3.1", "3.2-4.2", "4.1-5.1"]', "passes 6 switches"),
    ('routing = "any"\nplaces = ["0.0", "0.1"]', "must be 'ports' or 'displacement'"),
    ('routing = "displacement"\nplaces = ["0.4", "2.4"]\ntrunks = ["0.2-1.3", "1.0-2.1"]',
     "is none of a displacement"),
])
def test_a_graph_is_refused_in_a_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises((DoorError, ValueError)) as told:
        loaded(tmp_path, text)
    assert said in str(told.value)
    assert "\n" not in str(told.value)


def test_places_and_ports_are_enough(tmp_path: Path) -> None:
    found = loaded(tmp_path, TRIANGLE)
    with pytest.raises(ValueError, match="fabric.nodes = 4: topology ring has places for 3"):
        found.graph(Description(), 4, "fabric.nodes")
    small = Description.model_validate({"switch": {"ports": 2}})
    with pytest.raises(ValueError, match="switch.ports = 2: topology ring uses port 2"):
        found.graph(small, 3, "fabric.nodes")


@pytest.mark.parametrize("graph", [chain(9, 3, 5), chain(16, 1, 16), fat_tree(24, 4, 16),
                                   mesh(12, 4, 5), mesh(16, 1, 5)])
def test_our_own_are_sound(graph: Graph) -> None:
    check_graph(graph)
