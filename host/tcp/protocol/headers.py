"""Packets: the headers of IP and TCP, made and checked.

IP without options, never in fragments; TCP with the option of the maximum segment size on a SYN.
Node n has the address 10.0.n // 256.n % 256 + 1, so that no node is a network's own address.
"""

import struct
from dataclasses import dataclass
from enum import IntFlag
from functools import cache

from .checksum import complement_sum

__all__ = ["ACK", "BadPacket", "FIN", "Flag", "HEADERS_BYTES", "IP_BYTES", "PSH", "RST", "SYN",
           "Segment", "TCP_BYTES", "address", "pack", "parse"]

IP = struct.Struct(">BBHHHBBH4s4s")
TCP = struct.Struct(">HHIIBBHHH")
BOTH = struct.Struct(IP.format + TCP.format[1:])
OPTION = struct.Struct(">BBH")
IP_BYTES, TCP_BYTES = IP.size, TCP.size
HEADERS_BYTES = IP_BYTES + TCP_BYTES
VERSION, NOT_FRAGMENTED, LIVES, PROTOCOL = 0x45, 0x4000, 64, 6
END, NOTHING, MAXIMUM_SEGMENT = 0, 1, 2
"""Kinds of options."""


class BadPacket(Exception):
    """A packet that is dropped; the text says why."""


class Flag(IntFlag):
    """Control bits of a segment."""

    FIN = 1
    SYN = 2
    RST = 4
    PSH = 8
    ACK = 16


FIN, SYN, RST, PSH, ACK = map(int, Flag)
"""The same as plain numbers, which every packet is made of and asked for."""


@dataclass(slots=True)
class Segment:
    """A segment of TCP. ``mss`` is the option, on a SYN."""

    source: int
    destination: int
    sequence: int
    acknowledgement: int
    flags: int
    window: int = 0
    data: bytes | memoryview = b""
    mss: int | None = None

    @property
    def span(self) -> int:
        """Tells how far it goes in sequence numbers: SYN and FIN count one each."""
        flags = self.flags
        return len(self.data) + (flags & SYN > 0) + (flags & FIN > 0)


def address(node: int) -> bytes:
    """The IP address of ``node``."""
    return bytes((10, 0, node >> 8, (node & 0xFF) + 1))


_address = cache(address)


@cache
def _words(here: bytes, there: bytes) -> int:
    """The sum of the words of two addresses."""
    return complement_sum(here + there)


@cache
def _node(found: bytes) -> int:
    if found[:2] != b"\x0a\x00" or not found[3]:
        raise BadPacket("an address of no node")
    return found[2] << 8 | found[3] - 1


def pack(source: int, destination: int, segment: Segment, identification: int = 0) -> bytes:
    """The headers of ``segment`` from node ``source`` to node ``destination``; its data follow
    them."""
    here, there = _address(source), _address(destination)
    ends, data, identification = _words(here, there), segment.data, identification & 0xFFFF
    options = b"" if segment.mss is None else OPTION.pack(MAXIMUM_SEGMENT, OPTION.size, segment.mss)
    words = TCP_BYTES + len(options) << 2
    total = TCP_BYTES + len(options) + len(data)
    length = IP_BYTES + total
    # Both checksums are those of the headers' 16-bit words, which are added as numbers: a word of
    # 32 bits has the remainder of its halves.
    plain = ((VERSION << 8) + length + identification + NOT_FRAGMENTED + (LIVES << 8 | PROTOCOL)
             + ends)
    tcp = (ends + PROTOCOL + total + segment.source + segment.destination + segment.sequence
           + segment.acknowledgement + (words << 8 | segment.flags) + segment.window)
    if options:
        tcp += complement_sum(options)
    return BOTH.pack(VERSION, 0, length, identification, NOT_FRAGMENTED, LIVES, PROTOCOL,
                     0xFFFE - (plain - 1) % 0xFFFF, here, there, segment.source,
                     segment.destination, segment.sequence, segment.acknowledgement, words,
                     segment.flags, segment.window, complement_sum(data, tcp) ^ 0xFFFF, 0) + options


def parse(packet: bytes, node: int) -> tuple[int, Segment]:
    """The node that sent ``packet``, and its segment, whose data are a view of it. Bytes behind the
    IP packet's length are none of it.

    Raises
    ------
    BadPacket
        It is no whole, sound segment of TCP for ``node``.
    """
    if len(packet) < HEADERS_BYTES:
        raise BadPacket("shorter than its headers")
    (version, _, length, _, fragment, _, protocol, _, here, there, source, destination, sequence,
     acknowledgement, words, flags, window, _, _) = BOTH.unpack_from(packet)
    if version != VERSION or fragment & ~NOT_FRAGMENTED or protocol != PROTOCOL:
        raise BadPacket("no plain packet of IP with TCP")
    if complement_sum(packet[:IP_BYTES]) != 0xFFFF:
        raise BadPacket("checksum of the IP header")
    if not HEADERS_BYTES <= length <= len(packet):
        raise BadPacket("length of the IP packet")
    if there != _address(node):
        raise BadPacket("for another node")
    body = memoryview(packet)[IP_BYTES:length]
    total = length - IP_BYTES
    if complement_sum(body, _words(here, there) + PROTOCOL + total) != 0xFFFF:
        raise BadPacket("checksum of TCP")
    data = words >> 4 << 2
    if data == TCP_BYTES:
        return _node(here), Segment(source, destination, sequence, acknowledgement, flags, window,
                                    body[data:])
    if not TCP_BYTES < data <= total:
        raise BadPacket("length of the TCP header")
    return _node(here), Segment(source, destination, sequence, acknowledgement, flags, window,
                                body[data:], _maximum(bytes(body[TCP_BYTES:data])))


def _maximum(options: bytes) -> int | None:
    """The maximum segment size among ``options``."""
    at = 0
    while at < len(options) and options[at] != END:
        if options[at] == NOTHING:
            at += 1
            continue
        size = options[at + 1] if at + 1 < len(options) else 0
        if size < 2 or at + size > len(options):
            raise BadPacket("options of TCP")
        if options[at] == MAXIMUM_SEGMENT and size == OPTION.size:
            return OPTION.unpack_from(options, at)[2]
        at += size
    return None
