"""Packets: the headers of IP and TCP, made and checked.

IP without options, never in fragments; TCP with the option of the maximum segment size on a SYN.
Node n has the address 10.0.n // 256.n % 256 + 1, so that no node is a network's own address.
"""

import struct
from dataclasses import dataclass
from enum import IntFlag

from .checksum import checksum, complement_sum

__all__ = ["BadPacket", "Flag", "HEADERS_BYTES", "IP_BYTES", "Segment", "TCP_BYTES", "address",
           "pack", "parse"]

IP = struct.Struct(">BBHHHBBH4s4s")
TCP = struct.Struct(">HHIIBBHHH")
PSEUDO = struct.Struct(">4s4sHH")
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


@dataclass(slots=True)
class Segment:
    """A segment of TCP. ``mss`` is the option, on a SYN."""

    source: int
    destination: int
    sequence: int
    acknowledgement: int
    flags: int
    window: int = 0
    data: bytes = b""
    mss: int | None = None

    @property
    def span(self) -> int:
        """How far it goes in sequence numbers: SYN and FIN count one each."""
        return len(self.data) + (self.flags & Flag.SYN > 0) + (self.flags & Flag.FIN > 0)


def address(node: int) -> bytes:
    """The IP address of ``node``."""
    return bytes((10, 0, node >> 8, (node & 0xFF) + 1))


def _node(found: bytes) -> int:
    if found[:2] != b"\x0a\x00" or not found[3]:
        raise BadPacket("an address of no node")
    return found[2] << 8 | found[3] - 1


def pack(source: int, destination: int, segment: Segment, identification: int = 0) -> bytes:
    """The headers of ``segment`` from node ``source`` to node ``destination``; its data follow
    them."""
    here, there = address(source), address(destination)
    options = b"" if segment.mss is None else OPTION.pack(MAXIMUM_SEGMENT, OPTION.size, segment.mss)
    length = TCP_BYTES + len(options)
    head = TCP.pack(segment.source, segment.destination, segment.sequence, segment.acknowledgement,
                    length << 2, segment.flags, segment.window, 0, 0) + options
    total = length + len(segment.data)
    found = checksum(segment.data, complement_sum(
        PSEUDO.pack(here, there, PROTOCOL, total) + head))
    tcp = head[:16] + found.to_bytes(2, "big") + head[18:]
    plain = IP.pack(VERSION, 0, IP_BYTES + total, identification & 0xFFFF, NOT_FRAGMENTED, LIVES,
                    PROTOCOL, 0, here, there)
    return plain[:10] + checksum(plain).to_bytes(2, "big") + plain[12:] + tcp


def parse(packet: bytes, node: int) -> tuple[int, Segment]:
    """The node that sent ``packet``, and its segment. Bytes behind the IP packet's length are none
    of it.

    Raises
    ------
    BadPacket
        It is no whole, sound segment of TCP for ``node``.
    """
    if len(packet) < HEADERS_BYTES:
        raise BadPacket("shorter than its headers")
    version, _, length, _, fragment, _, protocol, _, here, there = IP.unpack_from(packet)
    if version != VERSION or fragment & ~NOT_FRAGMENTED or protocol != PROTOCOL:
        raise BadPacket("no plain packet of IP with TCP")
    if complement_sum(packet[:IP_BYTES]) != 0xFFFF:
        raise BadPacket("checksum of the IP header")
    if not HEADERS_BYTES <= length <= len(packet):
        raise BadPacket("length of the IP packet")
    if there != address(node):
        raise BadPacket("for another node")
    body = packet[IP_BYTES:length]
    if complement_sum(body, complement_sum(
            PSEUDO.pack(here, there, PROTOCOL, len(body)))) != 0xFFFF:
        raise BadPacket("checksum of TCP")
    source, destination, sequence, acknowledgement, words, flags, window, _, _ = TCP.unpack_from(
        body)
    data = words >> 4 << 2
    if not TCP_BYTES <= data <= len(body):
        raise BadPacket("length of the TCP header")
    return _node(here), Segment(source, destination, sequence, acknowledgement, flags, window,
                                body[data:], _maximum(body[TCP_BYTES:data]))


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
