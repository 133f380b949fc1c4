"""VIA without VIPL on the firmware of the NIC processor: :class:`tests.programs.via_raw.Raw` by
other means.

What tests of the engine do by registers is done by commands, the event ring and NIC memory, so that
they run unchanged. Tokens get their count.
"""

from nicbed.host.port.port import Watch
from nicbed.host.processor.loader import NicProcessor
from nicbed.host.processor.mailbox import Mailbox
from nicbed.host.via.engine.firmware import CQ_PAGE, DOORBELLS_LOST, Command
from nicbed.host.via.engine.token_posts import TOKENS
from nicbed.layouts.registers import Irq, address
from nicbed.layouts.via import CQ_ARM, EVENT, PAGE, Doorbell, Event, ViCommand

from tests.programs.via_raw import Raw, Region

__all__ = ["COUNTERS", "SLOWER", "FirmwareRaw"]

COUNTERS = ("foreign", "doorbells_lost", "events_lost", "via_unmatched", "via_duplicates",
            "via_gaps", "via_dropped", "via_resent", "via_sent", "translation_hits",
            "translation_misses")
"""The firmware's, in order; by the names that the engine's registers have."""
SLOWER = 10
"""How much longer tests wait for something than of the engine."""
SETTLED = 8000
"""Cycles after which the firmware has done what a doorbell or a completion asks of it."""
IRQ_STATUS, IRQ_ENABLE = address("irq_status"), address("irq_enable")


class FirmwareRaw(Raw):
    """The VIs of a node."""

    async def open(self) -> None:
        node, via = self.node, self.via
        self.registers: dict[str, int] = {}
        self.count: dict[tuple[int, int], int] = {}
        self.places: dict[int, int] = {}
        self.ring_base = node.allocate(8 * via.events, 64)
        self.taken = self.armings = self.invalidations = 0
        self.processor = node.service(NicProcessor)
        await self.processor.start("via", {
            "via_vis": via.vis, "via_cqs": via.cqs, "via_slots": via.send_slots,
            "via_window": via.window, "via_depth": via.queue_depth, "via_events": via.events,
            "via_event_ring": self.ring_base, "via_table": self.table,
            "via_translations": via.translations, "via_page_bytes": via.page_bytes,
            "via_cache": via.cache_sets * via.cache_ways, "via_mtu": node.description.nic.mtu,
            "via_retry_timeout": via.retry_timeout, "via_retries": via.retries})
        self.mailbox = Mailbox(self.processor)

    async def set(self, **registers: int) -> None:
        for name, word in registers.items():
            self.registers[name] = word
            if name == "vi_command":
                await self._command(word)
            elif name == "cq_config":
                await self.mailbox.call(Command.CQ, self.registers["vi_select"],
                                        self.registers["cq_base"], word)
            elif name == "invalidate":
                await self.mailbox.call(Command.INVALIDATE, word, 1)
                self.invalidations += 1
            elif name in ("irq_status", "irq_enable"):
                word = word & ~Irq.VIA | (Irq.PROCESSOR if word & Irq.VIA else 0)
                await super().set(**{name: word})

    async def command(self, vi: int, command: ViCommand) -> None:
        await self.set(vi_select=vi, vi_command=command)

    async def _command(self, command: int) -> None:
        vi = self.registers["vi_select"]
        if vi >= self.via.vis:
            return
        place = self.places.get(vi)
        if place is None:
            place = self.places[vi] = self.node.allocate(2 * 8 * TOKENS, 64)
        if command == ViCommand.CREATE and await self._state(vi) == 0:
            self.count[vi, 0] = self.count[vi, 1] = 0
        await self.mailbox.call(Command.VI, vi, command, self.registers.get("vi_attributes", 0),
                                self.registers.get("vi_peer", 0),
                                place + 8 * TOKENS << 32 | place)

    async def deregister(self, region: Region) -> None:
        size, count = self.via.page_bytes, self.via.translations
        for page in range(region.va // size, (region.va + region.length - 1) // size + 1):
            index = (page + region.handle) % count
            await self.entry(index, 0, 0)
            await self.set(invalidate=index)

    async def entry(self, index: int, flags: int, place: int) -> None:
        self.node.memory.write(self.table + 16 * index, flags.to_bytes(8, "little")
                               + place.to_bytes(8, "little"))

    async def _state(self, vi: int) -> int:
        await self.mailbox.call(Command.QUERY, vi)
        return await self.mailbox.answer(0)

    async def events(self) -> list[tuple[int, int]]:
        await self._settle()
        return await super().events()

    async def _settle(self) -> None:
        """Until the firmware has seen to what was asked of it."""
        await self.port.delay(SETTLED)
        await self.port.flush()

    async def get(self, name: str) -> int:
        if name in COUNTERS or name == "doorbells_foreign":
            await self._settle()
        if name in ("vi_state", "vi_posted", "vi_completed"):
            state = await self._state(self.registers["vi_select"])
            if name == "vi_state":
                return state
            counts = await self.mailbox.answer(1)
            return counts >> 32 if name == "vi_posted" else counts & 0xFFFF_FFFF
        if name == "via_event":
            return await self._event()
        if name == "invalidated":
            return self.invalidations & 0xFFFF
        if name == "doorbells_foreign":
            return await self._counter("foreign") + await super().get("page_refused")
        if name in COUNTERS:
            return await self._counter(name)
        return await super().get(name)

    async def _counter(self, name: str) -> int:
        self.port.process = 0
        at = self.processor.address("counters", 8 * COUNTERS.index(name))
        return await self.port.pio_read(at) & 0xFFFF_FFFF

    async def _event(self) -> int:
        size = self.via.events
        await self.port.pio_write(IRQ_STATUS, Irq.PROCESSOR)
        poll = await self.port.poll(Watch(self.ring_base + 8 * (self.taken % size),
                                          1 - (self.taken // size & 1), 1), once=True)
        if poll.timed_out:
            return 0
        self.taken += 1
        await self.port.pio_write(self.processor.address("events_taken"), self.taken)
        code, number = EVENT.get(poll.data, "code"), EVENT.get(poll.data, "number")
        if (code, number) == (Event.CATASTROPHIC, DOORBELLS_LOST):
            return await self._event()
        return EVENT.pack(valid=1, code=code, number=number)

    async def done(self, region: Region, offset: int, timeout: int = 0) -> tuple[int, int]:
        return await super().done(region, offset, SLOWER * timeout)

    async def ring(self, vi: int, doorbell: int, word: int, process: int | None = None) -> None:
        if doorbell in (Doorbell.SEND, Doorbell.RECEIVE) and process in (None, 0, self.process):
            word = self._token(vi, int(doorbell == Doorbell.RECEIVE), word)
        elif (doorbell >= Doorbell.ARM_SEND and process in (None, self.process)
                and self.node.description.processor.doorbells == "words"):
            await self.mailbox.call(Command.ARM, vi, doorbell == Doorbell.ARM_RECEIVE, word)
            return
        await self._page(CQ_PAGE + self.via.cqs + vi, doorbell, word, process)

    async def burst(self, vi: int, doorbell: int, *words: int) -> None:
        self.port.process = 0
        at = self.processor.doorbell(CQ_PAGE + self.via.cqs + vi) + doorbell
        for word in words:
            await self.port.pio_write(at, self._token(vi, int(doorbell == Doorbell.RECEIVE), word))

    def _token(self, vi: int, receive: int, word: int) -> int:
        """With its count, and in host memory, too."""
        count = self.count[vi, receive] = self.count.get((vi, receive), 0) + 1
        word = word & ~(TOKENS - 1) | count & TOKENS - 1
        if vi in self.places:
            self.node.memory.write(self.places[vi] + 8 * (TOKENS * receive + count % TOKENS),
                                   word.to_bytes(8, "little"))
        return word

    async def ring_cq(self, cq: int, place: int, word: int, process: int | None = None) -> None:
        if place == CQ_ARM:
            self.armings += 1
            word |= self.armings << 16
        await self._page(CQ_PAGE + cq, place, word, process)

    async def _page(self, page: int, place: int, word: int, process: int | None) -> None:
        self.port.process = self.process if process is None else process
        await self.port.pio_write(self.processor.doorbell(0) + page * PAGE + place, word,
                                  posted=False)
        self.port.process = 0

