"""Models around the address translator: its clients, the table as the kernel agent keeps it, and
what may be answered while it changes."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from nicbed.layouts.via import HANDLE_BITS, TRANSLATION_FLAGS, TRANSLATION_PLACE, VA_BITS
from nicbed.rtl.vi.types import TranslateRequest

from tests.labs.bench import pack

__all__ = ["Answer", "CacheModel", "Client", "Table", "Version", "allowed"]

FOREVER = 1 << 60


@dataclass
class Version:
    """An entry of the table while it was valid. Times are clock edges."""

    entry: dict[str, int]
    written: int
    """Nothing may be answered by it before."""
    visible: int
    """All that is asked from here on ..."""
    cleared: int = FOREVER
    """... and answered before this must be answered by it."""
    over: int = FOREVER
    """Nothing may be answered by it, or in use by it, from here on."""


def allowed(entry: dict[str, int] | None, request: dict[str, Any], *, page_bytes: int,
            physical: bool = False) -> tuple[int, int] | None:
    """(physical address, room) of ``request`` by ``entry``; None if that refuses it."""
    va, handle = request["address"]["va"], request["address"]["handle"]
    offset = va % page_bytes
    if (entry is None or request["wide"] or entry["handle"] != handle
            or entry["page"] != va // page_bytes >> 6 or entry["tag"] != request["tag"]
            or not entry["first"] <= offset <= entry["last"]
            or not (1, entry["rdma_write"], entry["rdma_read"], 0)[request["access"]]):
        return None
    place = va if physical else entry["frame"] * page_bytes + offset
    return place, entry["last"] - offset + 1


class Table:
    """The versions of every entry, and regions that come and go in it."""

    def __init__(self, *, entries: int, page_bytes: int, physical: bool, seed: int) -> None:
        self.entries = entries
        self.page_bytes = page_bytes
        self.physical = physical
        self.random = random.Random(seed)
        self.versions: list[list[Version]] = [[] for _ in range(entries)]
        self.regions: list[dict[str, Any]] = []
        self.stale: list[dict[str, Any]] = []

    def index(self, va: int, handle: int) -> int:
        page = va // self.page_bytes
        return (page if self.physical else page + handle) % self.entries

    def new_region(self) -> list[tuple[int, dict[str, int]]]:
        """A region at a free place: its (index, entry) pairs; none if no place was found."""
        rng = self.random
        pages = rng.choice([1, 1, 2, 3])
        if self.physical:
            page = rng.randrange(self.entries - pages)
        else:
            page = rng.randrange((1 << VA_BITS) // self.page_bytes - pages)
        handle = rng.getrandbits(HANDLE_BITS)
        indices = [self.index((page + n) * self.page_bytes, handle) for n in range(pages)]
        if any(self.versions[index] and self.versions[index][-1].over == FOREVER
               for index in indices):
            return []
        first, last = rng.randrange(self.page_bytes), rng.randrange(self.page_bytes)
        if pages == 1 and first > last:
            first, last = last, first
        tag = rng.randrange(1, 4)
        rdma = {"rdma_write": rng.getrandbits(1), "rdma_read": rng.getrandbits(1)}
        result = []
        for n, index in enumerate(indices):
            result.append((index, {
                "valid": 1, "tag": tag, **rdma, "handle": handle, "page": page + n >> 6,
                "frame": rng.getrandbits(16) % (1 << 32) // self.page_bytes,
                "first": first if n == 0 else 0,
                "last": last if n == pages - 1 else self.page_bytes - 1}))
        self.regions.append({"va": page * self.page_bytes + first, "handle": handle, "tag": tag,
                             "bytes": (pages - 1) * self.page_bytes + last - first + 1,
                             "indices": indices})
        return result

    def request(self) -> dict[str, Any]:
        """Mostly into a live region; else a stale one, or something bent."""
        rng = self.random
        pool = self.stale if self.stale and rng.random() < 0.2 else self.regions
        if not pool:
            return {"address": {"va": rng.getrandbits(VA_BITS), "handle": 1}, "tag": 1,
                    "access": 0, "wide": 0}
        region = rng.choice(pool[-12:])
        at = rng.choice([0, region["bytes"] - 1, rng.randrange(region["bytes"]),
                         rng.randrange(region["bytes"])])
        made = {"address": {"va": region["va"] + at, "handle": region["handle"]},
                "tag": region["tag"], "access": rng.choice([0, 0, 0, 1, 2]), "wide": 0}
        bend = rng.randrange(24)
        if bend == 0:
            made["tag"] ^= 1 << rng.randrange(16)
        elif bend == 1:
            made["address"]["handle"] ^= 1 << rng.randrange(HANDLE_BITS)
        elif bend == 2:
            made["address"]["va"] ^= 1 << rng.randrange(VA_BITS)
        elif bend == 3:
            # The same index, by another handle.
            made["address"]["handle"] = made["address"]["handle"] + self.entries & (1 << 26) - 1
        elif bend == 4:
            made["wide"] = 1
        elif bend == 5:
            made["address"]["va"] = region["va"] - 1 & (1 << VA_BITS) - 1
        elif bend == 6:
            made["address"]["va"] = region["va"] + region["bytes"] & (1 << VA_BITS) - 1
        elif bend == 7:
            made["access"] = 3
        return made

    def check(self, request: dict[str, Any], offered: int, answered: int,
              answer: tuple[int, int] | None) -> Version | None:
        """The version by which ``answer`` was given; fails if it must not be given."""
        index = self.index(request["address"]["va"], request["address"]["handle"])
        for version in self.versions[index]:
            want = allowed(version.entry, request, page_bytes=self.page_bytes,
                           physical=self.physical)
            if want is None:
                continue
            if answer == want and version.written <= answered < version.over:
                return version
            if answer is None:
                assert not (version.visible <= offered and answered < version.cleared), \
                    f"{request} refused at {answered}, for all of {version}"
        assert answer is None, f"{request} answered {answer} at {answered}: {self.versions[index]}"
        return None

    @staticmethod
    def words(entry: dict[str, int]) -> tuple[int, int]:
        """The two words of an entry."""
        return (TRANSLATION_FLAGS.pack(**{key: entry[key] for key in (
                    "valid", "rdma_write", "rdma_read", "tag", "first", "last")}),
                TRANSLATION_PLACE.pack(**{key: entry[key] for key in ("frame", "handle", "page")}))


@dataclass
class Answer:
    request: dict[str, Any]
    offered: int
    taken: int
    answered: int
    result: tuple[int, int] | None


@dataclass
class Client:
    """A client of the translator: offers a request, uses the answer for a while."""

    dut: Any
    number: int
    answers: list[Answer] = field(default_factory=list)
    using: Version | None = None

    def __post_init__(self) -> None:
        from cocotb.triggers import RisingEdge
        self._edge = RisingEdge(self.dut.clk)
        name = f"client__{self.number}__"
        self._valid, self._payload, self._ready, self._answer, self._ok, self._physical, \
            self._room, self._hold = (getattr(self.dut, name + part) for part in (
                "request__valid", "request__payload", "request__ready", "valid", "ok", "physical",
                "room", "hold"))

    async def ask(self, request: dict[str, Any], now: Callable[[], int],
                  check: Callable[..., Version | None] | None = None, use: int = 0,
                  limit: int = 2000) -> Answer:
        """One request, held for ``use`` cycles after its answer if that is good."""
        self._valid.value = 1
        self._payload.value = pack(TranslateRequest, request)
        self._hold.value = 1
        offered = now()
        taken = None
        for _ in range(limit):
            await self._edge
            if taken is None:
                assert self._answer.value == 0, "an answer to nothing"
                if self._ready.value == 1:
                    taken = now()
                    self._valid.value = 0
                    self._payload.value = 0
            elif self._answer.value == 1:
                break
        else:
            raise AssertionError(f"client {self.number}: no answer in {limit} cycles: {request}")
        result = (int(self._physical.value), int(self._room.value)) if self._ok.value == 1 else None
        made = Answer(request, offered, taken, now(), result)
        self.answers.append(made)
        if check is not None:
            self.using = check(request, offered, made.answered, result)
        for _ in range(use if result is not None else 0):
            await self._edge
            assert self._answer.value == 0, "a second answer"
        self._hold.value = 0
        self.using = None
        return made


class CacheModel:
    """Which indices a cache holds: exactly what translation_cache.py promises."""

    def __init__(self, *, sets: int, ways: int, replacement: str) -> None:
        self.sets, self.ways, self.replacement = sets, ways, replacement
        self.lines: list[list[int | None]] = [[None] * ways for _ in range(sets)]
        self.age = [list(range(ways)) for _ in range(sets)]
        self.chance = 1

    def _touch(self, row: int, way: int) -> None:
        age = self.age[row]
        mine = age[way]
        for other in range(self.ways):
            if age[other] < mine:
                age[other] += 1
        age[way] = 0

    def access(self, index: int, *, fills: bool) -> bool:
        """Whether ``index`` hits; ``fills``: its entry is valid."""
        row = index % self.sets
        if index in self.lines[row]:
            if self.replacement == "lru":
                self._touch(row, self.lines[row].index(index))
            return True
        if None in self.lines[row]:
            victim = self.lines[row].index(None)
        elif self.replacement == "random":
            victim = self.chance % self.ways
        else:
            victim = self.age[row].index(self.ways - 1)
        self._touch(row, victim)
        value = self.chance
        bit = (value ^ value >> 2 ^ value >> 3 ^ value >> 5) & 1
        self.chance = value >> 1 | bit << 15
        if fills:
            self.lines[row][victim] = index
        return False

    def forget(self, index: int) -> None:
        row = index % self.sets
        self.lines[row] = [None if line == index else line for line in self.lines[row]]
