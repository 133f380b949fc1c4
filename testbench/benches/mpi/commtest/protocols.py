"""The protocols: what a rank calls for each message that it exchanges.

A protocol is a line of words for each of the two sides. Send, Recv and their relatives are MPI's
calls on the data; ``Wait_s`` and ``Wait_r`` wait for the send and the receive that have begun.
``tell`` and ``hear`` are the handshake, messages without data on a communicator of its own: a rank
tells the one from which it receives that its receive is posted, and hears so from the one to which
it sends.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["HANDSHAKE", "PREPOSTED", "PROTOCOLS", "Protocol", "SENDRECV", "SWAP", "by_name",
           "calls_of"]

SWAP, SENDRECV = "SWAP", "SENDRECV"
"""Operations: two ranks exchange messages; all ranks send to the next and receive from the one
before."""
HANDSHAKE = {"tell": "Send", "hear": "Recv"}
"""Calls of the words that are none."""


@dataclass(frozen=True)
class Protocol:
    """Protocol ``number`` of the unordered or the ordered ones.

    ``first`` and ``second`` are the words of the two sides; in SENDRECV those of even and odd
    ranks. Of a preposted protocol, receives are posted one message ahead, and sends are waited for
    one message later.
    """

    number: int
    first: tuple[str, ...]
    second: tuple[str, ...]
    ordered: bool = False
    preposted: bool = False

    @property
    def name(self) -> str:
        """u0 to u9, o0 to o10; with a + if it is preposted."""
        return f"{'o' if self.ordered else 'u'}{self.number}{'+' if self.preposted else ''}"

    @property
    def title(self) -> str:
        """Its calls in words."""
        sides = [", ".join(word.replace("_", " ") for word in side)
                 for side in ((self.first, self.second) if self.ordered else (self.first,))]
        return " ‖ ".join(sides)

    def words(self, operation: str, second: bool) -> tuple[str, ...]:
        """Returns what a rank does for one message."""
        words = self.second if second else self.first
        if operation == SWAP or not {"tell", "Rsend"} <= {*self.second}:
            return words
        # In a ring the rank from which one receives is not the one to which one sends, so that
        # a ready send of either side needs a handshake.
        return ("Irecv", "tell", "Wait_r", "hear", "Rsend") if second else (
            words[0], "tell", *words[1:])


_UNORDERED = (
    "Bsend Recv",
    "Isend Recv Wait_s",
    "Irecv Send Wait_r",
    "Irecv Isend Wait_r Wait_s",
    "Irecv tell hear Rsend Wait_r",
    "Irecv tell hear Irsend Wait_r Wait_s",
    "Sendrecv",
    "Issend Recv Wait_s",
    "Irecv Ssend Wait_r",
    "Irecv Issend Wait_r Wait_s",
)
_ORDERED = (
    ("Send Recv", "Recv Send"),
    ("Isend Recv Wait_s", "Recv Send"),
    ("Irecv Send Wait_r", "Recv Send"),
    ("Irecv Isend Wait_r Wait_s", "Recv Send"),
    ("Irecv hear Rsend Wait_r", "Irecv tell Wait_r Rsend"),
    ("Irecv hear Irsend Wait_r Wait_s", "Irecv tell Wait_r Rsend"),
    ("hear Send Recv", "tell Recv Send"),
    ("Issend Recv Wait_s", "Recv Ssend"),
    ("Irecv Ssend Wait_r", "Recv Ssend"),
    ("Irecv Issend Wait_r Wait_s", "Recv Ssend"),
    ("Ssend Recv", "Recv Ssend"),
)
PROTOCOLS = (
    *(Protocol(number, tuple(words.split()), tuple(words.split()))
      for number, words in enumerate(_UNORDERED)),
    *(Protocol(number, tuple(first.split()), tuple(second.split()), ordered=True)
      for number, (first, second) in enumerate(_ORDERED)))
"""All 21."""


def _ahead(protocol: Protocol) -> Protocol:
    # Who has received message i knows that receive i + 1 is posted at the other side: it was
    # before message i was sent. So a ready send needs no handshake.
    words = tuple(word for word in protocol.first if word not in HANDSHAKE)
    return Protocol(protocol.number, words, words, preposted=True)


PREPOSTED = tuple(_ahead(protocol) for protocol in PROTOCOLS
                  if not protocol.ordered and "Irecv" in protocol.first)
"""The unordered ones with receives that can be posted before. Of SWAP alone: in a ring, who has
received knows nothing about the rank to which it sends."""


def by_name(name: str) -> Protocol:
    """The protocol called ``name``."""
    return next(one for one in (*PROTOCOLS, *PREPOSTED) if one.name == name)


def calls_of(words: Iterable[str], messages: int) -> Counter[str]:
    """Tells how often a rank that does ``words`` for each of ``messages`` makes each call."""
    calls = Counter(HANDSHAKE.get(word, word).split("_")[0] for word in words)
    return Counter({call: count * messages for call, count in calls.items()})
