"""Bursts: the interface between an initiator (host port, DMA engine) and a target (bus, memory)."""

from amaranth.hdl import Mux, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.packet import TRACE_BITS
from ..parts.sizes import check_count, check_power_of_two

__all__ = ["BurstRequest", "BurstWord", "Burst", "MAX_BEATS", "WIDTH_MAX", "beats_of"]

MAX_BEATS = 512
"""Beats of 8 bytes in the longest burst. A burst of wider beats has as many bytes at most."""

WIDTH_MAX = 64
"""Bytes of the widest beat."""


class BurstRequest(data.Struct):
    """One burst of ``beats`` (1 to MAX_BEATS) 8-byte beats at ``address`` (a multiple of 8) upward.

    ``jump_address`` (a multiple of 8): address of a write's beat with ``jump``; ignored in a burst
    without such a beat.
    """

    write: 1
    address: 32
    jump_address: 32
    beats: 10
    trace: TRACE_BITS


class BurstWord(data.Struct):
    """A beat: a write's data with byte strobes, or data read (``strobe`` unused).

    ``jump`` in a write's beat: this beat, always the burst's last, goes to the request's
    ``jump_address`` instead. It counts among ``beats`` and may be the only one. So a completion
    word that lies before its data is written after it, in one burst.
    """

    data: 64
    strobe: 8
    jump: 1


class Burst(wiring.Signature):
    """The initiator's side of bursts of ``width`` bytes a beat; up to ``tags`` bursts are under
    way.

    The initiator offers ``request``; once it is taken it gives ``beats`` write words, or takes
    ``beats`` read words, in order. ``done`` is high for the one cycle after which the burst is
    over: the last write has landed, or the last read word was handed over. It may come with the
    last word or later.

    With one tag there is one burst at a time: no request is offered before ``done``.

    With more tags a request has a ``tag`` that no burst under way has. The words of writes are
    given in the order of their requests. Words read come with ``tag``, and ``last`` in the last
    beat of a burst; those of different bursts come in any order, and may alternate. ``done`` comes
    with ``done_tag``, once for each burst, in any order.

    Addresses are multiples of ``width``, and a burst has 8 * MAX_BEATS bytes at most. Only beats of
    8 bytes have ``jump`` and ``jump_address``: for one tag the payloads of ``request`` and
    ``write`` are then :class:`BurstRequest` and :class:`BurstWord`.

    Parameters
    ----------
    width : :class:`int`
        Bytes of a beat: a power of two, 8 to WIDTH_MAX.
    tags : :class:`int`
        Bursts that may be under way at the same time, 1 to 256.

    Members
    -------
    request : ``Out(stream)``
        ``write``, ``address``, ``jump_address``, ``beats``, ``trace``; with several tags ``tag``.
    write : ``Out(stream)``
        ``data``, ``strobe`` (a bit for each byte), ``jump``.
    read : ``In(stream)``
        With one tag the word itself, else ``data``, ``tag`` and ``last``.
    done : ``In(1)``, done_tag : ``In``
        The end of a burst; ``done_tag`` only with several tags.

    Raises
    ------
    TypeError
        A parameter is not an integer.
    ValueError
        A parameter is none of the values above.
    """

    def __init__(self, width: int = 8, tags: int = 1) -> None:
        check_power_of_two("width", width, least=8, most=WIDTH_MAX)
        check_count("tags", tags)
        if tags > 256:
            raise ValueError(f"tags must be at most 256, not {tags}")
        self._width, self._tags = width, tags
        tag = {"tag": (tags - 1).bit_length()} if tags > 1 else {}
        jumps = width == 8
        request = data.StructLayout({
            "write": 1, "address": 32, **({"jump_address": 32} if jumps else {}),
            "beats": (8 * MAX_BEATS // width).bit_length(), "trace": TRACE_BITS, **tag})
        word = data.StructLayout({
            "data": 8 * width, "strobe": width, **({"jump": 1} if jumps else {})})
        read = data.StructLayout({"data": 8 * width, **tag, "last": 1})
        today = jumps and not tag
        super().__init__({
            "request": Out(stream.Signature(BurstRequest if today else request)),
            "write": Out(stream.Signature(BurstWord if jumps else word)),
            "read": In(stream.Signature(read if tag else 8 * width)),
            "done": In(1),
            **({"done_tag": In(tag["tag"])} if tag else {}),
        })

    @property
    def width(self) -> int:
        """Bytes of a beat."""
        return self._width

    @property
    def tags(self) -> int:
        """Bursts that may be under way at the same time."""
        return self._tags

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Burst) and (self.width, self.tags) == (other.width, other.tags)

    def __repr__(self) -> str:
        return f"Burst(width={self._width}, tags={self._tags})"


def beats_of(left: Value, most: Value) -> Value:
    """Beats of the next burst where ``left`` more are wanted and a burst has at most ``most``."""
    return Mux(left < most, left, most)
