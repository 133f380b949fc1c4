"""Layouts: the nodes, CPUs and NICs on which the study of clumps ran its programs."""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

from ...layouts.description import Description, knobs_by_name
from ..errors import UserError, nearest

__all__ = ["LAYER", "LAYOUTS", "Layout", "layout_of"]

LAYER = "am2"
"""The layer of the study."""
FIRMWARE = {"nic.processor": "picorv32", "processor.memory": 1 << 18}
"""Usual knobs of all layouts over that layer, for its part on the NIC."""


@dataclass(frozen=True)
class Layout:
    """A layout.

    Attributes
    ----------
    knobs
        Its knobs by name; ``am2.processes`` says which CPUs run a process.
    usual
        Knobs that it sets where a description has the default.
    protocols
        The values of ``am2.protocol`` by which its processes reach each other.
    """

    name: str
    knobs: Mapping[str, Any]
    usual: Mapping[str, Any]
    protocols: tuple[str, ...]

    def changes(self, description: Description, asked: Container[str], layer: str
                ) -> dict[str, Any]:
        """The knobs to set in ``description``, of whose knobs a user has ``asked`` for some, where
        the program runs over ``layer``.

        Raises
        ------
        UserError
            One of them contradicts the layout.
        """
        known = knobs_by_name([*self.knobs, *self.usual])
        for name, value in self.knobs.items():
            has = known[name].of(description)
            if name in asked and has != value:
                raise UserError(f"--layout {self.name}: has {name} = {value}, not {has}")
        usual = {**self.usual, **(FIRMWARE if layer == LAYER else {})}
        return {**self.knobs, **{
            name: value for name, value in usual.items() if name not in asked
            and str(known[name].of(description)) == str(known[name].default)}}

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


def _now(nodes: int, usual: Mapping[str, Any]) -> Layout:
    return Layout(f"now-{nodes}", {
        "fabric.nodes": nodes, "node.cpus": 1, "node.nics": 1, "am2.processes": "nodes"},
        usual, ("network", "both"))


LAYOUTS = {layout.name: layout for layout in [
    _now(8, {}),
    Layout("smp", {"fabric.nodes": 2, "node.cpus": 8, "am2.processes": "cpus"},
           {"am2.protocol": "shared"}, ("shared", "both", "network")),
    _now(32, {"fabric.topology": "fat_tree"}),
    Layout("4x8", {"fabric.nodes": 4, "node.cpus": 8, "node.nics": 3, "am2.processes": "all"},
           {}, ("network", "both")),
]}
"""By name: networks of workstations with one CPU and one NIC; one node with eight CPUs (a fabric
has two, and the other one runs nothing), which share memory unless one wants otherwise; and four
such nodes with three NICs. The 32 workstations are more than a crossbar has ports, so their fabric
is a tree, thinner above."""


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
