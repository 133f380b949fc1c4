"""The block that bounds the gap: busy shares in steady state, from the trace."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...layouts.doors import NicDesign
from ...layouts.doors.trace_block import RECEIVING, SENDING, TraceBlock, numbered
from ...layouts.trace import Activity, Block, Event, Kind
from .busy import cpu, services, union
from .spans import Span

__all__ = ["SATURATED", "Bound", "Share", "bound", "shares"]

SATURATED = Fraction(90, 100)
"""If all blocks are less busy than this, the round trip through the window is the bound."""
TIE = Fraction(3, 100)

MOSTLY = Fraction(3, 4)
"""If a saturated bus serves one DMA engine for this share of its time, the engine is the bound."""


@dataclass(frozen=True)
class Share:
    """``busy`` is the share of the interval, 0 to 1, in which ``block`` of ``node`` served.

    ``held``: the block was busy because of another one. A link waits for a switch port where
    packets of several nodes meet; one DMA engine takes up the bus.
    """

    block: str
    node: int
    busy: Fraction
    held: bool = False


@dataclass(frozen=True)
class Bound:
    """The block that bounds g, or "window" if none is busy throughout."""

    block: str
    busy: Fraction
    shares: tuple[Share, ...]


def shares(events: Sequence[Event], found: Sequence[Span], start: int, stop: int, sender: int,
           receiver: int, design: NicDesign, moved: Sequence[Span] = ()) -> list[Share]:
    """Busy shares of the blocks on the path from ``sender`` to ``receiver``, between ``start`` and
    ``stop`` ticks, in the order in which they wait for each other. The NICs are of ``design``.

    Of the switch ports on the path the busiest one counts, of the two buses the busier one. If one
    DMA engine of a NIC takes up a bus, the bus's share is charged to the engine. The memory is
    listed for nodes with several CPUs; NICs and wires are not where all messages of ``sender`` were
    between CPUs of a node. ``moved``: the messages that message processors moved; such a processor
    is the second CPU of a node.

    A block that is held up by another also counts as busy, so the bound is the last of the busiest
    blocks: a CPU waits for the bus when its posted writes are full, a link for the receive DMA, a
    DMA engine for the bus, the bus for the memory, which waits for nobody."""
    length = stop - start
    served = services(events, start, stop, design)
    at_work = {block for block, _ in served.blocks}
    own = {number: block for number, block in numbered(design.trace).items()
           if block.listed == "always" or (block.listed == "at work" and number in at_work)}

    def share(intervals: Iterable[tuple[int, int]]) -> Fraction:
        return Fraction(union(intervals, start, stop), length)

    def of(block: int, node: int) -> Fraction:
        return share(served.blocks.get((block, node), []))

    nics = {side: [(Share(f"{where}{block.title}", node, of(number, node)), block)
                   for number, block in own.items()
                   for node, where in _ends(block, side, sender, receiver)]
            for side in (None, SENDING, RECEIVING)}
    mine = {event.number for event in events if event.block == Block.SEND_LINK
            and event.node == sender and event.kind == Kind.BEGIN}
    local = not mine and any(span.node == sender and span.activity == Activity.REQUEST_SEND
                             for span in found)
    if local:
        nics = {side: [] for side in nics}
    ports = [(share(intervals), key) for key, intervals in served.ports.items()
             if served.ways[key] & mine]
    port_busy, (switch, port) = max(ports, default=(Fraction(0), (0, 0)))
    meeting = len(served.sources.get((switch, port), ())) > 1
    bus, where = max((of(Block.BUS, node), node) for node in (sender, receiver))
    takers = [one for by_side in nics.values() for one, block in by_side
              if block.dma is not None and one.busy >= bus - TIE
              and share(served.initiators.get((one.node, block.dma + 1), []))
              >= MOSTLY * of(Block.BUS, one.node)]
    made = [Share("host", sender, cpu(found, sender, start, stop)),
            Share("receiver", receiver, cpu(found, receiver, start, stop))]
    if moved:
        made += [Share(name, node, share((one.begin, one.end) for one in moved
                                         if one.node == node))
                 for name, node in (("message processor", sender),
                                    ("receiver's message processor", receiver))]
    made += [one for side in (None, SENDING) for one, _ in nics[side]]
    if not local:
        made += [Share("switch port", switch, port_busy),
                 Share("link", sender, of(Block.SEND_LINK, sender), held=meeting)]
    made += [one for one, _ in nics[RECEIVING]]
    made.append(Share("bus", where, bus, held=bool(takers)))
    if Block.MEMORY in at_work:
        memory, where = max((of(Block.MEMORY, node), node) for node in (sender, receiver))
        made.append(Share("memory", where, memory))
    # The engine that takes up the bus replaces the bus.
    return [one for one in made if one not in takers] + takers


def _ends(block: TraceBlock, side: str | None, sender: int, receiver: int
          ) -> list[tuple[int, str]]:
    """The nodes on whose path a block of ``side`` is, and how its name begins there."""
    if block.side != side:
        return []
    if side is None:
        return [(sender, ""), (receiver, "receiver's ")]
    return [(sender if side == SENDING else receiver, "")]


def bound(found: Sequence[Share]) -> Bound:
    """The bound among ``found``, which must be in the order of :func:`shares`."""
    own = [share for share in found if not share.held]
    most = max(share.busy for share in own)
    if most < SATURATED:
        return Bound("window", most, tuple(found))
    last = [share for share in own if share.busy >= most - TIE][-1]
    return Bound(last.block, last.busy, tuple(found))
