"""Packets: each field of the headers, and all that is no whole, sound segment for a node."""

import random
import struct

import pytest
from nicbed.host.tcp.protocol.checksum import complement_sum
from nicbed.host.tcp.protocol.headers import (
    ACK,
    FIN,
    SYN,
    BadPacket,
    Segment,
    address,
    pack,
    parse,
)


def plain_sum(data: bytes, start: int = 0) -> int:
    """The one's complement sum, word by word (RFC 1071)."""
    total = start
    for at in range(0, len(data), 2):
        total += int.from_bytes(data[at:at + 2].ljust(2, b"\0"), "big")
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def made(data: bytes = b"hello", options: bytes = b"", source: int = 0, node: int = 1,
         fields: dict[str, int] | None = None, extra: bytes = b"") -> bytes:
    """A packet field by field, both checksums right: what differs is what a test asks for."""
    of = {"version": 0x45, "length": 40 + len(options) + len(data), "fragment": 0x4000,
          "protocol": 6, "words": 20 + len(options) << 2} | (fields or {})
    ip = struct.pack(">BBHHHBBH4s4s", of["version"], 0, of["length"], 7, of["fragment"], 64,
                     of["protocol"], 0, address(source), address(node))
    ip = ip[:10] + struct.pack(">H", plain_sum(ip) ^ 0xFFFF) + ip[12:]
    tcp = struct.pack(">HHIIBBHHH", 1000, 80, 5, 6, of["words"], SYN, 500, 0, 0) + options + data
    total = of["length"] - 20
    pseudo = ip[12:20] + struct.pack(">HH", of["protocol"], total)
    tcp = tcp[:16] + struct.pack(">H", plain_sum(pseudo + tcp) ^ 0xFFFF) + tcp[18:]
    return ip + tcp + extra


@pytest.mark.parametrize("seed", range(40))
def test_sums_are_those_of_words(seed):
    rng = random.Random(seed)
    data = rng.randbytes(rng.randrange(70)) if seed % 4 else b"\xff" * (seed + seed % 3)
    start = rng.choice([0, 1, 0xFFFF, rng.randrange(1 << 20)])
    assert complement_sum(data, start) == plain_sum(data, start)


def test_the_sum_of_nothing_is_zero_and_of_ones_is_not():
    """Zero has two forms, and only what is all zero has the sum zero."""
    assert complement_sum(b"") == complement_sum(bytes(9)) == 0
    assert complement_sum(b"\xff\xff") == complement_sum(b"\xff\xfe", 1) == 0xFFFF
    assert complement_sum(b"\1") == 0x100


@pytest.mark.parametrize("node, found", [(0, (10, 0, 0, 1)), (254, (10, 0, 0, 255)),
                                         (256, (10, 0, 1, 1)), (1000, (10, 0, 3, 233))])
def test_addresses(node, found):
    assert tuple(address(node)) == found


@pytest.mark.parametrize("seed", range(30))
def test_what_is_packed_is_parsed_and_each_byte_is_where_it_belongs(seed):
    rng = random.Random(seed)
    here, there = rng.randrange(60_000), rng.randrange(60_000)
    while here & 0xFF == 255 or there & 0xFF == 255:
        here, there = rng.randrange(60_000), rng.randrange(60_000)
    segment = Segment(rng.randrange(1 << 16), rng.randrange(1 << 16), rng.randrange(1 << 32),
                      rng.randrange(1 << 32), rng.randrange(32), rng.randrange(1 << 16),
                      rng.randbytes(rng.randrange(50)), rng.choice([None, 1, 536, 65535]))
    number = rng.randrange(1 << 20)
    packet = pack(here, there, segment, number) + bytes(segment.data)
    head = 40 if segment.mss is None else 44
    assert len(packet) == head + len(segment.data)
    assert plain_sum(packet[:20]) == 0xFFFF
    assert plain_sum(packet[20:], plain_sum(packet[12:20]) + 6 + len(packet) - 20) == 0xFFFF
    assert struct.unpack_from(">BBHHHBB", packet) == (
        0x45, 0, len(packet), number & 0xFFFF, 0x4000, 64, 6)
    assert struct.unpack_from(">HHIIBBH", packet, 20) == (
        segment.source, segment.destination, segment.sequence, segment.acknowledgement,
        head - 20 << 2, segment.flags, segment.window)
    if segment.mss is not None:
        assert packet[40:44] == struct.pack(">BBH", 2, 4, segment.mss)
    node, found = parse(packet + b"beyond the length", there)
    found.data = bytes(found.data)
    assert node == here and found == segment


@pytest.mark.parametrize("flags, length, span", [
    (0, 0, 0), (SYN, 0, 1), (FIN, 0, 1), (SYN | FIN, 3, 5), (ACK, 3, 3), (ACK | FIN, 3, 4)])
def test_syn_and_fin_count_one(flags, length, span):
    assert Segment(0, 0, 0, 0, flags, 0, bytes(length)).span == span


def test_a_packet_field_by_field_is_sound():
    node, segment = parse(made(), 1)
    assert (node, bytes(segment.data), segment.mss) == (0, b"hello", None)
    assert parse(made(b""), 1)[1].span == 1


@pytest.mark.parametrize("packet, told", [
    (made()[:39], "shorter than its headers"),
    (b"", "shorter than its headers"),
    (made(fields={"version": 0x46}), "no plain packet"),
    (made(fields={"version": 0x65}), "no plain packet"),
    (made(fields={"fragment": 0x6000}), "no plain packet"),
    (made(fields={"fragment": 0x0001}), "no plain packet"),
    (made(fields={"protocol": 17}), "no plain packet"),
    (made(fields={"length": 39}), "length of the IP packet"),
    (made(fields={"length": 46}), "length of the IP packet"),
    (made(node=2), "for another node"),
    (made(fields={"words": 19 << 2}), "length of the TCP header"),
    (made(fields={"words": 16 << 2}), "length of the TCP header"),
    (made(fields={"words": 28 << 2}), "length of the TCP header"),
    (made(options=b"\2", data=b"", fields={"words": 24 << 2}), "length of the TCP header"),
    (made(options=b"\2\0\0\0"), "options of TCP"),
    (made(options=b"\2\1\0\0"), "options of TCP"),
    (made(options=b"\2\5\0\0"), "options of TCP"),
    (made(options=b"\1\1\1\2", data=b""), "options of TCP"),
])
def test_segments_for_other_nodes_are_refused(packet, told):
    with pytest.raises(BadPacket, match=told):
        parse(packet, 1)


def test_a_fragments_flag_may_be_missing():
    assert parse(made(fields={"fragment": 0}), 1)[0] == 0


@pytest.mark.parametrize("here", [b"\x0a\x01\x00\x01", b"\x0b\x00\x00\x01", b"\x0a\x00\x00\x00"])
def test_an_address_of_no_node_is_refused(here):
    packet = bytearray(made())
    old = bytes(packet[12:16])
    packet[12:16] = here
    for at in (10, 36):  # both checksums have the address in them
        had = int.from_bytes(packet[at:at + 2], "big") ^ 0xFFFF
        less = plain_sum(bytes(byte ^ 0xFF for byte in old), had)
        packet[at:at + 2] = (plain_sum(here, less) ^ 0xFFFF).to_bytes(2, "big")
    with pytest.raises(BadPacket, match="an address of no node"):
        parse(bytes(packet), 1)


@pytest.mark.parametrize("options, mss", [
    (b"\2\4\2\x18", 0x218), (b"\1\1\1\1\2\4\2\x18", 0x218), (b"\3\3\7\2\4\2\x18\0", 0x218),
    (b"\3\2\2\4\2\x18\0\0", 0x218), (b"\0\2\4\2\x18\0\0\0", None), (b"\1\1\1\1", None),
    (b"\2\3\5\0", None), (b"\1\1\3\2", None)])
def test_options_are_gone_through(options, mss):
    node, segment = parse(made(b"xy", options), 1)
    assert segment.mss == mss and bytes(segment.data) == b"xy"


@pytest.mark.parametrize("at", range(45))
def test_each_byte_that_is_spoilt_is_noticed(at):
    packet = bytearray(made())
    packet[at] ^= 0x10
    with pytest.raises(BadPacket):
        parse(bytes(packet), 1)
