"""Bulk transfers as streams of issues: store, store_async and get between two nodes."""

from collections.abc import Callable, Coroutine, Mapping
from fractions import Fraction
from typing import Any

from ....host.port.node import Node
from ....layouts.description import Description
from ....layouts.trace import TICKS, Activity
from ...truth.bound import bound, shares
from ...truth.spans import moves, spans
from ...truth.steady import departures, mean_own, true_gap, window
from .logp_evaluation import bound_of
from .programs import ARRIVED, STORED, Party, programs

__all__ = ["KINDS", "BulkParty", "buffer_of", "data_way", "measure_transfers", "sizes",
           "elapsed", "transfer_truth", "window_bytes"]

KINDS = ("store", "store_async", "get")
LARGEST = 1 << 20


def buffer_of(description: Description) -> int:
    """Bytes of the buffers: 1 MB, or as many as the memory has room for."""
    return min(LARGEST, description.memory.bytes // 4)


def sizes(most: int, least: int = 4, *, around: int = 0) -> list[int]:
    """Powers of two from ``least`` to ``most``, each with ``around`` bytes less and more."""
    found = set()
    power = least
    while power <= most:
        found |= {power - around, power, power + around}
        power *= 2
    return sorted(size for size in found if least <= size <= most)


def window_bytes(description: Description) -> int:
    """Bytes that may be under way to a peer before an acknowledgement is needed."""
    return description.am.chunk_packets * description.am.chunks * description.nic.mtu


class BulkParty(Party):
    """A party with buffers, which have the same addresses on all nodes: a source and a target, or,
    if ``size`` bytes are more than :func:`buffer_of`, one buffer, the source on one node and the
    target on another.

    Raises
    ------
    MemoryError
        The node's memory has no room for them.
    """

    def __init__(self, node: Node, size: int = 0) -> None:
        super().__init__(node)
        # Rings are allocated later, and in the same way on all nodes, so the addresses agree.
        length = buffer_of(node.description)
        self.source = node.allocate(max(length, size), 4096)
        self.target = self.source if size > length else node.allocate(length, 4096)

    def transfers(self, kind: str, peer: int, size: int
                  ) -> Callable[[int], Coroutine[Any, Any, None]]:
        """Issue number i is a transfer of ``size`` bytes, to or from node ``peer``."""
        am, source, target, address = self.am, self.source, self.target, self.peer(peer)
        if kind == "store":
            return lambda index: am.store(address, source, target, size, STORED)
        if kind == "store_async":
            return lambda index: am.store_async(address, source, target, size, STORED)
        return lambda index: am.get(address, source, target, size, ARRIVED)


def data_way(kind: str) -> tuple[int, int]:
    """The nodes from which and to which data flows when node 0 requests the transfer."""
    return (1, 0) if kind == "get" else (0, 1)


async def measure_transfers(lab: Any, kind: str, size: int, count: int, delay: int = 0,
                            trace: bool = True) -> dict[str, Any]:
    """``count`` transfers of ``size`` bytes, issued in a row from reset."""

    async def requester(node: Node) -> Any:
        party = BulkParty(node, size)
        await party.start([1])
        stream = await party.stream(party.transfers(kind, 1, size), count, delay)
        await party.finish([1])
        return stream

    async def replier(node: Node) -> None:
        await BulkParty(node, size).serve()

    run = await lab.run(programs(lab.description.fabric.nodes, {0: requester, 1: replier}),
                        trace=trace)
    return {**run.results[0].plain(), "kind": kind, "size": size, "marks": run.marks,
            "events": run.events}


def transfer_truth(raw: Mapping[str, Any], description: Description) -> dict[str, Any]:
    """Traced costs of a transfer, in ticks: o_s and o_r of its packets, gap, and the bound."""
    marks = spans(raw["marks"])
    sender, receiver = data_way(raw["kind"])
    sent = [span for span in marks if span.node == sender and span.begin >= raw["begin"]
            and span.activity == Activity.BULK_SEND]
    packets = max(1, -(-raw["size"] // description.nic.mtu))
    times = departures(raw["events"], sender, {span.number for span in sent})
    found: dict[str, Any] = {"g": None, "bound": None}
    if len(times) >= 4:
        between = window(times)
        found["g"] = true_gap(times) * packets
        found["bound"] = bound_of(bound(shares(raw["events"], marks, *between, sender,
                                                receiver, moves(raw["marks"]))))
        found["o_r"] = packets * mean_own(marks, Activity.BULK_HANDLE, receiver, between)
    issued = len(raw["issued"])
    found["o_s"] = Fraction(sum(span.own for span in sent), issued)
    return found


def elapsed(raw: Mapping[str, Any]) -> Fraction:
    """Cycles from the first issue to the last answer."""
    return Fraction(raw["done"], TICKS)
