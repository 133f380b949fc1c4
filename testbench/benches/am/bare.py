"""Round trips past the layer: a program that drives the layer's own way to the NIC, with no window,
no sequence numbers and no handlers, beside Active Messages over the same way. The difference is the
layer's."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ....host.am.ways import way_of
from ....host.am.wire import SMALL_BYTES
from ....host.port.costs import Path
from ....host.port.node import Node
from ....host.port.port import TIMEOUT
from ....layouts.description import Description
from ...errors import UserError
from ...estimate.compare import check
from ...results.document import cycles
from ...results.tables import amount, micro, table
from ..common.headline import Headline
from ..common.programs import Stamp, programs, stamp, ticks_between
from .logp import TRIPS, measure_trips

__all__ = ["FIGURES", "draw", "evaluate", "headline", "measure", "parameters", "tables"]

FIGURES = ("bare RTT", "RTT, 1 word")
WARM_UP = 8
BEATS = 3
"""Words of a packet: wire header, the layer's header (here all zeros), and one more: the least that
all firmwares take."""
TAKE = Path("bare_take", load=3, branch=1)
"""Reading a packet: its header and its word."""
LIMIT = 50_000_000
"""Cycles after which a packet is lost."""
LAYERS = {"bare": "bare", "am": "Active Messages"}


class Bare:
    """A node's packets. They are not sent again."""

    def __init__(self, node: Node) -> None:
        node.drive_nic("a program without a layer")
        self.node, self.port, self.memory = node, node.port, node.memory
        self._way = way_of(node)
        self._ring = self._way.ring
        self._room = 0
        self._take = node.port.path(TAKE)

    async def open(self) -> None:
        """Set up the rings."""
        await self._way.open(self._ring.allocate())

    async def send(self, peer: int) -> None:
        """Send a packet."""
        port, way = self.port, self._way
        while self._room < SMALL_BYTES:
            self._room = await way.room()
        await port.room(way.entries)
        self._room -= way.takes[BEATS]
        way.put(BEATS, way.header(peer, 8 * (BEATS - 1)), 0, 0, 0, self.node.trace_number())
        if way.stores:
            await port.executed
            for address, data in way.stores:
                self.memory.write(address, data)
            way.stores.clear()

    async def receive(self) -> None:
        """Take the next packet.

        Raises
        ------
        RuntimeError
            None comes.
        """
        port, ring = self.port, self._ring
        port.put_poll(ring.slot, ring.phase, 1, LIMIT)
        await port.executed
        if port.status & TIMEOUT:
            raise RuntimeError(f"no packet has come to {self.node.place} for {LIMIT} cycles")
        if ring.near:
            ring.read(ring.slot)
        else:
            await ring.load()
        port.spend(self._take)
        if port.costs.flush_bytes:
            await port.room(1)
            port.put_flush(ring.slot, 8 * BEATS + 8)
        if ring.advance():
            await self._way.free()


def parameters(description: Description) -> dict[str, Any]:
    """Nothing is left to choose.

    Raises
    ------
    UserError
        Faults lose packets, or bring them twice.
    """
    for name in ("drop", "corrupt", "duplicate"):
        if probability := getattr(description.faults, name):
            raise UserError(f"bench bare: needs a fabric that loses nothing and brings nothing "
                            f"twice: faults.{name} = {probability}")
    return {"trips": TRIPS}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """Round trips without the layer, and with it."""
    trips = parameters["trips"]

    async def requester(node: Node) -> list[tuple[Stamp, Stamp]]:
        bare = Bare(node)
        await bare.open()
        found = []
        for _ in range(WARM_UP + trips):
            start = stamp(node)
            await bare.send(node.address_on(1))
            await bare.receive()
            found.append((start, stamp(node)))
        return found[WARM_UP:]

    async def replier(node: Node) -> None:
        bare = Bare(node)
        await bare.open()
        for _ in range(WARM_UP + trips):
            await bare.receive()
            await bare.send(node.address_on(0))
        await node.port.flush()

    tell("without the layer", 0, 2)
    run = await lab.run(programs(lab.description.fabric.nodes, {0: requester, 1: replier}),
                        trace=False)
    tell("with the layer", 1, 2)
    return {"bare": [ticks_between(*trip) for trip in run.results[0]],
            "am": (await measure_trips(lab, layer))["trips"]}


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """Both round trips, and the difference."""
    results = {name: {"rtt": cycles(Fraction(sum(trips), len(trips))), "min": cycles(min(trips)),
                      "max": cycles(max(trips))} for name, trips in raw.items()}
    mean = {name: Fraction(sum(trips), len(trips)) for name, trips in raw.items()}
    layer = cycles(mean["am"] - mean["bare"])
    return {"results": {**results, "layer": layer}, "truth": {},
            "points": {name: [cycles(trip) for trip in trips] for name, trips in raw.items()},
            "checks": [check("the layer costs time", layer > 0, f"{layer} cycles")]}


def tables(document: Mapping[str, Any]) -> list[Any]:
    """A row without the layer, one with it, and the difference."""
    results, clock = document["results"], document["clock_mhz"]
    rows = [[title, *(amount(results[name][key]) for key in ("rtt", "min", "max")),
             micro(results[name]["rtt"], clock)] for name, title in LAYERS.items()]
    rows.append(["the layer, both ways", amount(results["layer"]), "", "",
                 micro(results["layer"], clock)])
    return [table("Round trip of one packet each way (cycles)",
                  ["", "mean", "min", "max", "µs"], rows)]


def draw(document: Mapping[str, Any], figure: Any) -> None:
    """The round trip with the layer, and what of it is the layer's."""
    from ...results.plots import PALETTE

    results, clock = document["results"], document["clock_mhz"]
    bare, layer = results["bare"]["rtt"], results["layer"]
    axes = figure.add_subplot()
    axes.barh(0, bare, color="#a9cbe8", height=0.5, label="NIC, network, polls")
    axes.barh(0, layer, left=bare, color=PALETTE[0], height=0.5, label="Active Messages")
    axes.set_ylim(-0.8, 0.8)
    axes.set_yticks([])
    axes.set_xlabel("cycles")
    axes.secondary_xaxis("top", functions=(
        lambda value: value / clock, lambda value: value * clock)).set_xlabel("µs")
    axes.legend(loc="lower right")
    axes.set_title("Round trip: the layer and what is below it", pad=12)


def headline(document: Mapping[str, Any]) -> list[Headline]:
    """Both round trips."""
    results = document["results"]
    return [Headline(name, results[way]["rtt"])
            for name, way in zip(FIGURES, ("bare", "am"), strict=True)]
