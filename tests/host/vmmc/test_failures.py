"""VMMC when the network loses, and when a node fails; translations against a model."""

from collections import OrderedDict

import pytest
from nicbed.host.vmmc import Status

from tests.models.target import Model
from tests.programs.vmmc import LIMIT, Station, data_of, describe, stations

OK, UNREACHABLE = Status.SUCCESS, Status.UNREACHABLE
FAULTS = {
    "drop": {"faults__drop": 0.15}, "corrupt": {"faults__corrupt": 0.15},
    "duplicate": {"faults__duplicate": 0.3},
}


def run(programs, **knobs):
    return Model(describe(**knobs)).run(programs, limit=LIMIT).results


@pytest.mark.parametrize("name", FAULTS)
def test_faults_lose_nothing_and_tell_once_in_order(name):
    count = 16

    async def body(station: Station):
        here = station.node.number
        export = await station.export(8192)
        to = await station.import_(1 - here)
        sendings = [await station.put(to, 500 * number, data_of(100 * here + number, 490),
                                      key=number) for number in range(count)]
        keys = [(await station.event()).key for _ in range(count)]
        statuses = {await station.vmmc.wait(sending) for sending in sendings}
        await station.pause(200_000)
        parts = [station.read(export, 500 * number, 490) for number in range(count)]
        return keys, statuses, parts, await station.vmmc.check()

    for here, (keys, statuses, parts, more) in enumerate(
            run(stations(body, body), vmmc__retries=20, vmmc__window=4, **FAULTS[name])):
        assert keys == list(range(count)) and statuses == {OK} and more is None
        assert parts == [data_of(100 * (1 - here) + number, 490) for number in range(count)]


def test_a_node_that_fails_is_told_of_until_it_is_imported_from_again():
    """All that is under way fails, and what comes after it at once; not what goes elsewhere."""
    async def send(station: Station):
        statuses = [(await station.vmmc.import_(1, 1, 4096))[0]]
        return statuses, (await station.counters())["failed"]

    assert run(stations(send, None), faults__drop=1.0)[0] == ([UNREACHABLE], 0)


@pytest.mark.parametrize("ways, prefetch", [(1, 1), (2, 1), (2, 4)])
def test_the_translation_cache_is_that_of_a_model_and_needs_no_interrupt(ways, prefetch):
    """Sets of ``ways`` entries, the one used least recently is replaced, a miss brings pages behind
    it along."""
    entries, pages = 8, [0, 1, 2, 3, 9, 0, 8, 16, 1, 8, 0, 24, 5, 6, 7, 5, 13, 21, 5]

    async def send(station: Station):
        to = await station.import_(1)
        base = station.place(bytes(32 * 4096))
        await station.vmmc._translated(base, 32 * 4096)
        first = (base - 0x10_0000_0000) // 4096
        before = await station.counters()
        for page in pages:
            await station.vmmc.wait(await station.vmmc.send(base + 4096 * page, to, 0, 200))
        after = await station.counters()
        return first, {name: after[name] - before[name] for name in after}

    async def receive(station: Station):
        await station.export(4096)

    first, counted = run(stations(send, receive), vmmc__translations=entries, vmmc__ways=ways,
                         vmmc__prefetch=prefetch)[0]
    sets: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(entries // ways)]
    hits = misses = 0

    def use(page: int) -> bool:
        one = sets[page % len(sets)]
        found = one.pop(page, 1) is None
        one[page] = None
        if len(one) > ways:
            one.popitem(last=False)
        return found
    for page in (first + page for page in pages):
        if page in sets[page % len(sets)]:
            use(page)
            hits += 1
            continue
        misses += 1
        # Pages behind the last one that is pinned have no translation to bring.
        for behind in range(prefetch - 1, 0, -1):
            if page + behind <= first + 32:
                use(page + behind)
        use(page)
    assert (counted["hits"], counted["misses"]) == (hits, misses)
    assert counted["interrupts"] == counted["faults"] == 0
    assert counted["fetched"] == misses * prefetch
