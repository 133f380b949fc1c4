"""A receiver with everything around it: memory, translators, receive queues, contexts, peers."""

import random
from collections import deque
from typing import Any

from nicbed.layouts.packet import Protocol
from nicbed.layouts.via import (
    ADDRESS,
    CONTROL_SEGMENT,
    DATA_SEGMENT,
    DETAIL,
    VIA_HEADER,
    PacketKind,
    Reliability,
    RemoteOperation,
    Status,
    ViState,
)
from nicbed.rtl.parts.receive_word import ReceiveWord
from nicbed.rtl.vi.types import (
    Acknowledged,
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

from tests.labs.bench import Sink, Source, cycles, pack, parameters, seed, unpack
from tests.models.nic import BurstMemory, packet, timing
from tests.models.vi.memory import Region, TranslatorClient, VirtualMemory

__all__ = ["Answers", "Bench", "status_of"]


def status_of(operation: RemoteOperation, errors: int = 0, *,
              immediate: bool = False) -> int:
    """Status as a Completion carries it."""
    return errors | operation << 16 | (Status.IMMEDIATE if immediate else 0)


class Answers:
    """Takes answers whenever they come; ``forgotten``: the VIs of which nothing is owed any more.
    """

    def __init__(self, dut: Any, name: str) -> None:
        import cocotb
        self.taken: list[dict[str, int]] = []
        self.forgotten: list[int] = []
        cocotb.start_soon(self._run(dut, name))

    async def _run(self, dut: Any, name: str) -> None:
        from cocotb.triggers import RisingEdge
        edge = RisingEdge(dut.clk)
        getattr(dut, f"{name}__ready").value = 1
        while True:
            await edge
            if getattr(dut, f"{name}__valid").value == 1:
                answer = unpack(ControlPacket, int(getattr(dut, f"{name}__payload").value))
                if answer["kind"] == PacketKind.SEND:
                    self.forgotten.append(answer["vi"])
                else:
                    self.taken.append(answer)


class Queues:
    """The receive queues, answering ``take``: only each queue's head is known, the next comes by
    link, which must say where the next one posted is; a take of a queue waits for that."""

    def __init__(self, dut: Any, *, stall: float, seed: int) -> None:
        import cocotb
        self.posted: dict[int, deque[tuple[int, int]]] = {}
        self.lost: list[int] = []
        self._stall = stall
        self._random = random.Random(seed)
        cocotb.start_soon(self._run(dut))

    async def _run(self, dut: Any) -> None:
        from cocotb.triggers import RisingEdge
        edge = RisingEdge(dut.clk)
        asked: int | None = None
        unlinked: set[int] = set()

        def stalls() -> bool:
            return self._random.random() < self._stall

        while True:
            ready, link_ready = int(asked is None and not stalls()), int(not stalls())
            dut.take__request__ready.value = ready
            dut.take__link__ready.value = link_ready
            await edge
            dut.take__valid.value = 0
            dut.take__address.value = 0xDEAD
            if link_ready and dut.take__link__valid.value == 1:
                link = unpack(Link, int(dut.take__link__payload.value))
                unlinked.remove(link["queue"])
                queue = self.posted[link["queue"] >> 1]
                if link["lost"]:
                    self.lost.append(link["queue"])
                    queue.clear()
                else:
                    assert link["address"] == ADDRESS.pack(va=queue[0][0], handle=queue[0][1])
            if ready and dut.take__request__valid.value == 1:
                asked = int(dut.take__request__payload.value)
                assert asked & 1
            if asked is None or asked in unlinked or stalls():
                continue
            queue = self.posted.setdefault(asked >> 1, deque())
            dut.take__valid.value = 1
            dut.take__found.value = int(bool(queue))
            follow = len(queue) > 1
            dut.take__follow.value = int(follow)
            if queue:
                va, handle = queue.popleft()
                dut.take__address.value = ADDRESS.pack(va=va, handle=handle)
            if follow:
                unlinked.add(asked)
            asked = None


class Contexts:
    """Answers ContextRead in the next cycle."""

    def __init__(self, dut: Any) -> None:
        import cocotb
        self.vis: dict[int, dict[str, Any]] = {}
        cocotb.start_soon(self._run(dut))

    async def _run(self, dut: Any) -> None:
        from cocotb.triggers import RisingEdge
        edge = RisingEdge(dut.clk)
        while True:
            await edge
            vi = int(dut.context__vi.value)
            context = self.vis.get(vi)
            dut.context__data.value = pack(Context, context) if context else 0


class Bench:
    """All of it, and helpers to post descriptors and send packets.

    Attributes named as the receiver's ports hold what came out of them.
    """

    def __init__(self, dut: Any, *, stall: float = 0.0, page: int = 1024, burst: int = 256,
                 latency: int = 2, setup: int = 0, link: float = 0.0) -> None:
        base = seed() * 100
        self.dut = dut
        self.rng = random.Random(base)
        self.memory = VirtualMemory(frames=512, page=page, seed=base + 1)
        self.image = self.memory.image
        dut.timing.value = timing(max_burst=burst)
        self.buses = [BurstMemory(dut, f"memory__bus__{n}", self.image, stall=stall,
                                  seed=base + 2 + n, setup=setup + 1 - n, max_beats=burst // 8)
                      for n in range(2)]
        self.translators = [TranslatorClient(dut, f"memory__translate__{n}", self.memory,
                                             stall=stall, seed=base + 4 + n, latency=latency)
                            for n in range(3)]
        self.queues = Queues(dut, stall=stall, seed=base + 7)
        self.contexts = Contexts(dut)
        self.i = Source(dut, "i", shape=ReceiveWord, stall=max(stall / 4, link),
                        seed=base + 8)
        self.complete = Sink(dut, "reports__complete", shape=Completion, stall=stall, seed=base + 9)
        self.break_ = Sink(dut, "reports__break_", shape=Break, stall=stall, seed=base + 10)
        self.acknowledged = Sink(dut, "sender__acknowledged", shape=Acknowledged, stall=stall,
                                 seed=base + 11)
        self.read_done = Sink(dut, "sender__read_done", stall=stall, seed=base + 12)
        self.event = Sink(dut, "reports__event", shape=EngineEvent, stall=stall, seed=base + 13)
        self.control_packet = Answers(dut, "sender__control_packet")
        self.read_job = Sink(dut, "sender__read_job", shape=ReadJob, stall=stall, seed=base + 15)
        self.control = Source(dut, "control", shape=Control, stall=stall, seed=base + 16)
        self.reading = Source(dut, "sender__reading", shape=Reading, stall=stall, seed=base + 17)
        self.read_lost = Source(dut, "sender__read_lost", stall=stall, seed=base + 18)
        self.counts = dict.fromkeys(("unmatched", "duplicate", "gap", "dropped"), 0)
        self.node = 3
        self.arena: dict[int, Region] = {}
        self._used: dict[int, int] = {}
        self._trace = 0
        self._tails: dict[int, int] = {}
        import cocotb
        cocotb.start_soon(self._count())

    async def _count(self) -> None:
        from cocotb.triggers import RisingEdge
        edge = RisingEdge(self.dut.clk)
        ports = {name: getattr(self.dut, f"counts__{name}") for name in self.counts}
        while True:
            await edge
            for name, port in ports.items():
                if port.value == 1:
                    self.counts[name] += 1

    async def connect(self, vi: int, reliability: Reliability, **attributes: int) -> None:
        """Creates and connects ``vi``; its peer is VI ``vi + 100`` of the node."""
        self.contexts.vis[vi] = {
            "attributes": {"tag": 1000 + vi, "reliability": reliability, **attributes},
            "peer": {"node": self.node, "vi": vi + 100, "max_transfer": 1 << 20},
            "state": ViState.CONNECTED}
        if vi not in self.arena:
            # Descriptors: a region of their own.
            self.arena[vi] = self.memory.register(0x4000_0000 + vi * 0x10_0000, 12288,
                                                  tag=1000 + vi)
            self._used[vi] = 0
        for action in (ControlAction.CREATE, ControlAction.CONNECT):
            self.control.send({"vi": vi, "action": action.value})
        await self.settle()

    def forget(self, vi: int) -> None:
        """The next descriptor posted is the queue's first."""
        self._tails.pop(vi, None)

    def forget_results(self) -> None:
        """What came out up to now."""
        for port in (self.complete, self.break_, self.event, self.acknowledged, self.read_done,
                     self.control_packet, self.read_job):
            port.taken.clear()
        self.queues.lost.clear()

    def post_unreadable(self, vi: int, behind: int) -> tuple[int, int]:
        """Posts a descriptor where no memory is, and ``behind`` more that nobody can find."""
        place = (0x3F_0000_0000, 77)
        self._follow(vi, place)
        queue = self.queues.posted.setdefault(vi, deque())
        queue.extend([place] * (1 + behind))
        self._tails.pop(vi, None)
        return place

    def _follow(self, vi: int, place: tuple[int, int]) -> None:
        """Writes the Next of the last descriptor."""
        if vi in self._tails:
            self.memory.write(self.arena[vi].handle, self._tails[vi],
                              CONTROL_SEGMENT.pack(*place, 0, 0, 0, 0, 0, 0)[:12])

    def post(self, vi: int, segments: list[tuple[int, int, int]], *, control: int = 0,
             count: int | None = None) -> tuple[int, int]:
        """Posts a receive descriptor with data ``segments`` (VA, handle, length)."""
        address = self.describe(vi, segments, control=control, count=count)
        self._follow(vi, address)
        self._tails[vi] = address[0]
        self.queues.posted.setdefault(vi, deque()).append(address)
        return address

    def describe(self, vi: int, segments: list[tuple[int, int, int]], *, control: int = 0,
                 count: int | None = None) -> tuple[int, int]:
        """Writes a descriptor; where it is."""
        arena = self.arena[vi]
        content = CONTROL_SEGMENT.pack(0, 0, len(segments) if count is None else count, control, 0,
                                       0, 0, 0)
        content += b"".join(DATA_SEGMENT.pack(*segment) for segment in segments)
        size = -(-len(content) // 64) * 64
        if self._used[vi] + size > arena.length:
            self._used[vi] = 0
        va = arena.va + self._used[vi]
        self.memory.write(arena.handle, va, content)
        self._used[vi] += size
        return va, arena.handle

    def packet(self, vi: int, kind: PacketKind, sequence: int, content: bytes = b"", *,
               first: bool = False, last: bool = False, immediate: int | None = None,
               acknowledge: bool = False, address: tuple[int, int] | None = None,
               field: int = 0, node: int | None = None, source: int | None = None,
               bad: bool = False, comes: int = 1 << 16, held: bool = False,
               carries: bool = False) -> int:
        """Sends a packet to ``vi``; returns its trace number. ``bad``: so its last word says, of
        at most ``comes``. ``held``: but for that word, which ``release`` sends."""
        self._trace += 1
        head = VIA_HEADER.pack(destination=vi, source=vi + 100 if source is None else source,
                               sequence=sequence & 255,
                               immediate=field if immediate is None else immediate)
        payload = head.to_bytes(8, "little")
        if address is not None:
            payload += ADDRESS.pack(va=address[0], handle=address[1]).to_bytes(8, "little")
        words = packet(payload + content, source=self.node if node is None else node,
                       protocol=Protocol.VIA)
        # Bytes behind the last one are whatever the wire carried.
        if len(content) % 8:
            words[-1] |= self.rng.getrandbits(64) << 8 * (len(content) % 8) & (1 << 64) - 1
        words[0] |= DETAIL.pack(kind=kind, first=first, last=last, immediate=immediate is not None,
                                acknowledge=acknowledge, carries=carries) << 56
        end = min(len(words), comes) - 1
        sent = [{"data": word, "following": len(words) - 1, "first": int(n == 0),
                 "last": int(n == end), "bad": int(bad and n == end), "trace": self._trace}
                for n, word in enumerate(words[:end + 1])]
        self._held = sent.pop() if held else {}
        self.i.send(*sent)
        return self._trace

    def release(self, *, bad: bool) -> None:
        """Sends the word that is held."""
        self.i.send(self._held | {"bad": int(bad)})

    def message(self, vi: int, kind: PacketKind, sequence: int, content: bytes, *, mtu: int,
                immediate: int | None = None, address: tuple[int, int] | None = None,
                acknowledge: bool = True) -> int:
        """A message in packets; returns the next sequence number."""
        pieces = [content[at:at + mtu] for at in range(0, len(content), mtu)] or [b""]
        at = 0
        for number, piece in enumerate(pieces):
            last = number == len(pieces) - 1
            self.packet(vi, kind, sequence, piece, first=number == 0, last=last,
                        immediate=immediate if last else None,
                        acknowledge=last and acknowledge,
                        address=(address[0] + at, address[1]) if address else None)
            sequence += 1
            at += len(piece)
        return sequence

    async def settle(self, limit: int = 200000) -> None:
        """Until everything sent was taken and the receiver is idle."""
        from cocotb.triggers import RisingEdge
        edge = RisingEdge(self.dut.clk)
        quiet = 0
        for _ in range(limit):
            await edge
            waits = any(source._queue for source in (self.i, self.control, self.reading,
                                                    self.read_lost))
            quiet = 0 if waits or self.dut.idle.value != 1 else quiet + 1
            if quiet > 3:
                return
        raise AssertionError(f"not idle after {limit} cycles")


def values() -> dict[str, Any]:
    """The test's parameters that a Bench takes."""
    given = parameters()
    return {name: given[name] for name in ("stall", "page", "burst", "link") if name in given}


__all__ += ["cycles", "values"]
