"""The receive side of the VI engine against its model, packet by packet: all kinds, all levels,
missing and repeated packets, bad packets, bad descriptors, refused accesses, broken connections."""

import random
from typing import Any

import cocotb
import pytest
from nicbed.layouts.via import ADDRESS, PacketKind, Reliability
from nicbed.rtl.vi.receive.receiver import Receiver
from nicbed.rtl.vi.types import ControlAction

from tests.labs.bench import parameters, reset_and_clock, run_bench, seed
from tests.labs.rows import more
from tests.labs.vi_receiver import Bench, values
from tests.models.vi.receiver import Described, Model, Side
from tests.rtl.vi.receive.test_receiver import small

UD, RD, RR = Reliability
VIS = 8


class Program:
    """Random packets, given to the receiver and to the model."""

    def __init__(self, bench: Bench, model: Model, bad: float) -> None:
        self.bench = bench
        self.model = model
        self.bad = bad
        self.rng = random.Random(seed())
        self.buffers = {vi: [
            bench.memory.register(0x100_0000 * vi + self.rng.randrange(1 << 20), size,
                                  tag=1000 + vi, rdma_write=writable)
            for size, writable in ((5000, False), (3000, True), (40, True))] for vi in range(VIS)}
        self.rest: dict[int, dict[str, Any]] = {}

    def segment(self, vi: int, most: int) -> tuple[int, int, int]:
        rng = self.rng
        length = rng.choice([0, 1, 8, rng.randrange(most + 1), most])
        region = rng.choice(self.buffers[vi])
        if rng.random() < 0.02:
            region = rng.choice(self.buffers[(vi + 1) % VIS])
        length = min(length, region.length)
        va = region.va + rng.randrange(region.length - length + 1)
        if rng.random() < 0.02:
            va += rng.choice([1 << 38, region.length // 2, 1 << 63])
        return va, region.handle | (rng.random() < 0.01) << 27, length

    def describe(self, vi: int, *, read: bool = False) -> Described:
        rng = self.rng
        segments = [self.segment(vi, 1500) for _ in range(rng.choice([0, 1, 2, 3, 5, 9]) + read)]
        control, count = 0, len(segments)
        if rng.random() < 0.06 and not read:
            control, count = rng.choice([(1, count), (0x10, count), (0x8000, count), (3, count),
                                         (0, 253), (0, 65535)])
        elif rng.random() < 0.5 and not read:
            control = rng.choice([4, 8, 12])
        if read:
            address = self.bench.describe(vi, segments, control=2)
        else:
            address = self.bench.post(vi, segments, control=control, count=count)
        return Described(address, segments, control, count)

    async def connect(self, vi: int) -> None:
        rng, model = self.rng, self.model
        level = rng.choice([UD, RD, RR])
        attributes = {"rdma_write": int(rng.random() < 0.9), "rdma_read": int(rng.random() < 0.8)}
        self.bench.queues.posted.pop(vi, None)
        self.bench.forget(vi)
        side = model.sides[vi] = Side(level, attributes)
        await self.bench.connect(vi, level, **attributes)
        for _ in range(rng.randrange(8)):
            side.posted.append(self.describe(vi))
        if rng.random() < 0.1:
            behind = rng.randrange(3)
            place = self.bench.post_unreadable(vi, behind)
            side.posted.extend(Described(place, [], readable=False) for _ in range(behind + 1))
        if level is not UD and rng.random() < 0.6:
            side.reading = self.describe(vi, read=True)
            va, handle = side.reading.address
            self.bench.reading.send({"vi": vi, "address": ADDRESS.pack(va=va, handle=handle)})
        self.rest.pop(vi, None)

    def abort(self, vi: int) -> None:
        self.bench.contexts.vis[vi]["state"] = 3
        self.bench.control.send({"vi": vi, "action": ControlAction.ABORT.value})
        self.model.abort(vi)

    def packet(self) -> None:
        """The next packet of some VI."""
        rng = self.rng
        vi = rng.randrange(VIS)
        side = self.model.sides.get(vi)
        if side is None:
            self.give(vi, kind=PacketKind.SEND, sequence=0, first=True, last=True)
            return
        chance = rng.random()
        if chance < 0.02:
            self.give(vi, kind=rng.randrange(8), sequence=side.expected, first=True,
                      **rng.choice([{"source": 5}, {"node": self.bench.node ^ 1}]))
        elif chance < 0.03:
            self.give(vi, kind=PacketKind.PROBE, sequence=rng.randrange(256),
                      value=rng.getrandbits(32))
        elif chance < 0.06:
            self.give(vi, kind=rng.choice([PacketKind.ACK, PacketKind.NAK]),
                      sequence=rng.randrange(256), value=rng.getrandbits(32),
                      acknowledge=rng.random() < 0.5)
        elif chance < 0.07:
            self.give(vi, kind=PacketKind.BREAK, sequence=rng.randrange(256),
                      value=rng.randrange(5))
        elif chance < 0.13:
            # Once more, or from the future.
            away = rng.choice([-1, -2, -30, 1, 2, 100]) if side.level is not UD else -1
            self.give(vi, kind=rng.randrange(4), sequence=side.expected + away, first=True,
                      last=rng.random() < 0.5, content=rng.randbytes(20), address=self.target(vi))
        elif chance < 0.20 and side.level is not UD:
            self.give(vi, kind=PacketKind.READ_REQUEST, sequence=side.expected,
                      address=self.target(vi), value=rng.getrandbits(32), acknowledge=True,
                      first=True, last=True)
        elif chance < 0.4 and side.reading is not None:
            self.give(vi, kind=PacketKind.READ_RESPONSE, sequence=side.expected,
                      content=self.content(), first=rng.random() < 0.3,
                      last=rng.random() < 0.3, acknowledge=True)
        else:
            self.part(vi, side)

    def part(self, vi: int, side: Side) -> None:
        """A new message's first packet, or the next of the one there is."""
        rng = self.rng
        rest = self.rest.get(vi)
        if rest is None or rng.random() < 0.03:
            kind = rng.choice([PacketKind.SEND, PacketKind.SEND, PacketKind.RDMA_WRITE])
            rest = self.rest[vi] = {
                "kind": kind, "parts": rng.choice([1, 1, 2, 4]), "first": True,
                "immediate": rng.getrandbits(32) if rng.random() < 0.4 else None}
        rest["parts"] -= 1
        last = rest["parts"] == 0
        if last:
            del self.rest[vi]
        skip = rng.randrange(1, 4) if side.level is UD and rng.random() < 0.05 else 0
        self.give(vi, kind=rest["kind"], sequence=side.expected + skip, first=rest["first"],
                  last=last, content=self.content(), address=self.target(vi),
                  immediate=rest["immediate"] if last or rng.random() < 0.5 else None,
                  acknowledge=last or rng.random() < 0.2)
        rest["first"] = False

    def content(self) -> bytes:
        rng = self.rng
        return rng.randbytes(rng.choice([0, 1, 7, 8, 9, rng.randrange(100), rng.randrange(1024)]))

    def target(self, vi: int) -> tuple[int, int]:
        rng = self.rng
        region = self.buffers[vi][1 if rng.random() < 0.9 else rng.randrange(3)]
        return region.va + rng.randrange(region.length * 7 // 8), region.handle

    def spoil(self, vi: int, **packet: Any) -> None:
        """The packet comes, but bad: something in its header is another's, or its data are others,
        or it ends too soon."""
        rng = self.rng
        if rng.random() < 0.1:
            vi = rng.randrange(VIS)
        for name, value in (("kind", rng.randrange(8)), ("first", rng.random() < 0.5),
                            ("last", rng.random() < 0.5), ("sequence", rng.randrange(256)),
                            ("content", self.content()), ("source", None),
                            ("address", self.target(vi))):
            if rng.random() < 0.15:
                packet[name] = value
        kind, sequence, content = (packet.pop(name) for name in ("kind", "sequence", "content"))
        if kind in (PacketKind.RDMA_WRITE, PacketKind.READ_REQUEST):
            packet["address"] = packet["address"] or self.target(vi)
        else:
            packet["address"] = None
        self.bench.packet(vi, kind, sequence, content, bad=True,
                          immediate=rng.choice([None, rng.getrandbits(32)]),
                          acknowledge=rng.random() < 0.5,
                          comes=rng.choice([1 << 16, rng.randrange(2, 130)]), **packet)
        self.model.bad_packet(vi, packet["source"] is None and packet["node"] is None, kind,
                              sequence & 255, content, first=packet["first"])

    def give(self, vi: int, *, kind: int, sequence: int, content: bytes = b"", first: bool = False,
             last: bool = False, immediate: int | None = None, acknowledge: bool = False,
             address: tuple[int, int] | None = None, value: int = 0,
             source: int | None = None, node: int | None = None) -> None:
        rng = self.rng
        carries = rng.random() < 0.3
        if carries and kind in (PacketKind.SEND, PacketKind.RDMA_WRITE, PacketKind.READ_RESPONSE):
            value = rng.getrandbits(32)
        if kind not in (PacketKind.RDMA_WRITE, PacketKind.READ_REQUEST):
            address = None
        elif address is None:
            address = (0, 0)
        if rng.random() < self.bad:
            self.spoil(vi, kind=kind, sequence=sequence, content=content, first=first, last=last,
                       address=address, source=source, node=node)
        self.bench.packet(vi, kind, sequence, content, first=first, last=last,
                          immediate=immediate, acknowledge=acknowledge, address=address,
                          field=value, source=source, node=node, carries=carries)
        self.model.packet(vi, source is None and node is None, kind, sequence & 255, content,
                          first=first, last=last, immediate=immediate, acknowledge=acknowledge,
                          address=address, value=value if immediate is None else immediate,
                          carries=carries)


def same(name: str, got: list[Any], want: list[Any]) -> None:
    for number, (one, other) in enumerate(zip(got, want, strict=False)):
        assert one == other, f"{name} {number}: got {one}, not {other}"
    assert len(got) == len(want), f"{name}: {got[len(want):]} more, {want[len(got):]} missing"


def compare(bench: Bench, model: Model) -> None:
    """All that came out, and memory."""
    completed = [{"queue": one["queue"], "address": one["address"], "silent": 1} if one["silent"]
                 else {**one, "immediate": one["immediate"] if one["status"] >> 19 & 1 else 0}
                 for one in bench.complete.taken]
    for one in completed:
        one.pop("trace", None)
    same("complete", completed, model.complete)
    for name in ("break_", "event", "acknowledged", "read_done", "control_packet", "read_job"):
        same(name, getattr(bench, name).taken, getattr(model, name))
    same("lost", bench.queues.lost, model.lost)
    assert bench.counts == model.counts
    for place, possible in model.undefined.items():
        if bench.image[place] in possible:
            model.image[place] = bench.image[place]
    assert bench.image == model.image, "memory"


@cocotb.test()
async def does_what_the_model_does(dut: Any) -> None:
    await reset_and_clock(dut)
    bench = Bench(dut, **values())
    model = Model(bench.memory)
    program = Program(bench, model, parameters()["bad"])
    for number in range(parameters()["rounds"]):
        for vi in range(VIS):
            side = model.sides.get(vi)
            if side is None or side.broken or program.rng.random() < 0.1:
                if side is not None:
                    program.abort(vi)
                    await bench.settle()
                if program.rng.random() < 0.9:
                    await program.connect(vi)
            elif program.rng.random() < 0.1:
                bench.read_lost.send(vi)
                model.read_lost(vi)
                await bench.settle()
        await bench.settle()
        # What the host wrote is not the receiver's doing.
        model.image[:] = bench.image
        model.undefined.clear()
        for _ in range(parameters()["packets"]):
            program.packet()
        await bench.settle()
        try:
            compare(bench, model)
        except AssertionError as error:
            raise AssertionError(f"round {number}: {error}") from error
        bench.forget_results()
        for one in (model.complete, model.break_, model.event, model.acknowledged,
                    model.read_done, model.control_packet, model.read_job, model.lost):
            one.clear()


@pytest.mark.parametrize("number, stall, burst, page, bad, link", [
    (2, 0.0, 256, 1024, 0.3, 0.75), more(1, 0.0, 256, 1024, 0.0, 0.0),
    more(3, 0.1, 8, 4096, 0.3, 0.0), more(2, 0.3, 64, 1024, 0.0, 0.0),
    *(more(number, 0.1 * (number % 5), 8 << number % 6, 1024 << number % 3, 0.2 * (number % 2),
           0.25 * (number % 4)) for number in range(4, 24))])
def test_does_what_the_model_does(number: int, stall: float, burst: int, page: int, bad: float,
                                  link: float) -> None:
    run_bench(small(), __file__, testcase="does_what_the_model_does", stall=stall, burst=burst,
              page=page, bad=bad, link=link, rounds=12, packets=60, seed=number, many_cycles=True)


def test_refuses_other_things() -> None:
    with pytest.raises(TypeError, match="description must be a Description, not 5"):
        Receiver(description=5)
