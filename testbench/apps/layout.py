"""Layouts: the nodes, CPUs and NICs on which the study of clumps ran its programs."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...layouts.description import Description
from ..errors import UserError, nearest

__all__ = ["LAYER", "LAYOUTS", "Layout", "layout_of"]

LAYER = "am2"
"""The layer of the study."""


@dataclass(frozen=True)
class Layout:
    """A layout.

    Attributes
    ----------
    knobs
        Its knobs by name; ``am2.processes`` says which CPUs run a process.
    free
        Of these, the ones that a user may set otherwise.
    protocols
        The values of ``am2.protocol`` by which its processes reach each other.
    """

    name: str
    knobs: Mapping[str, Any]
    protocols: tuple[str, ...]
    free: Container[str] = field(default=())

    def changes(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The knobs to set, where a user has ``given`` some, by name.

        Raises
        ------
        UserError
            One of them contradicts the layout.
        """
        found = {}
        for name, value in self.knobs.items():
            if name not in given:
                found[name] = value
            elif given[name] != value and name not in self.free:
                raise UserError(f"--layout {self.name}: has {name} = {value}, not {given[name]}")
        return found

    def check(self, description: Description, layer: str) -> None:
        """Refuse a description whose processes could not reach each other over ``layer``.

        Raises
        ------
        UserError
            The layer, or its protocol, does not reach them.
        """
        if layer != LAYER and self.knobs["node.cpus"] > 1:
            raise UserError(f"--layout {self.name}: a process is a CPU, and over {layer} it is a "
                            f"node; --layer {LAYER} has it")
        protocol = description.am2.protocol if layer == LAYER else "network"
        if protocol not in self.protocols:
            raise UserError(f"--layout {self.name}: am2.protocol = {protocol}: must be "
                            f"{' or '.join(self.protocols)}")


def _now(nodes: int, **more: Any) -> Layout:
    more = {name.replace("_", ".", 1): value for name, value in more.items()}
    return Layout(f"now-{nodes}", {
        "fabric.nodes": nodes, "node.cpus": 1, "node.nics": 1, "am2.processes": "nodes", **more},
        ("network", "both"), free=more)


LAYOUTS = {layout.name: layout for layout in [
    _now(8),
    Layout("smp", {"fabric.nodes": 2, "node.cpus": 8, "am2.processes": "cpus"},
           ("shared", "both", "network")),
    _now(32, fabric_topology="fat_tree"),
    Layout("4x8", {"fabric.nodes": 4, "node.cpus": 8, "node.nics": 3, "am2.processes": "all"},
           ("both", "network")),
]}
"""By name: networks of workstations with one CPU and one NIC; one node with eight CPUs (a fabric
has two, and the other one runs nothing); and four such nodes with three NICs. The 32 workstations
are more than a crossbar has ports, so their fabric is a tree, thinner above."""


def layout_of(name: str) -> Layout:
    """The layout called ``name``.

    Raises
    ------
    UserError
        There is none.
    """
    if name not in LAYOUTS:
        raise UserError(f"--layout {name}: must be {', '.join(LAYOUTS)}{nearest(name, [*LAYOUTS])}")
    return LAYOUTS[name]
