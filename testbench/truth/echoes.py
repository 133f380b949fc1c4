"""Round trips of layers that do not mark which message a call finds: cut where the message left the
CPU and where it had landed."""

from collections.abc import Iterable, Sequence

from ...layouts.doors import NicDesign
from ...layouts.trace import TICKS, Event, Kind
from .messages import Trip, Way, landing_blocks

__all__ = ["echoes"]

Times = Sequence[Sequence[int]]


def echoes(client: Times, server: Times, events: Iterable[Event], design: NicDesign) -> list[Trip]:
    """The round trips of node 0, whose messages node 1 sends back.

    A message is the one that landed last before it was found, of those that begin in its send. The
    CPU's part of the way ends with the send call, or with the message's first event if a part of
    the call is behind it; it goes on when the message has landed. So ``o_s`` and ``o_r`` are what
    the CPUs add to the way, and ``turn`` is 0.

    Parameters
    ----------
    client
        Of each trip, in ticks: when it began, when the send had returned, when the echo was found.
    server
        Of each trip: when the message was found, when the send of the echo had returned.

    Raises
    ------
    ValueError
        The trace holds no message that a trip waited for.
    """
    lands = landing_blocks(design)
    mine: dict[int, dict[int, list[Event]]] = {}
    for event in events:
        if event.number:
            mine.setdefault(event.number, {}).setdefault(event.node, []).append(event)
    return [Trip(_way(begin, sent, there, 0, 1, mine, lands),
                 _way(there, answered, here, 1, 0, mine, lands))
            for (begin, sent, here), (there, answered) in zip(client, server, strict=True)]


def _way(begin: int, sent: int, found: int, sender: int, receiver: int,
         events: dict[int, dict[int, list[Event]]], lands: frozenset[int]) -> Way:
    """The message that ``sender`` began to send in tick ``begin`` and ``receiver`` had found in
    ``found``."""
    landed = [(event.cycle * TICKS, first, number) for number, by_node in events.items()
              if (first := by_node[sender][0].cycle * TICKS if sender in by_node else -1) >= begin
              for event in by_node.get(receiver, ())
              if event.kind == Kind.END and event.block in lands
              and first <= event.cycle * TICKS <= found]
    if not landed:
        raise ValueError(f"no message from node {sender} landed between ticks {begin} and {found}")
    arrived, first, number = max(landed)
    end = min(sent, first)
    left = end - end % TICKS
    return Way(number, begin, end - begin, arrived - left, left - end, found - arrived)
