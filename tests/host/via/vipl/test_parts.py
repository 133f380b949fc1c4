"""VIPL's parts alone: virtual memory, handles, table entries, descriptors, control messages."""

import random

import pytest
from nicbed.host.port.costs import Costs
from nicbed.host.port.host import Host
from nicbed.host.port.memory import ArrayMemory
from nicbed.host.port.node import Node
from nicbed.host.port.port import Port
from nicbed.host.port.services import Services
from nicbed.host.via import Process, descriptors
from nicbed.host.via.agent import channel
from nicbed.host.via.descriptors import Segment
from nicbed.host.via.engine.nic_words import BAD_TOKEN, token
from nicbed.host.via.handles import Nic, Ptag, Ring
from nicbed.host.via.regions import HandleTable, NoRoom, Region, entry
from nicbed.layouts.topologies.chain import chain
from nicbed.layouts.via import (
    ADDRESS,
    DESCRIPTOR_ALIGN,
    TRANSLATION_FLAGS,
    TRANSLATION_PLACE,
    Control,
)

from tests.programs.am import describe


def make_node(**knobs):
    description = describe({name.replace("__", "."): value for name, value in knobs.items()})
    host = Host(0, description, ArrayMemory(description.memory.bytes), chain(2, 1, 16),
                [Port(0, 0, Costs(description))], Services())
    return Node(host, host.cpus[0])


@pytest.mark.parametrize("page", [1024, 4096, 65536])
def test_virtual_memory_is_scattered_and_nobody_elses(page):
    node = make_node(via__page_bytes=page)
    processes = [Process(node, number) for number in (1, 255)]
    draw, taken = random.Random(page), []
    for process in processes:
        for _ in range(12):
            length = draw.choice([0, 1, 63, page - 1, page, 3 * page + 5])
            align = draw.choice([1, 8, 64, page])
            va = process.allocate(length, align, fresh=draw.random() < 0.3)
            assert va % align == 0 and process.mapped(va, length)
            taken.append((process, va, length, draw.randbytes(length)))
    for process, va, _, data in taken:
        process.write(va, data)
    used = set()
    for process, va, length, data in taken:
        assert process.read(va, length) == data
        pieces = process.pieces(va, length)
        assert sum(part for _, part in pieces) == length
        assert b"".join(node.memory.read(at, part) for at, part in pieces) == data
        own = {at + offset for at, part in pieces for offset in range(part)}
        assert not own & used
        used |= own
    frames = [address // page for address in processes[0]._pages.values()]
    assert frames != sorted(frames)


def test_fresh_memory_shares_no_page():
    process = Process(make_node())
    first = process.allocate(10)
    fresh = process.allocate(10, fresh=True)
    assert fresh % 4096 == 0 and fresh // 4096 != first // 4096


def test_memory_that_is_not_there():
    process = Process(make_node(memory__bytes=1 << 16))
    va = process.allocate(4096, 4096)
    with pytest.raises(ValueError, match=f"process 1 of node 0 has no memory at {va + 4096:#x}"):
        process.physical(va + 4096)
    assert process.mapped(va, 4096) and not process.mapped(va, 4097)
    assert not process.mapped(-1) and not process.mapped(va, -1)
    with pytest.raises(MemoryError, match="host memory is full"):
        process.allocate(1 << 16)
    for number in (0, 256):
        with pytest.raises(ValueError, match=f"number must be 1 to 255, not {number}"):
            Process(make_node(), number)
    with pytest.raises(ValueError, match="length must not be negative, not -1"):
        process.allocate(-1)
    for align in (0, 3, 8192):
        with pytest.raises(ValueError, match=f"power of two up to a page, not {align}"):
            process.allocate(1, align)


@pytest.mark.parametrize("size", [64, 4096, 16384])
def test_handles_lead_to_their_entries_and_never_come_again(size):
    table, draw = HandleTable(size), random.Random(size)
    held, seen = [], set()
    for _ in range(3000):
        if held and draw.random() < 0.5:
            index, pages = held.pop(draw.randrange(len(held)))
            table.give(index, pages)
            continue
        first, pages = draw.randrange(1 << 26), draw.randint(1, 9)
        try:
            handle, index = table.take(first, pages)
        except NoRoom as refused:
            assert "via.translations" in str(refused)
            continue
        assert 0 < handle < 1 << 26 and handle not in seen
        seen.add(handle)
        mine = {(first + page + handle) % size for page in range(pages)}
        assert mine == set(range(index, index + pages))
        assert not any(index < other + count and other < index + pages for other, count in held)
        held.append((index, pages))
    assert len(seen) > 500


def test_handles_run_out_rather_than_coming_again():
    table, seen = HandleTable(16384), set()
    with pytest.raises(NoRoom):
        while True:
            handle, index = table.take(5, 16384)
            assert handle not in seen
            seen.add(handle)
            table.give(index, 16384)
    assert len(seen) == 4095


@pytest.mark.parametrize("start, length, bounds", [
    (0, 4096, [(0, 4095)]), (5, 1, [(5, 5)]), (4095, 2, [(4095, 4095), (0, 0)]),
    (100, 8192, [(100, 4095), (0, 4095), (0, 99)])])
def test_entries_bound_the_region_to_the_byte(start, length, bounds):
    process = Process(make_node())
    va = process.allocate(16384, fresh=True) + start
    first = va // 4096
    frames = [process.physical((first + place) * 4096) // 4096 for place in range(len(bounds))]
    region = Region(process, va, length, Ptag(Nic(process, "nic0"), 0xBEEF), True, False,
                    (7 << 14) + 3, first, frames, 0)
    for place, (low, high) in enumerate(bounds):
        flags, where = entry(region, first + place)
        assert TRANSLATION_FLAGS.unpack(flags) == {
            "valid": 1, "rdma_write": 1, "rdma_read": 0, "reserved": 0, "tag": 0xBEEF,
            "first": low, "last": high}
        assert TRANSLATION_PLACE.unpack(where) == {
            "frame": frames[place], "handle": region.handle, "page": first + place >> 6}
    assert region.covers(va, length) and not region.covers(va, length + 1)
    assert not region.covers(va - 1, 1) and region.pages == len(bounds)


def test_descriptors_there_and_back():
    process = Process(make_node())
    segments = [Segment(0x10_0000_0123, 0x3FFFFFF, 7), Segment(1, 2, 0xFFFF_FFFF)]
    remote = Segment(9, 8)
    va = descriptors.allocate(process, 3)
    assert va % DESCRIPTOR_ALIGN == 0
    data = descriptors.pack(segments, control=Control.FENCE, immediate=5, remote=remote)
    assert len(data) == 80
    process.write(va, data)
    found = descriptors.read(process, va)
    assert found.segments == (remote._replace(length=0), *segments)
    assert (found.control, found.immediate, found.length) == (8, 5, 6)
    assert not found.done and not found.errors and not found.has_immediate
    assert descriptors.pack([], count=999, length=3)[12:14] == (999).to_bytes(2, "little")


def test_tokens_hold_an_address_or_are_bad():
    va, handle = (1 << 38) - 64, (1 << 26) - 1
    assert token(va, handle) == ADDRESS.pack(va=va, handle=handle)
    for wrong in ((va + 64, 0), (0, handle + 1)):
        assert token(*wrong) == BAD_TOKEN and BAD_TOKEN % DESCRIPTOR_ALIGN


@pytest.mark.parametrize("size, page", [(2, 1024), (128, 1024), (1024, 1024), (4096, 4096)])
def test_a_ring_over_scattered_pages(size, page):
    process = Process(make_node(via__page_bytes=page))
    va = process.allocate(8 * size, fresh=True)
    region = Region(process, va, 8 * size, Ptag(Nic(process, "nic0"), 1), False, False, 1,
                    va // page, [], 0)
    ring = Ring(region, [process.physical(va + at) for at in range(0, 8 * size, page)], size, 0)
    for count in range(2 * size + 3):
        ring.seen = count
        assert ring.next() == (process.physical(va + 8 * (count % size)),
                               (count // size + 1) % 2)


def test_control_messages_there_and_back():
    draw = random.Random(1)
    for _ in range(200):
        message = channel.Message(*(draw.randrange(1 << bits) for bits in (16, 16, 16, 8, 8, 16)),
                                  draw.randrange(1 << 24), draw.randbytes(draw.randrange(13)),
                                  draw.randbytes(draw.randrange(13)))
        words = channel.encode(77, message)
        assert channel.decode(channel.WORDS.pack(*words)) == (77, message)
        assert all(word < 1 << 64 for word in words)
