"""The speed of the VI engine alone, measured on the wire: jobs for a lab of the ideal NIC."""

from typing import Any

from nicbed.host.port.port import Watch
from nicbed.layouts.operations import NIC_BASE
from nicbed.layouts.trace import Block, Kind
from nicbed.layouts.via import ADDRESS, DOORBELL_PAGES, PAGE, Doorbell

from tests.programs.via_raw import Raw, Region

READY = 60_000
"""Cycle by which both sides have set everything up."""


class End:
    """A node with connected VIs 1 to ``vis``, each with ``count`` receives of ``length`` posted and
    as many sends linked ahead."""

    def __init__(self, node: Any, vis: int, count: int, length: int, level: int) -> None:
        self.node, self.raw = node, Raw(node)
        self.vis, self.count, self.length, self.level = vis, count, length, level
        self.numbers: list[int] = []

    async def open(self) -> "End":
        raw, count = self.raw, self.count
        await raw.open()
        self.data = await raw.region(2 * self.length)
        self.places = await raw.region(128 * self.vis * count)
        for vi in range(1, self.vis + 1):
            await raw.connect(vi, 1 - self.node.number, vi, reliability=self.level)
            for index in range(count):
                place = self.place(vi, index)
                raw.write(self.places, place + 64, [self.data.at(self.length, self.length)])
                self.link(place + 64, index)
                await self.bell(vi, Doorbell.RECEIVE, place + 64)
                raw.write(self.places, place, [self.data.at(0, self.length)])
                self.numbers.append(int.from_bytes(self.places.read(place + 16, 3), "little"))
                self.link(place, index)
        await raw.port.flush()
        await raw.port.delay(READY - raw.port.cycle)
        return self

    def place(self, vi: int, index: int) -> int:
        return 128 * ((vi - 1) * self.count + index)

    def link(self, place: int, index: int) -> None:
        """Behind the one before it, as software that knows them all beforehand does."""
        if index:
            places: Region = self.places
            places.write(place - 128, (places.va + place).to_bytes(8, "little")
                         + places.handle.to_bytes(4, "little"))

    async def bell(self, vi: int, doorbell: Doorbell, place: int) -> None:
        self.raw.port.process = self.raw.process
        await self.raw.port.pio_write(
            NIC_BASE + DOORBELL_PAGES + vi * PAGE + doorbell,
            ADDRESS.pack(va=self.places.va + place, handle=self.places.handle))
        self.raw.port.process = 0

    async def ring_all(self) -> None:
        for index in range(self.count):
            for vi in range(1, self.vis + 1):
                await self.bell(vi, Doorbell.SEND, self.place(vi, index))
        await self.raw.port.flush()

    async def received(self) -> None:
        """Waits for the last of each VI, and first for the VI whose doorbell was the last: to look
        at the others' descriptors takes the memory from the NIC while it still receives."""
        for vi in range(self.vis, 0, -1):
            place = self.places.base + self.place(vi, self.count - 1) + 64
            await self.raw.port.poll(Watch(place + 24, 1 << 32, 1 << 32))


async def stream(lab: Any, *, vis: int, count: int, length: int, level: int = 0,
                 both: bool = False) -> dict[str, Any]:
    """``count`` messages on each of ``vis`` VIs, all rung at once: cycles in which their packets
    began on the wire, in which the first doorbell was on the bus and the last one came, in which
    each landed, and in which the last descriptor's status was in the receiver's memory."""
    ends: list[End] = [None, None]  # type: ignore[list-item]

    async def program(node: Any) -> None:
        end = ends[node.number] = await End(node, vis, count, length, level).open()
        if both or node.number == 0:
            await end.ring_all()
        if both or node.number == 1:
            await end.received()

    run = await lab.run([program, program], trace=True, limit=READY + 2_000_000)
    numbers = set(ends[0].numbers)
    begun, landed = [], []
    for event in run.events:
        if event.number in numbers and event.cycle > READY:
            if event.block == Block.SEND_LINK and event.kind == Kind.BEGIN and event.node == 0:
                begun.append(event.cycle)
            if event.block == Block.VI_RECEIVE and event.kind == Kind.END and event.node == 1:
                landed.append(event.cycle)
    rung = min(event.cycle for event in run.events if event.block == Block.BUS
               and event.node == 0 and event.kind == Kind.END and event.cycle > READY)
    last = max(event.cycle for event in run.events if event.block == Block.DOORBELL
               and event.node == 0 and event.kind == Kind.BEGIN)
    done = max(event.cycle for event in run.events if event.block == Block.BUS and event.node == 1
               and event.kind == Kind.END and event.number in numbers)
    return {"rung": rung, "last": last, "begun": begun, "landed": landed, "done": done}


async def windows(lab: Any) -> float:
    """Bytes a cycle that one VI receives, of large messages."""
    landed = (await stream(lab, vis=1, count=12, length=4096, level=1))["landed"][8:]
    return 1024 * (len(landed) - 1) / (landed[-1] - landed[0])


async def measure(lab: Any) -> dict[str, dict[str, Any]]:
    """All of it, in one simulator."""
    return {
        "one": await stream(lab, vis=1, count=1, length=8),
        "kilobyte": await stream(lab, vis=1, count=1, length=1024),
        "one_vi": await stream(lab, vis=1, count=48, length=8),
        "one_vi_reliable": await stream(lab, vis=1, count=48, length=8, level=1),
        "many": await stream(lab, vis=8, count=8, length=8),
        "many_reliable": await stream(lab, vis=8, count=8, length=8, level=1),
        **{f"both_{length}": await stream(lab, vis=1, count=count, length=length, level=1,
                                          both=True)
           for length, count in ((4096, 12), (32768, 3))},
        "both_many": await stream(lab, vis=8, count=6, length=4096, level=1, both=True),
    }
