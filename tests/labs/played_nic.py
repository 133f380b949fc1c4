"""A node whose NIC a bench plays: the product's Node, with a NIC that only hands out its socket."""

from typing import Any

from amaranth.hdl import Module
from amaranth.lib import wiring
from nicbed.layouts.description import Description
from nicbed.layouts.doors import NicDesign
from nicbed.rtl.node.node import Node

__all__ = ["WORDS", "PlayedNic", "PlayedNicDesign", "node_of"]

WORDS = 8192
"""Size of the host memory: the smallest that a description can have."""


class PlayedNic(wiring.Component):
    """A NIC without logic: whoever has the node drives its outputs (:attr:`Node.nics`)."""

    def elaborate(self, platform: object) -> Module:
        return Module()


class PlayedNicDesign(NicDesign):
    """Makes it, with one DMA port and no events."""

    name = "played"
    title = "a NIC that a bench plays"

    def build(self, description: Any, side: Any, *, step: Any = None) -> PlayedNic:
        return PlayedNic(side)


def node_of(knobs: dict[str, Any]) -> Node:
    """A node with such a NIC, and the given structure knobs."""
    description = Description().with_({
        "nic.design": f"{__file__}:PlayedNicDesign", "memory.bytes": 8 * WORDS, **knobs})
    return Node(description=description, trace="ports")
