"""The checksum of IP and TCP (RFC 1071): the one's complement of the one's complement sum of
16-bit words, big-endian, an odd byte filled up with zero."""

__all__ = ["complement_sum"]


def complement_sum(data: bytes | memoryview, start: int = 0) -> int:
    """The one's complement sum of ``data``, and of ``start``, a sum of what goes before."""
    # Modulo 2^16 - 1 a big-endian number is the sum of its 16-bit digits.
    total = int.from_bytes(data, "big")
    if len(data) & 1:
        total <<= 8
    total += start
    return 0 if not total else (total - 1) % 0xFFFF + 1
