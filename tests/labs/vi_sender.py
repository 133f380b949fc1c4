"""Everything around the sender, in Python: work queues and scheduler, contexts, host memory, the
peers of its VIs with a lossy wire, and a record of what it did."""

import random
from collections import deque
from dataclasses import dataclass
from dataclasses import field as attribute
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge
from nicbed.layouts.packet import HEADER
from nicbed.layouts.via import (
    ATTRIBUTES,
    DETAIL,
    PEER,
    VIA_HEADER,
    PacketKind,
    Reliability,
    ViState,
)
from nicbed.rtl.parts.flit import Flit
from nicbed.rtl.parts.timing import Timing
from nicbed.rtl.vi.types import (
    Acknowledged,
    Address,
    Break,
    Completion,
    Context,
    Control,
    ControlAction,
    ControlPacket,
    EngineEvent,
    Link,
    Reading,
    ReadJob,
)

from tests.labs.bench import Monitor, Sink, Source, pack, unpack
from tests.models.nic import BurstMemory
from tests.models.vi.consumer import (
    Memory,
    TranslatorModel,
    address_segment,
    control_segment,
    data_segment,
    field,
)

__all__ = ["NODE", "Descriptor", "Lab", "Packet"]

NODE = 3


@dataclass
class Descriptor:
    """A send descriptor in memory."""

    va: int
    handle: int
    payload: bytes
    operation: int = 0
    trace: int = 0
    room: int = 64
    following: tuple[int, int] = (0, 0)


@dataclass
class Packet:
    """A packet that came out of ``tx``."""

    kind: int
    first: int
    last: int
    immediate: int
    acknowledge: int
    source: int
    destination: int
    sequence: int
    value: int
    address: int | None
    data: bytes
    trace: int
    cycle: int
    carried: int | None
    """Sequence number of the acknowledgement that it carries."""


@dataclass
class Vi:
    """What the lab knows of a VI."""

    reliability: int = 0
    state: int = ViState.CLOSED
    tag: int = 7
    owner: int = 0
    max_transfer: int = 1 << 20
    posted: dict[int, deque[tuple[int, int]]] = attribute(
        default_factory=lambda: {0: deque(), 1: deque()})
    unlinked: dict[int, bool] = attribute(default_factory=lambda: {0: False, 1: False})
    linked: dict[int, int] = attribute(default_factory=dict)

    def peer(self, number: int) -> dict[str, int]:
        """layouts.via.PEER of VI ``number``."""
        return {"node": 200 + number % 8, "vi": (number * 5 + 1) & 0xFFF,
                "route": 0x100 + number, "max_transfer": self.max_transfer}

    def context(self, number: int) -> int:
        """Its Context."""
        return pack(Context, {
            "attributes": ATTRIBUTES.pack(tag=self.tag, reliability=self.reliability,
                                          rdma_write=1, rdma_read=1),
            "peer": PEER.pack(**self.peer(number)),
            "state": self.state})


class Lab:
    """Drives every port of a Sender."""

    def __init__(self, dut: Any, *, vis: int, seed: int = 1, stall: float = 0.0, page: int = 1024,
                 beats: int = 32, timeout: int = 2000, retries: int = 4,
                 ready: float = 0.0) -> None:
        self.dut = dut
        self.random = random.Random(seed)
        self.stall = stall
        self.memory = Memory(page=page, seed=seed)
        self.vis = [Vi() for _ in range(vis)]
        self.line: deque[int] = deque()
        self.cycle = 0
        self.edge = RisingEdge(dut.clk)
        self.packets: list[Packet] = []
        self.completions: list[dict[str, int]] = []
        self.takes = 0
        self.next_cycles: list[int] = []
        self.flit_cycles: list[int] = []
        dut.surroundings__node.value = NODE
        dut.surroundings__timing.value = pack(Timing, {
            "bus_max_burst": 8 * beats, "via_retry_timeout": timeout, "via_retries": retries})
        self.translators = [TranslatorModel(dut, f"memory__translate__{n}", self.memory,
                                            stall=stall, seed=seed + n) for n in range(3)]
        self.buses = [BurstMemory(dut, f"memory__bus__{n}", self.memory.image, stall=stall,
                                  seed=seed + n, max_beats=beats) for n in range(2)]
        self.tx = Sink(dut, "tx", shape=Flit, stall=ready, seed=seed)
        self.done = Sink(dut, "reports__complete", shape=Completion, stall=stall, seed=seed + 1)
        self.breaks = Sink(dut, "reports__break_", shape=Break, stall=stall, seed=seed + 2)
        self.events = Sink(dut, "reports__event", shape=EngineEvent, stall=stall, seed=seed + 3)
        self.reading = Sink(dut, "receiver__reading", shape=Reading, stall=stall, seed=seed + 4)
        self.read_lost = Sink(dut, "receiver__read_lost", stall=stall, seed=seed + 5)
        self.control = Source(dut, "control", shape=Control)
        self.acknowledged = Source(dut, "receiver__acknowledged", shape=Acknowledged)
        self.read_done = Source(dut, "receiver__read_done")
        self.read_job = Source(dut, "receiver__read_job", shape=ReadJob)
        self.control_packet = Source(dut, "receiver__control_packet", shape=ControlPacket)
        self.links = Monitor(dut, "take__link", shape=Link)
        self.sent = self.resent = 0
        self._words: list[dict[str, int]] = []
        for run in (self._scheduler(), self._takes(), self._contexts(), self._wire()):
            cocotb.start_soon(run)

    # What surrounds it.

    def _stalls(self) -> bool:
        return self.stall > 0 and self.random.random() < self.stall

    def wake(self, queue: int) -> None:
        """Put a queue in the scheduler's line, once."""
        if queue not in self.line:
            self.line.append(queue)

    async def _scheduler(self) -> None:
        dut = self.dut
        dut.turns__wake__ready.value = 1
        offering = False
        while True:
            await self.edge
            self.cycle += 1
            dut.surroundings__now.value = self.cycle & 0xFFFF_FFFF
            self.sent += int(dut.counts__sent.value)
            self.resent += int(dut.counts__resent.value)
            if offering and dut.turns__next__ready.value == 1:
                offering = False
                self.next_cycles.append(self.cycle)
            if dut.turns__wake__valid.value == 1 and dut.turns__wake__ready.value == 1:
                self.wake(int(dut.turns__wake__payload.value))
            dut.turns__wake__ready.value = int(not self._stalls())
            if not offering and self.line and not self._stalls():
                offering = True
                dut.turns__next__payload.value = self.line.popleft()
            dut.turns__next__valid.value = int(offering)

    async def _takes(self) -> None:
        dut = self.dut
        dut.take__link__ready.value = 1
        asked: int | None = None
        while True:
            dut.take__request__ready.value = int(asked is None)
            await self.edge
            dut.take__valid.value = 0
            if dut.take__link__valid.value == 1 and dut.take__link__ready.value == 1:
                link = unpack(Link, int(dut.take__link__payload.value))
                vi = self.vis[link["queue"] >> 1]
                side = link["queue"] & 1
                assert vi.unlinked[side], "a link nobody waits for"
                vi.unlinked[side] = False
                vi.linked[side] = link["address"]
                if link["lost"]:
                    vi.posted[side].clear()
            if asked is None and dut.take__request__valid.value == 1:
                asked = int(dut.take__request__payload.value)
                self.takes += 1
            dut.take__link__ready.value = int(not self._stalls())
            if asked is None:
                continue
            vi, side = self.vis[asked >> 1], asked & 1
            if vi.unlinked[side] or self._stalls():
                continue
            dut.take__valid.value = 1
            dut.take__found.value = int(bool(vi.posted[side]))
            if vi.posted[side]:
                va, handle = vi.posted[side].popleft()
                address = field(Address, va=va, handle=handle)
                if side in vi.linked:
                    # What the sender read, not what was posted, counts.
                    address = vi.linked.pop(side)
                dut.take__address.value = address
                dut.take__follow.value = int(bool(vi.posted[side]))
                vi.unlinked[side] = bool(vi.posted[side])
            asked = None

    async def _contexts(self) -> None:
        ports = [(getattr(self.dut, f"context__{n}__vi"), getattr(self.dut, f"context__{n}__data"))
                 for n in range(2)]
        while True:
            await self.edge
            for vi, data in ports:
                number = int(vi.value) % len(self.vis)
                data.value = self.vis[number].context(number)

    async def _wire(self) -> None:
        while True:
            flits = await self.tx.receive(1)
            self._words += flits
            if flits[0]["first"]:
                self.flit_cycles.append(self.tx.cycles[len(self.tx.cycles) - len(self.tx.taken)
                                                       - 1])
            if flits[0]["last"]:
                self.packets.append(self._packet(self._words))
                self._words = []

    def _packet(self, flits: list[dict[str, int]]) -> Packet:
        header = HEADER.unpack(flits[0]["data"])
        detail = DETAIL.unpack(header["detail"])
        via = VIA_HEADER.unpack(flits[1]["data"])
        assert [flit["first"] for flit in flits] == [1] + [0] * (len(flits) - 1)
        assert all(flit["size"] == 8 for flit in flits[:-1])
        assert len({flit["trace"] for flit in flits}) == 1
        size = 8 * (len(flits) - 2) + flits[-1]["size"]
        assert header["length"] == size and header["protocol"] == 2 and header["source"] == NODE
        number = via["source"]
        peer = self.vis[number].peer(number)
        assert via["destination"] == peer["vi"] and header["destination"] == peer["node"]
        assert header["route"] == peer["route"]
        addressed = detail["kind"] in (PacketKind.RDMA_WRITE, PacketKind.READ_REQUEST)
        body = b"".join(flit["data"].to_bytes(8, "little")
                        for flit in flits[3 if addressed else 2:])
        return Packet(detail["kind"], detail["first"], detail["last"], detail["immediate"],
                      detail["acknowledge"], number, via["destination"], via["sequence"],
                      via["immediate"], flits[2]["data"] if addressed else None,
                      body[:size - (16 if addressed else 8)], flits[0]["trace"], self.cycle,
                      via["immediate"] if detail["carries"] else None)

    # What a test does.

    async def open(self, vi: int, reliability: int, *, connect: bool = True,
                   max_transfer: int = 1 << 20) -> None:
        """CREATE and CONNECT."""
        state = self.vis[vi]
        state.reliability, state.max_transfer = reliability, max_transfer
        self.control.send({"vi": vi, "action": ControlAction.CREATE.value})
        await self.control.drain()
        state.state = ViState.IDLE
        if connect:
            self.control.send({"vi": vi, "action": ControlAction.CONNECT.value})
            await self.control.drain()
            state.state = ViState.CONNECTED

    async def abort(self, vi: int) -> None:
        """As the manager breaks a VI."""
        self.vis[vi].state = ViState.ERROR
        self.control.send({"vi": vi, "action": ControlAction.ABORT.value})
        await self.control.drain()
        await self.edge
        self.wake(2 * vi)
        self.wake(2 * vi + 1)

    def buffer(self, content: bytes, *, access: int = 0) -> tuple[int, int]:
        """A region that holds ``content`` somewhere in its pages."""
        va, handle = self.memory.region(max(len(content), 1), access=access,
                                        offset=self.random.randrange(self.memory.page))
        self.memory.write(va, handle, content)
        return va, handle

    def descriptor(self, pieces: list[bytes], *, operation: int = 0, control: int | None = None,
                   trace: int = 0, immediate: int = 0, length: int | None = None,
                   remote: tuple[int, int] = (0x1234, 99), room: int | None = None,
                   segments: list[tuple[int, int, int]] | None = None,
                   count: int | None = None) -> Descriptor:
        """A descriptor and its buffers, in memory."""
        parts = [address_segment(*remote)] if operation in (1, 2) else []
        if segments is None:
            segments = [(*self.buffer(piece), len(piece)) for piece in pieces]
        parts += [data_segment(*segment) for segment in segments]
        payload = b"".join(pieces)
        body = b"".join(parts)
        image = control_segment(
            segments=len(parts) if count is None else count,
            control=operation | (4 if immediate else 0) if control is None else control,
            trace=trace, immediate=immediate,
            length=len(payload) if length is None else length) + body
        room = len(image) if room is None else room
        page = self.memory.page
        va, handle = self.memory.region(room, offset=64 * self.random.randrange(page // 64))
        self.memory.write(va, handle, image[:room])
        return Descriptor(va, handle, payload, operation, trace, room)

    def post(self, queue: int, *descriptors: Descriptor) -> None:
        """Link and post them; those of one call, before the doorbells ring."""
        vi = self.vis[queue >> 1]
        for ahead, behind in zip(descriptors, descriptors[1:], strict=False):
            if ahead.room >= 16:
                self.memory.write(ahead.va, ahead.handle,
                                  behind.va.to_bytes(8, "little")
                                  + behind.handle.to_bytes(4, "little"))
        for descriptor in descriptors:
            vi.posted[queue & 1].append((descriptor.va, descriptor.handle))
        self.wake(queue)

    async def until(self, condition: Any, limit: int, what: str) -> None:
        """Wait for ``condition()``."""
        for _ in range(limit):
            if condition():
                return
            await self.edge
        raise AssertionError(f"not after {limit} cycles: {what}")

    async def completed(self, count: int, limit: int = 20000) -> list[dict[str, int]]:
        """The next completions; their address as (va, handle)."""
        await self.until(lambda: len(self.done.taken) >= count, limit,
                         f"{count} completions, only {len(self.done.taken)}")
        return await self.done.receive(count)

    async def quiet(self, limit: int = 20000) -> None:
        """Wait until it is idle."""
        await self.until(lambda: self.dut.idle.value == 1 and not self.line, limit, "idle")

    def acknowledge(self, vi: int, sequence: int, **more: int) -> None:
        """An ACK (NAK: again=1, BREAK: broken=1) of the peer."""
        self.acknowledged.send({"vi": vi, "sequence": sequence & 0xFF, **more})


UD = Reliability.UNRELIABLE_DELIVERY
RD = Reliability.RELIABLE_DELIVERY
RR = Reliability.RELIABLE_RECEPTION
