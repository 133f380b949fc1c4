"""The times of a host port, its bus and its memory in plain Python: no DMA, no interrupts."""

from typing import Any

from nicbed.layouts.operations import ENTRY, Flag, Op, Status

__all__ = ["PortModel"]

MASK32 = (1 << 32) - 1
NIC_BASE = 0x8000_0000


class PortModel:
    """Executes entries; times are counted by hand, event by event, never cycle by cycle.

    ``timing`` has the timing knobs in cycles, and ``rate`` the memory's bytes a cycle times 2**16.
    """

    def __init__(self, timing: dict[str, int], *, posted_writes: int, cache_lines: int,
                 memory: dict[int, int] | None = None, pio_width: int = 8, l2_lines: int = 0,
                 l2_hit: int = 0) -> None:
        self.timing = timing
        self.depth = posted_writes
        self._transfers = 8 // pio_width
        self.lines = l2_lines or cache_lines
        self.inner_lines = cache_lines if l2_lines else 0
        self.l2_hit = l2_hit
        self.inner: dict[int, int] = {}
        self.now = 0
        self.fraction = 0
        self.memory = memory if memory is not None else {}
        self.tags: dict[int, tuple[int, bool]] = {}
        self.kept: dict[int, tuple[int, int]] = {}
        self.registers: dict[int, int] = {}
        self.writes: list[tuple[int, int, int, int]] = []
        self.bus_free = 0
        self.landed: list[int] = []
        self.owed = 0
        self.owed_at = 0

    # The memory port.

    def _beat(self, earliest: int) -> int:
        """Cycle of a beat that may be granted from ``earliest`` on."""
        rate = self.timing["rate"]
        while True:
            while self.owed_at < earliest and self.owed:
                self.owed = max(self.owed - rate, 0)
                self.owed_at += 1
            self.owed_at = max(self.owed_at, earliest)
            if self.owed <= rate:
                self.owed = (8 << 16) if self.owed == 0 else self.owed + (8 << 16) - rate
                self.owed_at = earliest + 1
                return earliest
            earliest += 1

    def _line(self, address: int, fetch: bool, store: bool) -> None:
        """An access to the cache from ``now`` on; ``now`` is after it."""
        line = address >> 5
        slot, tag = line % self.lines, line // self.lines
        held = self.tags.get(slot)
        hit = held is not None and held[0] == tag
        if hit and not fetch:
            assert held is not None
            self.tags[slot] = (tag, held[1] or store)
            self.now += 1 if store else self._near(line)
            return
        at = self.now
        if held is not None and not hit and held[1]:
            for _ in range(4):
                at = self._beat(at + 1)
            at += 1
        beat = at + self.timing["memory.latency"]
        for _ in range(4):
            beat = self._beat(beat + 1)
        self.now = beat + 2
        if not hit:
            if held is not None:
                self.inner = {place: near for place, near in self.inner.items()
                              if near != held[0] * self.lines + slot}
            self.tags[slot] = (tag, store)
        if not store:
            self._near(line)

    def _near(self, line: int) -> int:
        """Cycles of a load that finds the line in the cache, and brings it into the first
        level."""
        if not self.inner_lines:
            return 1
        slot = line % self.inner_lines
        near = self.inner.get(slot) == line
        self.inner[slot] = line
        return 1 if near else self.l2_hit

    # The bus.

    def _pio(self, write: bool, address: int, data: list[int], trace: int) -> tuple[list[int], int]:
        """Beats into the posted buffer from ``now`` on: cycles in which each was taken, and the
        cycle after the last was done."""
        taken = []
        at = self.now
        further = self.timing["bus.burst_beat"]
        for beat in range(len(data) if write else 1):
            number = len(self.landed)
            if number >= self.depth:
                at = max(at, self.landed[number - self.depth] + 1)
            taken.append(at)
            if beat == 0:
                first = (self.timing["bus.pio_write"] + (self._transfers - 1) * further if write
                         else self._transfers * self.timing["bus.pio_read"])
                done = max(at + 1, self.bus_free) + first - 1
            else:
                done = max(done + self._transfers * further, at + 1)
            self.landed.append(done)
            if write:
                place = (address + 8 * beat) & 0xFFFF
                self.writes.append((done, place, data[beat], trace))
                self.registers[place] = data[beat]
            at += 1
        self.bus_free = done + 1
        return taken, done + 1

    # Operations.

    def run(self, block: list[bytes]) -> list[tuple[int, int, int] | None]:
        """Answers of a block's entries: cycle, status, data. None for a WATCH's."""
        answers: list[tuple[int, int, int] | None] = []
        at = 0
        while at < len(block):
            group = [ENTRY.unpack(block[at])]
            while group[-1][0] & 15 == Op.WATCH:
                at += 1
                answers.append(None)
                group.append(ENTRY.unpack(block[at]))
            at += 1
            status, data, discard = self._poll(group) if group[-1][0] & 15 == Op.POLL \
                else self._one(group[0])
            answers.append((self.now & MASK32, status | self.fraction << 24, data))
            if discard:
                answers += [(0, Status.DISCARDED, 0)] * (len(block) - at)
                break
        return answers

    def _work(self, work: int) -> int:
        total = self.fraction + work
        self.fraction = total & 255
        self.now += total >> 8
        return total >> 8

    def _one(self, fields: tuple[Any, ...]) -> tuple[int, int, bool]:
        word, work, address, length, *data, trace = fields
        op, flags, count = word & 15, word >> 8 & 255, word >> 16 & 15
        done = self._work(work)
        trace &= (1 << 24) - 1
        if op == Op.DELAY:
            self.now += not done
        elif op == Op.STOP:
            self.now += 1
        elif op == Op.PIO_READ:
            _, self.now = self._pio(False, address, [], trace)
            return 0, self.registers.get(address & 0xFFFF, address & 0xFFFF), False
        elif op == Op.PIO_WRITE:
            taken, end = self._pio(True, address, data[:count], trace)
            self.now = taken[-1] + 1 if flags & Flag.POSTED else end
        elif op == Op.TOUCH:
            for line in range(address >> 5, (address + max(length, 1) - 1 >> 5) + 1):
                self._line(line << 5, False, bool(flags & Flag.STORE))
                if flags & Flag.STORE:
                    self._drop(line << 5)
        elif op == Op.CAS:
            beat = self._beat(self.now + 1 + self.timing["memory.latency"])
            old = self.memory.get(address, 0)
            self.now = beat + 2
            if old == data[0]:
                self.now = self._beat(beat + 3) + 1
                self.memory[address] = data[1]
            self._drop(address)
            return 0, old, False
        elif op == Op.WAIT_IRQ:
            begun = self.now - done
            self.now = max(begun + length, self.now + 1)
            return Status.TIMEOUT, 0, True
        return 0, 0, False

    def _drop(self, address: int) -> None:
        self.kept = {number: item for number, item in self.kept.items()
                     if item[0] >> 5 != address >> 5}

    def _poll(self, group: list[tuple[Any, ...]]) -> tuple[int, int, bool]:
        last = group[-1]
        timeout, once = last[3], last[0] >> 8 & Flag.ONCE
        self.now += len(group) - 1
        own = self._work(last[6] & MASK32)
        if len(group) > 1 and not own:
            self.now += 1
        begun = self.now
        while True:
            for number, fields in enumerate(group):
                check = self.now
                self._work(fields[1])
                word = self._look(number, fields[2])
                held = (word & fields[5]) == fields[4]
                if fields[0] >> 8 & Flag.NOT_EQUAL:
                    held = not held
                cycles = min(self.now - check, 65535) << 8
                if held:
                    return number << 4 | cycles, word, False
                ends = once and number == len(group) - 1
                if ends or (timeout and self.now - begun >= timeout):
                    return Status.TIMEOUT | cycles, word, not ends

    def _look(self, number: int, address: int) -> int:
        if address >= NIC_BASE:
            _, self.now = self._pio(False, address, [], 0)
            return self.registers.get(address & 0xFFFF, address & 0xFFFF)
        kept = self.kept.get(number)
        line = address >> 5
        tag = self.tags.get(line % self.lines)
        if kept is not None and kept[0] == address and tag is not None \
                and tag[0] == line // self.lines:
            self.now += self._near(line)
            return kept[1]
        self._line(address, True, False)
        self.kept[number] = (address, self.memory.get(address, 0))
        return self.memory.get(address, 0)
