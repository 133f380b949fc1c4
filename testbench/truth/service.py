"""The service time of each stage for a message, from a run of one sender and one receiver, and
predictions for many nodes: the stage with the most service sets the pace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...layouts.doors import NicDesign
from ...layouts.doors.trace_block import numbered
from ...layouts.fabric import Graph
from ...layouts.trace import TICKS, Block, Event
from .busy import cpu, services, union
from .spans import Span

__all__ = ["OWN", "Prediction", "Service", "from_many", "plain_services", "service_times",
           "to_many"]

_NAMES: dict[int, str] = {Block.BUS: "bus", Block.SEND_LINK: "uplink"}
"""Blocks of a node that are not its NIC's."""
OWN = "its own"
"""Stages that a sender, or a receiver, does not share with others."""


@dataclass(frozen=True)
class Service:
    """``time`` ticks for each message in which ``stage`` of ``node`` served. The stage is the
    ``sender``'s, the ``receiver``'s, or (a switch port) of neither."""

    stage: str
    node: int
    time: Fraction
    port: tuple[int, int] | None = None
    """For a switch port: the switch, and the output."""


@dataclass(frozen=True)
class Prediction:
    """``gap`` ticks from one message of a sender to its next, because ``stage`` takes as long."""

    gap: Fraction
    stage: str


def service_times(events: Sequence[Event], found: Sequence[Span], start: int, stop: int,
                  messages: Fraction, nodes: tuple[int, int], design: NicDesign) -> list[Service]:
    """Services between ``start`` and ``stop`` ticks of a run in which one of ``nodes`` sends
    ``messages`` to the other, by NICs of ``design``. The time of a stage includes the time in which
    the next stage held it up; that stage then has as long a time."""
    served = services(events, start, stop, design)
    names = _NAMES | {number: block.title for number, block in numbered(design.trace).items()
                      if block.listed != "never"}
    made = [Service("CPU", node, cpu(found, node, start, stop) * (stop - start) / messages)
            for node in nodes]
    made += [Service(names[block], node, union(intervals, start, stop) / messages)
             for (block, node), intervals in served.blocks.items()
             if block in names and node in nodes]
    made += [Service("switch port", port[0], union(intervals, start, stop) / messages, port)
             for port, intervals in served.ports.items()]
    return made


def plain_services(found: Sequence[Service]) -> list[dict[str, Any]]:
    """Services in the form of a result file, in cycles, the longest first, without those shorter
    than a hundredth of the longest."""
    most = max(one.time for one in found)
    return [{"stage": one.stage, "node": one.node, "cycles": one.time / TICKS,
             **({"port": one.port[1]} if one.port else {})}
            for one in sorted(found, key=lambda one: -one.time) if 100 * one.time >= most]


def from_many(found: Sequence[Service], gap: Fraction, receiver: int, senders: Sequence[int],
              topology: Graph, wires: Sequence[int] | None = None) -> Prediction:
    """The gap of each of ``senders`` that send to ``receiver`` at once, by the NICs that have the
    addresses ``wires`` (None: a node's number). It is ``gap``, the gap of one alone, unless a stage
    that all senders share needs longer for one message of each."""
    wires = wires or range(len(topology.places))
    ways = [_way(topology, wires[sender], wires[receiver]) for sender in senders
            if wires[sender] != wires[receiver]]
    best = Prediction(gap, OWN)
    for one in found:
        if one.port is not None:
            load = one.time * sum(one.port in way for way in ways)
        else:
            load = one.time * len(senders) if one.node == receiver else Fraction(0)
        if load > best.gap:
            best = Prediction(load, one.stage if one.port else f"receiver's {one.stage}")
    return best


def to_many(found: Sequence[Service], gap: Fraction, sender: int, receivers: int) -> Prediction:
    """The gap of ``sender`` if its messages go to ``receivers`` in turn and ``gap`` is its gap to
    one alone. The sender's own stages serve all receivers, so the gap does not fall below their
    time."""
    best = Prediction(gap / receivers, OWN)
    for one in found:
        if one.port is None and one.node == sender and one.time > best.gap:
            best = Prediction(one.time, f"sender's {one.stage}")
    return best


def _way(topology: Graph, source: int, destination: int) -> set[tuple[int, int]]:
    """The switch ports from wire address ``source`` to ``destination``."""
    here, ports = topology.places[source][0], topology.way(source, destination)
    joined: Mapping[tuple[int, int], tuple[int, int]] = {
        near: far for ends in topology.trunks for near, far in (ends, ends[::-1])}
    found = set()
    for port in ports:
        found.add((here, port))
        here = joined.get((here, port), (here, 0))[0]
    return found
