"""Random programs for the VI engine, played: on the model or on the target, the same way."""

import random
from dataclasses import dataclass, field
from typing import Any

from nicbed.layouts.registers import address
from nicbed.layouts.via import (
    ADDRESS,
    ATTRIBUTES,
    CONTROL_SEGMENT,
    PEER,
    Doorbell,
    RemoteOperation,
    Status,
    ViCommand,
)

from tests.programs.via_random.plan import MAX_TRANSFER, TAGS, Area, Pair, Plan, Post, drawn, spread
from tests.programs.via_raw import Raw, Region

__all__ = ["Outcome", "Program", "settings"]

CQ_LOG, CQ_SMALL = 7, 1
COUNTERS = ("process_refused", "doorbells_foreign", "doorbells_lost", "events_lost",
            "via_unmatched", "via_duplicates", "via_gaps", "via_dropped", "via_resent", "via_sent")


def settings(seed: int) -> dict[str, Any]:
    """Timing knobs of a program: half of them have faults."""
    draw = random.Random(f"{seed} settings")
    if draw.random() < 0.5:
        return {"via.retry_timeout": 12000, "via.retries": 3}
    rate = draw.choice([0.01, 0.05, 0.15])
    found = {"via.retry_timeout": 3000, "via.retries": 60, "faults.seed": seed}
    for kind in draw.choice([["drop"], ["duplicate"], ["corrupt"], ["delay"],
                             ["drop", "duplicate", "corrupt", "delay"]]):
        found[f"faults.{kind}"] = rate
    return found | {"faults.delay_cycles": 700}


@dataclass
class Outcome:
    """What came of one round at one node."""

    words: dict[tuple[int, bool], list[tuple[int, int, int]]] = field(default_factory=dict)
    """Of each queue, of each post in order: Status, Length, ImmediateData."""
    states: dict[int, int] = field(default_factory=dict)
    """Of each VI, before all are disconnected."""
    events: list[tuple[int, int]] = field(default_factory=list)
    """Before all are disconnected: code and VI."""
    later: list[tuple[int, int]] = field(default_factory=list)
    counts: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Of each VI: vi_posted, vi_completed."""
    counters: dict[str, int] = field(default_factory=dict)
    cq: list[int] = field(default_factory=list)
    """Entries of the completion queue."""
    prey: bytes = b""
    """What is in the memory that may be deregistered, at the end."""
    before: bytes = b""
    after: bytes = b""
    """The whole memory."""


class Program:
    """The program of a seed: two nodes, two rounds."""

    def __init__(self, seed: int, vis: int = 8, rounds: int = 2) -> None:
        self.seed, self.vis, self.rounds = seed, vis, rounds
        self.settings = settings(seed)
        self.faulty = any(name in ("faults.drop", "faults.corrupt", "faults.duplicate",
                                   "faults.delay") for name in self.settings)
        self.areas: list[dict[str, Area]] = [{}, {}]
        self.plans: list[Plan] = []
        self.outcomes: list[list[Outcome]] = [[], []]
        self.arrived: dict[str, int] = {}

    @property
    def programs(self) -> list[Any]:
        return [self.play, self.play]

    async def meet(self, raw: Raw, name: str) -> None:
        """Until both nodes are here."""
        await raw.port.flush()
        self.arrived[name] = self.arrived.get(name, 0) + 1
        while self.arrived[name] < 2:
            await raw.port.delay(400)
            await raw.port.flush()

    async def play(self, node: Any) -> None:
        raw = Raw(node)
        await raw.open()
        draw = random.Random(f"{self.seed} {node.number}")
        await self.prepare(raw, draw)
        await self.meet(raw, "prepared")
        for number in range(self.rounds):
            if len(self.plans) == number:
                self.plans.append(drawn(f"{self.seed} {number}", self.areas, self.vis,
                                        self.faulty, number > 0))
            await Round(self, raw, number, draw).play()

    async def prepare(self, raw: Raw, draw: random.Random) -> None:
        """Registers the memory and fills it."""
        areas = self.areas[raw.node.number]

        async def area(name: str, length: int, tag: int, **enables: int) -> None:
            region = await raw.region(length, tag=tag, start=draw.randrange(1, 512), **enables)
            content = draw.randbytes(length)
            region.write(0, content)
            areas[name] = Area(raw.node.number, region, content)

        for tag in TAGS:
            await area(f"source {tag}", 6000, tag, rdma_write=0)
            await area(f"sink {tag}", 60000, tag, rdma_write=0, rdma_read=0)
            await area(f"target {tag}", 30000, tag, rdma_read=0)
            region = await raw.region(32768, tag=tag)
            areas[f"descriptors {tag}"] = Area(raw.node.number, region, b"")
        await area("victim", 700, TAGS[0])
        await area("prey", 1500, TAGS[0])
        for name, tag, entries in (("cq", 5, CQ_LOG), ("cq small", 5, CQ_SMALL), ("cq bad", 6, 4)):
            region = await raw.region(8 << entries, tag=tag)
            areas[name] = Area(raw.node.number, region, b"")


class Round:
    """A round at one node."""

    def __init__(self, program: Program, raw: Raw, number: int, draw: random.Random) -> None:
        self.program, self.raw, self.number, self.draw = program, raw, number, draw
        self.node = raw.node.number
        self.plan = program.plans[number]
        self.areas = program.areas[self.node]
        self.outcome = Outcome()
        program.outcomes[self.node].append(self.outcome)

    def mine(self, pair: Pair) -> int:
        return pair.vis[self.node]

    def is_dead(self, pair: Pair) -> bool:
        return any(cause.name == "dead" and cause.node == self.node for cause in pair.causes)

    async def play(self) -> None:
        raw, plan, node = self.raw, self.plan, self.node
        meet = lambda name: self.program.meet(raw, f"{name} {self.number}")  # noqa: E731
        posts = []
        for pair in plan.pairs:
            for queue in (pair.receives[node], pair.sends[node]):
                for post in queue:
                    self.write(post, pair.tags[node])
                posts.append(list(queue))
        memory = raw.node.memory
        for number, (name, log, tag) in enumerate((("cq", CQ_LOG, 5), ("cq small", CQ_SMALL, 5),
                                                   ("cq bad", 4, 5)), 1):
            self.areas[name].region.write(0, bytes(8 << log))
            await raw.completion_queue(number, self.areas[name].region, log, tag=tag)
        await self.open()
        if self.number:
            await raw.deregister(self.areas["victim"].region)
        self.outcome.before = memory.read(0, memory.size)
        early = self.draw.random() < 0.5
        if early:
            await self.connect()
        await self.shuffled(posts[::2])
        if not early:
            await self.connect()
        await meet("offered")
        await self.shuffled(posts[1::2] + [[action] for action in plan.actions[node]])
        await self.settle()
        await meet("settled")
        await self.settle()
        for pair in plan.pairs:
            await raw.set(vi_select=self.mine(pair))
            self.outcome.states[self.mine(pair)] = await raw.get("vi_state")
        self.outcome.events += await raw.events()
        await meet("known")
        await self.close()
        await self.settle()
        await meet("closed")
        await self.look()
        await meet("looked")

    def write(self, post: Post, tag: int) -> None:
        if post.unreadable:
            return
        area = self.areas[f"descriptors {tag}"]
        size = 32 + 16 * (len(post.segments) + ("remote" in post.fields))
        post.offset = area.take(-(-size // 64) * 64, 64 * self.draw.randrange(2))
        self.raw.write(area.region, post.offset, post.segments, **post.fields)

    async def open(self) -> None:
        """All VIs idle."""
        for pair in self.plan.pairs:
            attributes = {"tag": pair.tags[self.node], "reliability": int(pair.level)}
            if pair.vis[self.node] == 1:
                attributes |= {"receive_on_cq": 1, "receive_cq": 1}
            if pair.vis[self.node] in (1, 2):
                attributes |= {"send_on_cq": 1, "send_cq": 1}
            pair.attributes[self.node].update({**attributes, **pair.attributes[self.node]})
            await self.raw.create(self.mine(pair), **pair.attributes[self.node])

    async def connect(self) -> None:
        raw, peer = self.raw, 1 - self.node
        for pair in self.plan.pairs:
            if not self.is_dead(pair):
                await self.reconnect(raw, pair, peer)

    async def reconnect(self, raw: Raw, pair: Pair, peer: int) -> None:
        fields = {"owner": raw.process, "rdma_write": 1, "rdma_read": 1}
        await raw.set(
            vi_attributes=ATTRIBUTES.pack(**fields | pair.attributes[self.node]),
            vi_peer=PEER.pack(node=peer, vi=pair.vis[peer], route=raw.node.route(peer),
                              max_transfer=MAX_TRANSFER))
        await raw.command(self.mine(pair), ViCommand.CONNECT)

    async def shuffled(self, queues: list[list[Any]]) -> None:
        """Posts and does what is in the queues: each in order, between them in any."""
        queues = [list(queue) for queue in queues if queue]
        while queues:
            queue = self.draw.choice(queues)
            what = queue.pop(0)
            if not queue:
                queues.remove(queue)
            if isinstance(what, Post):
                await self.post(what)
            else:
                await getattr(self, what[0])(what[1])
            if self.draw.random() < 0.3:
                await self.raw.port.delay(self.draw.randrange(600))

    async def post(self, post: Post) -> None:
        tag = next(pair.tags[self.node] for pair in self.plan.pairs
                   if pair.vis[self.node] == post.vi)
        region = self.areas[f"descriptors {tag}"].region
        if not post.unreadable:
            await self.raw.post(post.vi, region, post.offset, receive=post.receive)
            return
        va, handle = post.fields["token"]
        scratch = Region(self.raw, va, handle, 0, self.raw.table - 64)
        await self.raw.post(post.vi, scratch, 0, receive=post.receive)

    # Other actions

    async def foreign(self, what: tuple[int, int, int, int]) -> None:
        vi, place, word, process = what
        await self.raw.ring(vi, place, word, process)

    async def trespass(self, register: str) -> None:
        """A process that is not the kernel writes to a kernel register."""
        self.raw.port.process = self.raw.process
        await self.raw.port.pio_write(address(register), self.draw.randrange(1 << 14),
                                      posted=False)
        self.raw.port.process = 0

    async def arm(self, what: tuple[int, int]) -> None:
        vi, receive = what
        await self.raw.ring(vi, Doorbell.ARM_RECEIVE if receive else Doorbell.ARM_SEND, 0)

    async def misaligned(self, what: tuple[int, int, tuple[int, int]]) -> None:
        vi, receive, (va, handle) = what
        await self.raw.ring(vi, 8 * receive, ADDRESS.pack(va=va, handle=handle))

    async def disconnect(self, vi: int) -> None:
        await self.raw.port.delay(self.draw.randrange(3000))
        await self.raw.command(vi, ViCommand.DISCONNECT)

    async def deregister(self, name: str) -> None:
        await self.raw.port.delay(self.draw.randrange(3000))
        await self.raw.deregister(self.areas[name].region)
        content = self.draw.randbytes(self.areas[name].region.length)
        self.areas[name].region.write(0, content)
        self.areas[name].content = content

    # The end

    async def progress(self) -> tuple[int, ...]:
        raw = self.raw
        done = sum(raw.node.memory.read(area.region.base, area.region.length).count(b"\x01")
                   for name, area in self.areas.items() if name.startswith("descriptors"))
        return (done, await raw.get("via_sent"), await raw.get("via_resent"),
                await raw.get("packets_received"))

    def under_way(self) -> bool:
        """Whether something is still to come here on a connection that nothing breaks. Time-outs in
        a row may keep that silent for long."""
        memory = self.raw.node.memory

        def done(pair: Pair, post: Post) -> bool:
            region = self.areas[f"descriptors {pair.tags[self.node]}"].region
            return bool(CONTROL_SEGMENT.unpack(region.read(post.offset, 32))[7] & Status.DONE)

        for pair in self.plan.pairs:
            if pair.causes or not pair.reliable:
                continue
            coming = pair.sends[1 - self.node]
            if not all(done(pair, post) for post in pair.sends[self.node]) or sum(
                    done(pair, post) for post in pair.receives[self.node]) < sum(
                    post.consumes for post in coming):
                return True
            if any(memory.read(place, len(part)) != part for post in coming
                   if post.operation == RemoteOperation.RDMA_WRITE
                   for place, part in spread(post.places, post.payload)):
                return True
        return False

    async def settle(self) -> None:
        """Until nothing happens any more."""
        wait = int(self.program.settings["via.retry_timeout"] * 1.3)
        before: tuple[int, ...] = ()
        while (now := await self.progress()) != before or self.under_way():
            before = now
            await self.raw.port.delay(wait)
            await self.raw.port.flush()

    async def close(self) -> None:
        """Disconnects all; all that was posted completes."""
        for pair in self.plan.pairs:
            vi = self.mine(pair)
            await self.raw.command(vi, ViCommand.DISCONNECT)
            for _ in range(60):
                posted, completed = await self.raw.get("vi_posted"), await self.raw.get(
                    "vi_completed")
                if posted == completed:
                    break
                await self.raw.port.delay(500)
            self.outcome.counts[vi] = posted, completed

    async def look(self) -> None:
        raw, outcome, node = self.raw, self.outcome, self.node
        outcome.later += await raw.events()
        for name in COUNTERS:
            outcome.counters[name] = await raw.get(name)
        memory = raw.node.memory
        outcome.prey = self.areas["prey"].content
        outcome.after = memory.read(0, memory.size)
        for pair in self.plan.pairs:
            region = self.areas[f"descriptors {pair.tags[node]}"].region
            for queue in (pair.receives[node], pair.sends[node]):
                for post in queue:
                    words = CONTROL_SEGMENT.unpack(region.read(post.offset, 32)) \
                        if not post.unreadable else (0,) * 8
                    outcome.words.setdefault((post.vi, post.receive), []).append(
                        (words[7], words[6], words[5]))
            await raw.command(self.mine(pair), ViCommand.DESTROY)
        cq = self.areas["cq"].region
        outcome.cq = [int.from_bytes(cq.read(place, 8), "little")
                      for place in range(0, 8 << CQ_LOG, 8)]

