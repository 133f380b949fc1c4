"""A topology out of a file: switches, places, trunks and routes as ports, in TOML."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..doors import Topology
from ..errors import nearest
from ..fabric import Graph, MeshPort, Routing
from .sound import check_graph

if TYPE_CHECKING:
    from ..description import Description

__all__ = ["GraphFile", "read"]

_KEYS = {"name", "title", "places", "trunks", "routes", "routing"}
_PLACE = re.compile(r"(\d+)\.(\d+)")
_TRUNK = re.compile(r"(\d+\.\d+)-(\d+\.\d+)")
_PAIR = re.compile(r"(\d+)-(\d+)")


class GraphFile(Topology):
    """A graph from a file.

    ``places`` says where each wire address is, in their order: ``"0.3"`` is port 3 of switch 0.
    ``trunks`` joins ports by a link each way: ``"0.7-1.0"``. ``routes``, a table, gives a way that
    is not the shortest one of the lowest ports: ``"0-5" = [7, 6, 1]`` are the output ports from
    address 0 to 5. With ``routing = "displacement"`` packets know how many switches they are from
    their end along a row and a column, so that a way may be of more than 4 switches; ports are then
    those of a mesh: 0 right, 1 left, 2 down, 3 up, 4 the node.

    Raises
    ------
    ValueError
        A value is of another form, or the graph is not sound (:func:`check_graph`).
    """

    def __init__(self, name: str, content: Mapping[str, Any]) -> None:
        for key in content:
            if key not in _KEYS:
                raise ValueError(f"{key}: no key is called {key}{nearest(key, sorted(_KEYS))}")
        self.name = _text(content, "name", name)
        self.title = _text(content, "title", "a graph of switches, from a file")
        places = tuple(_place(text) for text in _texts(content, "places"))
        trunks = tuple(_trunk(text) for text in _texts(content, "trunks"))
        if len(places) < 2:
            raise ValueError("places: must have two wire addresses or more, such as "
                             "[\"0.0\", \"0.1\"]")
        ends = [*places, *(end for trunk in trunks for end in trunk)]
        self._graph = Graph(1 + max(switch for switch, _ in ends),
                            1 + max(port for _, port in ends), places, trunks,
                            routing=_routing(content), ways=_ways(content, len(places)))
        check_graph(self._graph)

    def graph(self, description: "Description", addresses: int, what: str) -> Graph:
        whole, ports = self._graph, description.switch.ports
        if addresses > len(whole.places):
            raise ValueError(f"{what} = {addresses}: topology {self.name} has places for "
                             f"{len(whole.places)}")
        if whole.ports > ports:
            raise ValueError(f"switch.ports = {ports}: topology {self.name} uses port "
                             f"{whole.ports - 1}")
        if whole.routing is Routing.DISPLACEMENT:
            ports = len(MeshPort)
        return Graph(whole.switches, ports, whole.places[:addresses], whole.trunks,
                     routing=whole.routing, ways=whole.ways)


def read(path: Path) -> GraphFile:
    """The topology in the file at ``path``, called as the file is if it does not say.

    Raises
    ------
    ValueError
        It is no TOML, or no graph.
    """
    try:
        return GraphFile(path.stem.replace("-", "_"), tomllib.loads(path.read_text("utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"not TOML: {error}") from None


def _text(content: Mapping[str, Any], key: str, default: str) -> str:
    value = content.get(key, default)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{key} = {value!r}: must be a text")
    return value


def _texts(content: Mapping[str, Any], key: str) -> list[str]:
    value = content.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"{key} = {value!r}: must be a list of texts")
    return value


def _place(text: str) -> tuple[int, int]:
    if not (found := _PLACE.fullmatch(text)):
        raise ValueError(f"{text!r}: must be SWITCH.PORT, such as \"0.3\"")
    return int(found[1]), int(found[2])


def _trunk(text: str) -> tuple[tuple[int, int], tuple[int, int]]:
    if not (found := _TRUNK.fullmatch(text)):
        raise ValueError(f"{text!r}: must be SWITCH.PORT-SWITCH.PORT, such as \"0.7-1.0\"")
    return _place(found[1]), _place(found[2])


def _routing(content: Mapping[str, Any]) -> Routing:
    value = content.get("routing", Routing.PORTS.value)
    if value not in [one.value for one in Routing]:
        raise ValueError(f"routing = {value!r}: must be "
                         f"{' or '.join(repr(one.value) for one in Routing)}")
    if value == Routing.DISPLACEMENT.value and content.get("routes"):
        raise ValueError("routes: routing = 'displacement' has one way between two nodes")
    return Routing(value)


def _ways(content: Mapping[str, Any], nodes: int) -> dict[tuple[int, int], tuple[int, ...]]:
    routes = content.get("routes", {})
    if not isinstance(routes, dict):
        raise ValueError("routes: must be a table, [routes]")
    ways = {}
    for text, ports in routes.items():
        found = _PAIR.fullmatch(text)
        if not found or not all(int(one) < nodes for one in found.groups()):
            raise ValueError(f"routes: {text!r}: must be FROM-TO, wire addresses 0 to {nodes - 1}")
        if not isinstance(ports, list) or not ports or not all(
                type(port) is int and 0 <= port for port in ports):
            raise ValueError(f"routes: {text} = {ports!r}: must be a list of output ports")
        ways[int(found[1]), int(found[2])] = tuple(ports)
    return ways
