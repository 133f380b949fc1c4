"""Bulk transfers as streams of issues: store, store_async and get between two nodes."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....host.am.endpoint import ARRIVED, STORED, AmEndpoint
from ....host.endpoint import Exchange
from ....host.port.node import Node
from ....layouts.description import Description
from ....layouts.trace import Activity
from ...truth.bound import bound, shares
from ...truth.spans import moves, spans
from ...truth.steady import departures, mean_own, true_gap, window
from .gap_bound import GapBound, bound_of
from .programs import close_to, open_to, programs, server, stream_of

__all__ = ["KINDS", "TransferTruth", "data_way", "measure_transfers", "sizes", "transfer_truth",
           "transfers", "window_bytes"]

KINDS = ("store", "store_async", "get")


@dataclass(frozen=True)
class TransferTruth:
    """Traced costs of a transfer, in ticks; None: of too few packets.

    Attributes
    ----------
    o_s, o_r
        What its packets cost the sender of its data, and the receiver.
    g
        Gap.
    bound
        What bounds the gap.
    """

    o_s: Fraction
    o_r: Fraction | None = None
    g: Fraction | None = None
    bound: GapBound | None = None


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


def transfers(side: AmEndpoint, kind: str, peer: int, size: int
              ) -> Callable[[int], Coroutine[Any, Any, None]]:
    """Issue number i is a transfer of ``size`` bytes, to or from node ``peer``."""
    am, source, target = side.am, side.source, side.target
    address = side.node.address_on(peer)
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
        side = AmEndpoint(node, exchange)
        await open_to(side, [1])
        found = await stream_of(side, transfers(side, kind, 1, size), count, delay)
        await close_to(side, [1])
        return found

    exchange = Exchange(size)
    run = await lab.run(programs(lab, {
        0: requester, 1: server(lambda node: AmEndpoint(node, exchange))}),
                        trace=trace)
    return {**run.results[0].plain(), "kind": kind, "size": size, "marks": run.marks,
            "events": run.events}


def transfer_truth(raw: Mapping[str, Any], description: Description) -> TransferTruth:
    """The truth of a stream of transfers, from its trace."""
    marks = spans(raw["marks"])
    sender, receiver = data_way(raw["kind"])
    sent = [span for span in marks if span.node == sender and span.begin >= raw["begin"]
            and span.activity == Activity.BULK_SEND]
    o_s = Fraction(sum(span.own for span in sent), len(raw["issued"]))
    times = departures(raw["events"], sender, {span.number for span in sent})
    if len(times) < 4:
        return TransferTruth(o_s)
    packets = max(1, -(-raw["size"] // description.nic.mtu))
    between = window(times)
    return TransferTruth(
        o_s, o_r=packets * mean_own(marks, Activity.BULK_HANDLE, receiver, between),
        g=true_gap(times) * packets,
        bound=bound_of(bound(shares(raw["events"], marks, *between, sender, receiver,
                                    description.design, moves(raw["marks"])))))
