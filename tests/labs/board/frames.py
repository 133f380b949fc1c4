"""Frames of layouts.board byte by byte: slow, plain, and apart from what is tested with them."""

import random

from nicbed.layouts.board import ESCAPE, FLAG, FLIP, HEADER, MAGIC, Kind

__all__ = ["TRICKY", "crc32", "frame", "header", "random_words", "stuffed", "words_of"]

TRICKY = [FLAG, ESCAPE, FLAG ^ FLIP, ESCAPE ^ FLIP, 0, 0xFF]
"""Bytes that a receiver could get wrong."""


def crc32(body: bytes) -> bytes:
    """Ethernet's, bit by bit, as it is sent."""
    register = 0xFFFF_FFFF
    for byte in body:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0xEDB8_8320 if register & 1 else 0)
    return (register ^ 0xFFFF_FFFF).to_bytes(4, "little")


def stuffed(body: bytes) -> bytes:
    """``body`` with its escapes and both FLAGs."""
    result = bytearray([FLAG])
    for byte in body:
        result += bytes([ESCAPE, byte ^ FLIP]) if byte in (FLAG, ESCAPE) else bytes([byte])
    return bytes(result) + bytes([FLAG])


def frame(words: list[int]) -> bytes:
    """``words`` and their CRC, as on the line."""
    body = b"".join(word.to_bytes(4, "little") for word in words)
    return stuffed(body + crc32(body))


def header(sequence: int, kind: Kind = Kind.COMMAND, magic: int = MAGIC) -> int:
    return HEADER.pack(sequence=sequence, kind=kind, magic=magic)


def random_words(rng: random.Random, count: int) -> list[int]:
    """A header and ``count`` - 1 words, of which half the bytes are tricky."""
    return [header(rng.choice([rng.randrange(256), FLAG, ESCAPE]))] + [
        int.from_bytes(bytes(rng.choice([rng.choice(TRICKY), rng.randrange(256)])
                             for _ in range(4)), "little") for _ in range(count - 1)]


def words_of(body: bytes) -> list[int] | None:
    """The words, without CRC, of what was between two FLAGs; None if that is no good frame."""
    plain = bytearray()
    escaped = False
    for byte in body:
        if byte == ESCAPE:
            escaped = True
            continue
        plain.append(byte ^ FLIP if escaped else byte)
        escaped = False
    if escaped or len(plain) % 4 or len(plain) < 8 or crc32(plain[:-4]) != plain[-4:]:
        return None
    words = [int.from_bytes(plain[at:at + 4], "little") for at in range(0, len(plain) - 4, 4)]
    return words if HEADER.get(words[0], "magic") == MAGIC else None
