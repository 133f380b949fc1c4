"""The block that bounds the gap: busy shares in steady state, from the trace."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...layouts.trace import Block, Event, Kind
from .busy import cpu, services, union
from .spans import Span

__all__ = ["Share", "Bound", "shares", "bound", "SATURATED", "NAMES"]

SATURATED = Fraction(90, 100)
"""If all blocks are less busy than this, the round trip through the window is the bound."""
TIE = Fraction(3, 100)

NAMES = ("host", "receiver", "message processor", "receiver's message processor",
         "NI processor", "receiver's NI processor", "VI fetch", "VI send",
         "send DMA", "H2N", "switch port", "link", "VI receive", "receive DMA", "N2H", "completion",
         "bus", "memory")
"""Blocks in the order in which they wait for each other. Blocks of a VI engine or of a NIC
processor (awake; H2N, N2H: its transfers from and to host memory) are listed only if one is at
work. A block that is held up by another also counts as busy, so the bound is the last of the
busiest blocks in this order: a CPU waits for the bus when its posted writes are full, a link for
the receive DMA, a DMA engine for the bus, the bus for the memory, which is listed for nodes with
several CPUs, and waits for nobody. A message processor is the second CPU of a node: what it
takes to move messages."""

MOSTLY = Fraction(3, 4)
"""If a saturated bus serves one DMA engine for this share of its time, the engine is the bound."""

SEND, RECEIVE = 1, 2
"""Initiators on the bus, numbered as in its events; 0 is the CPU."""

_ENGINE = (("VI fetch", Block.VI_FETCH, True), ("VI send", Block.VI_SEND, True),
           ("VI receive", Block.VI_RECEIVE, False), ("completion", Block.COMPLETION, False),
           ("NI processor", Block.PROCESSOR, True),
           ("receiver's NI processor", Block.PROCESSOR, False),
           ("H2N", Block.H2N, True), ("N2H", Block.N2H, False))
"""Blocks of a VI engine and of a NIC processor, and whether the sender's block is on the path."""


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
           receiver: int, moved: Sequence[Span] = ()) -> list[Share]:
    """Busy shares of the blocks on the path from ``sender`` to ``receiver``, between ``start`` and
    ``stop`` ticks. Of the switch ports on the path the busiest one counts, of the two buses the
    busier one. If one DMA engine takes up a bus, the bus's share is charged to the engine.
    ``moved``: the messages that message processors moved."""
    length = stop - start
    served = services(events, start, stop)

    def share(intervals: Iterable[tuple[int, int]]) -> Fraction:
        return Fraction(union(intervals, start, stop), length)

    def of(block: Block, node: int) -> Fraction:
        return share(served.blocks.get((block, node), []))

    mine = {event.number for event in events if event.block == Block.SEND_LINK
            and event.node == sender and event.kind == Kind.BEGIN}
    ports = [(share(intervals), key) for key, intervals in served.ports.items()
             if served.ways[key] & mine]
    port_busy, (switch, port) = max(ports, default=(Fraction(0), (0, 0)))
    meeting = len(served.sources.get((switch, port), ())) > 1
    bus, where = max((of(Block.BUS, node), node) for node in (sender, receiver))
    engines = {"send DMA": of(Block.SEND_DMA, sender),
               "receive DMA": of(Block.RECEIVE_DMA, receiver)}
    takers = [name for name, initiator, node in (("send DMA", SEND, sender),
                                                 ("receive DMA", RECEIVE, receiver))
              if engines[name] >= bus - TIE and share(served.initiators.get(
                  (node, initiator), [])) >= MOSTLY * of(Block.BUS, node)]
    found_shares = [Share("host", sender, cpu(found, sender, start, stop)),
                    Share("receiver", receiver, cpu(found, receiver, start, stop)),
                    Share("send DMA", sender, engines["send DMA"]),
                    Share("switch port", switch, port_busy),
                    Share("link", sender, of(Block.SEND_LINK, sender), held=meeting),
                    Share("receive DMA", receiver, engines["receive DMA"]),
                    Share("bus", where, bus, held=bool(takers))]
    at_work = {block for block, _ in served.blocks}
    if Block.MEMORY in at_work:
        memory, where = max((of(Block.MEMORY, node), node) for node in (sender, receiver))
        found_shares.append(Share("memory", where, memory))
    found_shares += [Share(name, node, of(block, node)) for name, block, sends in _ENGINE
                     if block in at_work for node in [sender if sends else receiver]]
    if moved:
        found_shares += [Share(name, node, share((one.begin, one.end) for one in moved
                                                 if one.node == node))
                         for name, node in (("message processor", sender),
                                            ("receiver's message processor", receiver))]
    found_shares.sort(key=lambda one: NAMES.index(one.block))
    # The engine that takes up the bus replaces the bus.
    return ([one for one in found_shares if one.block not in takers]
            + [one for one in found_shares if one.block in takers])


def bound(found: Sequence[Share]) -> Bound:
    """The bound among ``found``, which must be in the order of :func:`shares`."""
    own = [share for share in found if not share.held]
    most = max(share.busy for share in own)
    if most < SATURATED:
        return Bound("window", most, tuple(found))
    last = [share for share in own if share.busy >= most - TIE][-1]
    return Bound(last.block, last.busy, tuple(found))
