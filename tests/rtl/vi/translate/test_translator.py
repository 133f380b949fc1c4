"""The address translator: answers by the table, exact invalidation, hits, misses, latency."""

import random
from typing import Any

import cocotb
import pytest
from nicbed.layouts.description import Description
from nicbed.layouts.trace import Block, Kind
from nicbed.rtl.vi.translate.translation_cache import TranslationCache
from nicbed.rtl.vi.translate.translation_table import TranslationTable
from nicbed.rtl.vi.translate.translator import Translator

from tests.labs.bench import cycles, parameters, reset_and_clock, run_bench, seed
from tests.labs.rows import more
from tests.models.nic import BurstMemory, Events
from tests.models.vi.translation import CacheModel, Client, Table, allowed

BASE = 0x1230


class Bench:
    """A translator with its table, memory, clients, a clock and counters."""

    def __init__(self, dut: Any) -> None:
        from cocotb.triggers import RisingEdge
        self.dut = dut
        self.values = values = parameters()
        self.scheme = values["translation"]
        self.edge = RisingEdge(dut.clk)
        self.time = 0
        self.hits: list[int] = []
        self.misses: list[int] = []
        self.walked = 0
        self.table = Table(entries=values["translations"], page_bytes=values["page_bytes"],
                           physical=self.scheme == "physical", seed=seed())
        self.image = bytearray(random.Random(seed()).randbytes(BASE))
        self.image += bytes(16 * values["translations"])
        self.clients = [Client(dut, number) for number in range(values["clients"])]

    async def start(self, *, setup: int = 0, stall: float = 0.0) -> None:
        beats = self.values.get("beats", 32)
        await reset_and_clock(self.dut, registers__table_base=BASE, max_beats=beats)
        self.memory = BurstMemory(self.dut, "bus", self.image, stall=stall, seed=seed(),
                                  setup=setup, max_beats=min(beats, 2))
        cocotb.start_soon(self._watch())
        for _ in range(self.values["translations"]):
            if self.dut.ready.value == 1:
                break
            await self.edge
        assert self.dut.ready.value == 1

    async def _watch(self) -> None:
        dut = self.dut
        while True:
            await self.edge
            self.time += 1
            self.walked += int(dut.registers__walking.value)
            if dut.registers__hit.value == 1:
                self.hits.append(self.time)
            if dut.registers__miss.value == 1:
                self.misses.append(self.time)

    def now(self) -> int:
        return self.time

    async def put(self, index: int, word: int | None, place: int | None) -> None:
        """Write an entry, place first; a None is left as it is."""
        if self.scheme == "cache":
            at = BASE + 16 * index
            if place is not None:
                self.image[at + 8:at + 16] = place.to_bytes(8, "little")
                await self.edge
            self.image[at:at + 8] = (word or 0).to_bytes(8, "little")
            return
        self.dut.registers__table__valid.value = 1
        self.dut.registers__table__index.value = index
        self.dut.registers__table__flags.value = word or 0
        self.dut.registers__table__place.value = place or 0
        await self.edge
        self.dut.registers__table__valid.value = 0

    async def register(self) -> None:
        from tests.models.vi.translation import Version
        for index, entry in self.table.new_region():
            version = Version(entry, written=self.time, visible=1 << 60)
            self.table.versions[index].append(version)
            await self.put(index, *Table.words(entry))
            version.visible = self.time + 2

    async def deregister(self) -> None:
        region = self.table.regions.pop(self.table.random.randrange(len(self.table.regions)))
        self.table.stale.append(region)
        for index in region["indices"]:
            version = self.table.versions[index][-1]
            version.cleared = self.time
            await self.put(index, None, None)
            # As soon as the entry is gone its memory is other things' again.
            await self.invalidate(index)
            version.over = self.time
            assert all(client.using is not version for client in self.clients), \
                f"entry {index} is in use after its invalidation"

    async def invalidate(self, index: int) -> None:
        dut = self.dut
        before = int(dut.registers__invalidated.value)
        dut.registers__invalidate__payload.value = index
        dut.registers__invalidate__valid.value = 1
        while True:
            await self.edge
            if dut.registers__invalidate__ready.value == 1:
                break
        dut.registers__invalidate__valid.value = 0
        for _ in range(3000):
            await self.edge
            now = int(dut.registers__invalidated.value)
            if now != before:
                assert now == (before + 1) % 65536
                return
        raise AssertionError("invalidation does not end")


@cocotb.test()
async def answers_by_the_table(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start(setup=bench.values["setup"], stall=bench.values["stall"])
    events = Events(dut, "events__0")
    table = bench.table
    count = bench.values["count"]
    done = []

    async def client(which: Client) -> None:
        rng = random.Random(seed() * 100 + which.number)
        for _ in range(count):
            for _ in range(rng.choice([0, 0, 0, 1, 5])):
                await bench.edge
            await which.ask(table.request(), bench.now, table.check,
                            use=rng.choice([0, 1, 3, 10, 40]))
        done.append(which)

    async def kernel() -> None:
        rng = random.Random(seed() + 1)
        while len(done) < len(bench.clients):
            if len(table.regions) > 2 and rng.random() < 0.5 or len(table.regions) > 20:
                await bench.deregister()
            else:
                await bench.register()
            for _ in range(rng.randrange(30)):
                await bench.edge

    for _ in range(4):
        await bench.register()
    await cycles(dut, 3)
    for which in bench.clients:
        cocotb.start_soon(client(which))
    agent = cocotb.start_soon(kernel())
    for _ in range(count * 2000):
        await bench.edge
        if agent.done():
            break
    agent.result()
    await cycles(dut, 5)
    assert dut.idle.value == 1
    answers = [answer for which in bench.clients for answer in which.answers]
    assert len(answers) == count * len(bench.clients)
    good = sum(answer.result is not None for answer in answers)
    assert len(answers) // 3 < good < len(answers)
    looked = sum(not answer.request["wide"] for answer in answers)
    assert len(bench.hits) + len(bench.misses) == looked
    assert int(dut.registers__invalidated.value) > 10
    assert [(kind, number) for _, _, kind, number, _ in events.seen] == \
        len(bench.misses) * [(Kind.BEGIN, 0), (Kind.END, 0)]
    if bench.scheme == "cache":
        assert len(bench.misses) > 10 and bench.walked >= 5 * len(bench.misses)
        places = {BASE + 16 * event[4] for event in events.seen if event[2] == Kind.BEGIN}
        assert {request["address"] & ~0xF for request in bench.memory.requests} == places
    else:
        assert not bench.misses and not bench.walked and not bench.memory.requests


def make(*, clients: int = 3, **via: Any) -> Translator:
    return Translator(description=Description.model_validate({"via": via}), clients=clients)


def run(testcase: str, *, clients: int = 3, seed: int = 1, bench: dict[str, Any] | None = None,
        **via: Any) -> None:
    description = Description.model_validate({"via": via})
    run_bench(Translator(description=description, clients=clients), __file__, testcase=testcase,
              seed=seed, clients=clients, **description.via.model_dump(), **(bench or {}))


@pytest.mark.parametrize("via, beats, setup, stall", [
    ({"cache_sets": 4, "cache_ways": 2}, 32, 0, 0.0),
    more({"cache_sets": 1, "cache_ways": 4, "cache_replacement": "fifo"}, 1, 2, 0.3),
    more({"cache_sets": 8, "cache_ways": 1, "page_bytes": 65536}, 32, 25, 0.1),
    more({"cache_sets": 2, "cache_ways": 8, "cache_replacement": "random"}, 2, 5, 0.5),
    more({"cache_sets": 64, "cache_ways": 1}, 32, 60, 0.0),
    ({"translation": "table"}, 32, 0, 0.0),
    ({"translation": "physical", "translations": 256}, 32, 0, 0.0),
], ids=str)
def test_answers_by_the_table(via: dict[str, Any], beats: int, setup: int, stall: float) -> None:
    small = {"translations": 64, "page_bytes": 1024, "cache_sets": 4}
    run("answers_by_the_table", clients=5, **small | via,
        bench={"beats": beats, "setup": setup, "stall": stall, "count": 150})


@cocotb.test()
async def hits_as_the_model(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    values, table = bench.values, bench.table
    rng = random.Random(seed())
    model = CacheModel(sets=values["cache_sets"], ways=values["cache_ways"],
                       replacement=values["cache_replacement"])
    for _ in range(100):
        await bench.register()
    live = {}
    for region in table.regions:
        for n, index in enumerate(region["indices"]):
            page = region["va"] // table.page_bytes + n
            live[index] = {"address": {"va": page * table.page_bytes, "handle": region["handle"]},
                           "tag": region["tag"], "access": 0, "wide": 0}
    hot = rng.sample(sorted(live), len(live) // 2)
    want, got = [], []
    for step in range(400):
        if step % 25 == 24:
            index = rng.choice(sorted(live))
            model.forget(index)
            await bench.invalidate(index)
        index = rng.choice(hot) if rng.random() < 0.8 else rng.randrange(table.entries)
        # Indices without an entry have an all-zero one in the table: walked for, never cached.
        request = live.get(index) or {
            "address": {"va": index * table.page_bytes, "handle": 0}, "tag": 0, "access": 0,
            "wide": 0}
        want.append(model.access(index, fills=index in live))
        hits = len(bench.hits)
        answer = await rng.choice(bench.clients).ask(request, bench.now)
        if index not in live:
            assert answer.result is None
        await bench.edge
        got.append(len(bench.hits) > hits)
    assert got == want
    assert 50 < sum(want) < 390


@pytest.mark.parametrize("sets, ways, replacement", [
    (1, 8, "lru"), (4, 2, "fifo"), (2, 4, "random"), more(4, 4, "lru"), more(2, 8, "fifo"),
    more(16, 1, "lru")])
def test_hits_as_the_model(sets: int, ways: int, replacement: str) -> None:
    run("hits_as_the_model", translations=64, page_bytes=1024, cache_sets=sets, cache_ways=ways,
        cache_replacement=replacement)


@cocotb.test()
async def keeps_its_pace(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start(setup=bench.values["setup"])
    while len(bench.table.regions) < 6:
        await bench.register()
    regions = bench.table.regions[-6:]
    requests = [{"address": {"va": region["va"], "handle": region["handle"]},
                 "tag": region["tag"], "access": 0, "wide": 0} for region in regions]
    clients = bench.clients
    await cycles(dut, 3)
    cached = bench.scheme == "cache"
    for request in requests[:4]:
        answer = await clients[0].ask(request, bench.now)
        if cached:
            # The memory here reads 2 beats in 4 cycles, from taking the request to done.
            assert answer.answered - answer.taken == 2 + 1 + 4 + bench.values["setup"]
        else:
            assert answer.answered - answer.taken == 2
    # Hits: one a cycle, the clients in turn, each answered 2 cycles after it was taken.
    tasks = [cocotb.start_soon(client.ask(requests[0], bench.now)) for client in clients]
    for task in tasks:
        await task
    answers = [client.answers[-1] for client in clients]
    assert {answer.answered - answer.taken for answer in answers} == {2}
    taken = sorted(answer.taken for answer in answers)
    assert taken == list(range(taken[0], taken[0] + len(clients)))
    if not cached:
        return
    # Hits during a walk: no later than 2 cycles apart.
    walk = cocotb.start_soon(clients[0].ask(requests[4], bench.now))
    await cycles(dut, 3)
    during = [cocotb.start_soon(client.ask(request, bench.now))
              for client, request in zip(clients[1:], requests[:4], strict=False)]
    for task in during:
        answer = await task
        assert answer.result is not None and answer.answered - answer.taken == 2
        assert answer.taken - answer.offered <= 2 * len(clients)
    assert not walk.done()
    # A second miss waits for the first walk and then finds what it brought.
    before = len(bench.misses)
    second = await clients[1].ask(requests[4], bench.now)
    assert walk.done() and second.result == walk.result().result is not None
    assert len(bench.misses) == before and len(bench.hits) > 0


@pytest.mark.parametrize("translation", ["cache", "table", "physical"])
def test_keeps_its_pace(translation: str) -> None:
    run("keeps_its_pace", clients=4, translation=translation, translations=64, page_bytes=1024,
        cache_sets=8, cache_ways=8, bench={"setup": 30})


@cocotb.test()
async def forgets_what_is_on_its_way(dut: Any) -> None:
    """An entry is cleared and invalidated at every cycle of a walk for it, and of a hit."""
    bench = Bench(dut)
    await bench.start(setup=2)
    table = bench.table
    client = bench.clients[0]
    for delay in range(26):
        for warm in (False, True):
            while not table.regions:
                await bench.register()
            region = table.regions[0]
            request = {"address": {"va": region["va"], "handle": region["handle"]},
                       "tag": region["tag"], "access": 0, "wide": 0}
            if warm:
                await client.ask(request, bench.now, table.check)
            asked = cocotb.start_soon(client.ask(request, bench.now, table.check, use=delay % 7))
            await cycles(dut, delay)
            table.regions[:] = [region]
            await bench.deregister()
            await asked
            again = await client.ask(request, bench.now, table.check)
            assert again.result is None
            await cycles(dut, 3)
            assert dut.idle.value == 1


@pytest.mark.parametrize("translation", ["cache", "table"])
def test_forgets_what_is_on_its_way(translation: str) -> None:
    run("forgets_what_is_on_its_way", clients=2, translation=translation, translations=64,
        page_bytes=1024, cache_sets=2, cache_ways=2)


def test_parameters_are_checked() -> None:
    with pytest.raises(TypeError, match="description must be a Description, not 7"):
        Translator(description=7, clients=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="clients must be an integer, not True"):
        make(clients=True)
    with pytest.raises(ValueError, match="clients must be at least 1, not 0"):
        make(clients=0)
    made = make(clients=4)
    assert made.clients == 4 and made.event_sources == (Block.TRANSLATION,)
    for options, error in (({"sets": 3}, "sets must be a power of two of 1 to 1024, not 3"),
                           ({"ways": 16}, "ways must be a power of two of 1 to 8, not 16"),
                           ({"replacement": "plru"}, "replacement must be one of lru, fifo, ")):
        with pytest.raises(ValueError, match=error):
            TranslationCache(**{"sets": 4, "ways": 2, "replacement": "lru"} | options)
    with pytest.raises(TypeError, match="ways must be an integer, not None"):
        TranslationCache(sets=4, ways=None, replacement="lru")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="entries must be a power of two of 64 to 16384, not 32"):
        TranslationTable(entries=32)
    with pytest.raises(TypeError, match="entries must be an integer, not '64'"):
        TranslationTable(entries="64")  # type: ignore[arg-type]
    assert TranslationTable(entries=128).entries == 128
    cache = TranslationCache(sets=4, ways=2, replacement="fifo")
    assert (cache.sets, cache.ways, cache.replacement) == (4, 2, "fifo")


def test_each_rule_refuses_by_itself() -> None:
    """The model itself: every rule refuses by itself."""
    entry = {"valid": 1, "rdma_write": 0, "rdma_read": 1, "tag": 5, "first": 16, "last": 99,
             "frame": 7, "handle": 1000, "page": 3}
    good = {"address": {"va": (3 << 6 | 9) * 1024 + 20, "handle": 1000}, "tag": 5, "access": 0,
            "wide": 0}
    assert allowed(entry, good, page_bytes=1024) == (7 * 1024 + 20, 80)
    assert allowed(entry, good | {"access": 2}, page_bytes=1024) is not None
    for bad in ({"tag": 4}, {"access": 1}, {"access": 3}, {"wide": 1},
                {"address": {"va": good["address"]["va"], "handle": 1001}},
                {"address": {"va": good["address"]["va"] - 5, "handle": 1000}},
                {"address": {"va": good["address"]["va"] + 80, "handle": 1000}},
                {"address": {"va": good["address"]["va"] + (1 << 16), "handle": 1000}}):
        assert allowed(entry, good | bad, page_bytes=1024) is None, bad
