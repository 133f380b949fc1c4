"""The VI engine's model under random programs, good and bad: nothing hangs, nothing is lost.

Every program ends with both sides disconnected: then all that was posted has completed, once and in
posting order, and no byte outside of what was given is written.
"""

import random

from nicbed.layouts.via import ADDRESS, Doorbell, Event, Operation, Status, ViCommand

from tests.labs.via_model import RD, RR, UD, run

VIS = 4
AREA = 4096
GUARD = 64


def garble(draw, fields, segments):
    """Makes a descriptor wrong, in one way or another."""
    kind = draw.randrange(7)
    if kind == 0:
        fields["control"] = fields.get("control", 0) | 1 << draw.randrange(4, 16)
    elif kind == 1:
        fields["length"] = draw.randrange(8192)
    elif kind == 2 and segments:
        at = draw.randrange(len(segments))
        va, handle, length = segments[at]
        segments[at] = draw.choice([(va, handle + 1, length), (va + (1 << 38), handle, length),
                                    (va, handle, length + 5000), (va - 5000, handle, length),
                                    (0, 1 << 27, length)])
    elif kind == 3:
        fields["count"] = draw.choice([0, 1, 200, 253, 65535])
    elif kind == 4:
        fields["operation"] = Operation(draw.randrange(4))
    elif kind == 5:
        fields["remote"] = (draw.randrange(1 << 38), draw.randrange(1 << 26))
    return fields, segments


async def play(raw, seed, regions, ready):
    """A random program of one node; how many completions of each queue there were."""
    me = raw.node.number
    draw = random.Random(f"{seed} {me}")
    levels = [random.Random(f"{seed} {vi}").choice([UD, RD, RR]) for vi in range(VIS)]
    area = await raw.region(AREA, start=GUARD)
    outside = await raw.region(AREA, tag=9)
    memory = raw.node.memory
    memory.write(area.base - GUARD, bytes([0xEE]) * (GUARD + AREA))
    outside.write(0, bytes([0xEE]) * AREA)
    descriptors = await raw.region(32768)
    regions[me] = area
    ring = await raw.region(8 * 16)
    await raw.completion_queue(1, ring, draw.randrange(1, 5))
    for vi in range(VIS):
        await raw.connect(vi, 1 - me, vi, reliability=levels[vi], max_transfer=6000,
                          rdma_write=draw.random() < 0.9, rdma_read=draw.random() < 0.9,
                          receive_on_cq=vi == 0, receive_cq=1, send_cq=2, send_on_cq=vi == 3
                          and draw.random() < 0.1)
    ready.append(me)
    while len(ready) < 2:
        await raw.port.delay(500)
        await raw.port.flush()
    other = regions[1 - me]
    places: dict[tuple[int, int], list[int]] = {}
    at = 0
    statuses = set()
    lost: set[int] = set()
    """VIs with a token for no descriptor: what was behind it is forgotten."""

    def segment(region):
        first = draw.randrange(AREA)
        return region.at(first, draw.choice([0, 1, 8, draw.randrange(AREA - first)])
                         if first < AREA - 8 else 0)

    for _ in range(40):
        vi, receive = draw.randrange(VIS), draw.random() < 0.55
        segments = [segment(area) for _ in range(draw.choice([0, 1, 1, 2, 5]))]
        fields = {}
        if draw.random() < 0.4:
            fields["immediate"] = draw.randrange(1 << 32)
        if not receive and draw.random() < 0.4:
            va, handle, _ = other.at(draw.randrange(AREA))
            fields["remote"] = (va, handle)
            if draw.random() < 0.4 and "immediate" not in fields:
                fields["operation"] = Operation.RDMA_READ
        elif receive:
            fields.pop("immediate", None)
            segments = [area.at(draw.randrange(64), draw.choice([0, 64, 2000, 4000]))]
        if draw.random() < 0.06:
            fields, segments = garble(draw, fields, segments)
        size = -(-(32 + 16 * (len(segments) + 1)) // 64) * 64
        chance = draw.random()
        if chance < 0.01:
            await raw.ring(vi, Doorbell(8 * receive), draw.randrange(1 << 64))
            lost.add(vi)
            continue
        if chance < 0.02:
            await raw.ring(vi, 8 * receive, ADDRESS.pack(va=descriptors.va), draw.randrange(2, 255))
            continue
        if chance < 0.03:
            await raw.command(vi, ViCommand.DISCONNECT)
        raw.write(descriptors, at, segments, **fields)
        await raw.post(vi, descriptors, at, receive=receive)
        places.setdefault((vi, receive), []).append(at)
        at += size
        if draw.random() < 0.3:
            await raw.port.delay(draw.randrange(5000))
    await raw.port.delay(60_000)
    events = await raw.events()
    for vi in range(VIS):
        await raw.command(vi, ViCommand.DISCONNECT)
    await raw.port.delay(150_000)
    await raw.port.flush()
    events += await raw.events()
    for vi in range(VIS):
        await raw.set(vi_select=vi)
        posted, completed = await raw.get("vi_posted"), await raw.get("vi_completed")
        assert posted == completed, (vi, hex(posted), hex(completed))
        for receive in (False, True):
            ends = [int.from_bytes(descriptors.read(place + 28, 4), "little")
                    for place in places.get((vi, receive), [])]
            statuses |= set(ends)
            if vi not in lost:
                assert all(end & Status.DONE for end in ends), (vi, receive, ends)
                good = [not end & Status.ERRORS for end in ends]
                after = good[next((i for i, end in enumerate(ends) if end & Status.FLUSHED),
                                  len(ends)):]
                assert not any(after), "a good one behind a flushed one"
            assert all(bin(end & Status.ERRORS & ~Status.PARTIAL).count("1") <= 1 for end in ends)
            assert all(end & Status.ERRORS != Status.PARTIAL for end in ends)
    for vi in range(VIS):
        await raw.command(vi, ViCommand.DESTROY)
    assert memory.read(area.base - GUARD, GUARD) == bytes([0xEE]) * GUARD
    assert memory.read(area.base + AREA, 64) == bytes(64)
    assert memory.read(outside.base, AREA) == bytes([0xEE]) * AREA
    return statuses, {code for code, _ in events}


def test_random_programs():
    """Over the seeds, every error of a status that the engine makes is met, and every event."""
    statuses: set[int] = set()
    events: set[int] = set()
    for seed in range(120):
        regions: dict[int, object] = {}
        ready: list[int] = []
        draw = random.Random(seed)
        loss = draw.choice([0, 0, 0.05, 0.4])
        knobs = {"via__translation": draw.choice(["cache", "table", "physical"]),
                 "via__page_bytes": draw.choice([1024, 4096]),
                 "via__window": draw.choice([1, 4, 8]), "nic__mtu": draw.choice([64, 1024]),
                 "via__retry_timeout": 3000, "via__retries": 8, "faults__seed": seed}
        if loss:
            knobs |= {"faults__drop": loss, "faults__duplicate": 0.05, "faults__corrupt": 0.02,
                      "faults__delay": 0.05, "faults__delay_cycles": 2000}

        def program(raw, seed=seed, regions=regions, ready=ready):
            return play(raw, seed, regions, ready)

        for found in run(program, program, limit=5_000_000, **knobs):
            statuses |= found[0]
            events |= found[1]
    errors = 0
    for status in statuses:
        errors |= status & Status.ERRORS
    assert errors == Status.ERRORS, hex(errors)
    assert events == {Event.POST_DESC, Event.CONN_LOST, Event.RECVQ_EMPTY, Event.VI_OVERRUN,
                      Event.RDMAW_PROT, Event.RDMAR_PROT, Event.COMP_PROT}
