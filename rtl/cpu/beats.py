"""A cache line as beats of a memory port that is wider than a word.

Host memory hands over 8 bytes a beat (:class:`Burst`), and the caches keep no data: of a line they
look at one word. So where a beat of the port has more bytes (``memory.width``), a line is a burst
of fewer beats, and the one with the word that is looked at hands that over."""

from amaranth.hdl import Cat, Const, Value

from ..parts.sizes import check_power_of_two

__all__ = ["check_beat", "line_beats", "line_read"]


def check_beat(beat_bytes: int, line_bytes: int) -> None:
    """Raise a ValueError if a line of ``line_bytes`` has no beats of ``beat_bytes``."""
    check_power_of_two("beat_bytes", beat_bytes, least=8)
    if beat_bytes > line_bytes:
        raise ValueError(f"beat_bytes must be at most line_bytes = {line_bytes}, not {beat_bytes}")


def line_beats(line_bytes: int, beat_bytes: int) -> int:
    """Beats of a line."""
    return line_bytes // beat_bytes


def line_read(address: Value, line_bits: int, beat_bits: int) -> Value:
    """The address of a burst that reads the line of ``address``, whose beat number
    ``address[beat_bits:line_bits]`` hands over the word at ``address``. All its words, one behind
    the other, are in the line."""
    line = address[line_bits:]
    if beat_bits == 3:
        return Cat(Const(0, line_bits), line)
    first = address[3:line_bits] - address[beat_bits:line_bits]
    return Cat(Const(0, 3), first[:line_bits - 3], line)
