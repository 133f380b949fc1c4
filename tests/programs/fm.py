"""The promises of Fast Messages as programs and checks that run on any target.

A scenario is made as those of :mod:`tests.programs.am` are, and run by the same functions.
"""

from typing import Any

from nicbed.host.fm import Fm, FmError
from nicbed.layouts.fm import FRAME_BYTES

from tests.programs.am import Scenario, pattern

CORE = {"nic.processor": "picorv32"}
VALUES = (0, 0xFFFFFFFF, 0x12345678, 1)


def scenario(programs: list, check: Any, structure: dict[str, Any] | None,
             settings: dict[str, Any] | None) -> Scenario:
    return Scenario(programs, check, {**CORE, "fabric.nodes": len(programs), **(structure or {})},
                    settings or {})


def four_words(structure: dict[str, Any] | None = None, count: int = 20) -> Scenario:
    """FM_send_4 there and, from the handler, back; values at their limits, in order."""

    async def program(node):
        seen, back = [], []

        async def ask(fm, source, *words):
            seen.append((source, words))
            await fm.FM_send_4(source, answer, *words[::-1])

        def answer(fm, source, *words):
            back.append((source, words))

        fm = Fm(node, [ask, answer])
        await fm.FM_initialize()
        other = 1 - node.number
        for number in range(count):
            await fm.FM_send_4(other, ask, *VALUES[:3], number)
            await fm.extract_until(lambda number=number: len(back) > number)
        await fm.extract_until(lambda: len(seen) == count)
        await fm.FM_finalize()
        return seen, back

    def check(results):
        for node, (seen, back) in enumerate(results):
            sent = [(*VALUES[:3], number) for number in range(count)]
            assert seen == [(1 - node, words) for words in sent]
            assert back == [(1 - node, words[::-1]) for words in sent]

    return scenario([program] * 2, check, structure, None)


def frames(structure: dict[str, Any] | None = None, copies: int = 2) -> Scenario:
    """FM_send of every size and alignment; the source is reused at once."""
    sizes = [size for size in range(FRAME_BYTES + 1) for _ in range(copies)]

    async def program(node):
        got = []

        def keep(fm, source, address, size):
            got.append((source, node.memory.read(address, size)))

        fm = Fm(node, [keep])
        await fm.FM_initialize()
        buf = node.allocate(FRAME_BYTES + 8)
        for number, size in enumerate(sizes):
            node.memory.write(buf + number % 8, pattern(size, number))
            await fm.FM_send(1 - node.number, keep, buf + number % 8, size)
            node.memory.write(buf, bytes(FRAME_BYTES + 8))
            if number % 7 == 0:
                await fm.FM_extract()
        await fm.extract_until(lambda: len(got) == len(sizes))
        await fm.FM_finalize()
        return got

    def check(results):
        for node, got in enumerate(results):
            assert got == [(1 - node, pattern(size, number)) for number, size in enumerate(sizes)]

    return scenario([program] * 2, check, structure, None)


def all_to_all(count: int = 60, nodes: int = 3, every: int = 5, reject_queue: int = 64,
               structure: dict[str, Any] | None = None,
               settings: dict[str, Any] | None = None) -> Scenario:
    """Every node sends numbered messages to all others, words and frames, and extracts after each
    ``every`` of them: each is handled exactly once, in order, and in FM_extract."""

    async def program(node):
        got = [[] for _ in range(nodes)]
        extracting = [False]

        def words(fm, source, number, *rest):
            assert extracting[0] and rest == (number ^ 1, number ^ 2, number ^ 3)
            got[source].append(number)

        def frame(fm, source, address, size):
            data = node.memory.read(address, size)
            number = int.from_bytes(data[:4], "little")
            assert extracting[0] and data[4:] == pattern(size - 4, number)
            got[source].append(number)

        async def extract():
            extracting[0] = True
            await fm.FM_extract()
            extracting[0] = False

        fm = Fm(node, [words, frame], reject_queue=reject_queue)
        await fm.FM_initialize()
        buf = node.allocate(64)
        others = [other for other in range(nodes) if other != node.number]
        for number in range(count):
            for other in others:
                if number % 3:
                    await fm.FM_send_4(other, words, number, *(number ^ k for k in (1, 2, 3)))
                else:
                    size = 4 + number * 5 % (FRAME_BYTES - 3)
                    node.memory.write(buf, number.to_bytes(4, "little") + pattern(size - 4, number))
                    await fm.FM_send(other, frame, buf, size)
            if number % every == 0:
                await extract()
        extracting[0] = True
        await fm.extract_until(lambda: all(len(got[other]) == count for other in others))
        extracting[0] = False
        await fm.FM_finalize()
        return got, fm.counters

    def check(results):
        for node, (got, counters) in enumerate(results):
            for other in range(nodes):
                assert got[other] == ([] if other == node else list(range(count)))
            assert not counters["malformed"] and not counters["rejected"]

    return scenario([program] * nodes, check, structure, settings)


def returns(count: int = 60, places: int = 4, room: int = 2,
            structure: dict[str, Any] | None = None) -> Scenario:
    """Node 1, in the middle of sending to node 2, has little room for what node 0 sends: much comes
    back, and each message is handled exactly once all the same."""

    async def first(node):
        fm = Fm(node, [])
        await fm.FM_initialize()
        buf = node.allocate(64)
        for number in range(count):
            node.memory.write(buf, pattern(FRAME_BYTES, number))
            await fm.FM_send(1, 0, buf, FRAME_BYTES)
        await fm.FM_finalize()
        return fm.counters

    async def middle(node):
        got = []
        fm = Fm(node, [lambda fm, source, address, size: got.append(
            node.memory.read(address, size))], reject_queue=places, receive_queue=room)
        await fm.FM_initialize()
        for number in range(count):
            await fm.FM_send_4(2, 0, number, 0, 0, 0)
            if number % 10 == 9:
                await fm.FM_extract()
        await fm.extract_until(lambda: len(got) == count)
        await fm.FM_finalize()
        return got, fm.counters

    async def last(node):
        got = []
        fm = Fm(node, [lambda fm, source, *words: got.append(words[0])])
        await fm.FM_initialize()
        await fm.extract_until(lambda: len(got) == count)
        await fm.FM_finalize()
        return got

    def check(results):
        sent, (got, counters), words = results
        assert words == list(range(count))
        assert sorted(got) == sorted(pattern(FRAME_BYTES, number) for number in range(count))
        assert counters["rejected"] == sent["returned"] == sent["again"] > 0

    return scenario([first, middle, last], check, structure, None)


def decoupled(structure: dict[str, Any] | None = None) -> Scenario:
    """A sender goes on while its receiver computes, for as many packets as it has places. Then it
    waits, and what it waits for does not run its handlers."""

    async def sends(node):
        ran = []
        fm = Fm(node, [lambda fm, source, *words: ran.append(words[0])], receive_queue=8)
        await fm.FM_initialize()
        for number in range(fm.places):
            await fm.FM_send_4(1, 0, number, 0, 0, 0)
        free = await node.port.flush()
        for number in range(5):
            await fm.FM_send_4(1, 0, fm.places + number, 0, 0, 0)
        late = await node.port.flush()
        before = len(ran)
        await fm.extract_until(lambda: len(ran) == 20)
        await fm.FM_finalize()
        return free, late, before, fm.counters["rejected"]

    async def computes(node):
        got = []
        fm = Fm(node, [lambda fm, source, *words: got.append(words[0])])
        await fm.FM_initialize()
        for number in range(20):
            await fm.FM_send_4(0, 0, number, 0, 0, 0)
        await node.port.delay(400_000)
        woke = await node.port.flush()
        await fm.extract_until(lambda: len(got) == fm.places + 5)
        await fm.extract_until(lambda: not fm._returning.under_way)
        await fm.FM_finalize()
        return got, woke

    def check(results):
        (free, late, before, rejected), (got, woke) = results
        assert free < woke < late
        assert before == 0 and rejected > 0
        assert got == list(range(len(got)))

    return scenario([sends, computes], check, structure, None)


def itself(structure: dict[str, Any] | None = None) -> Scenario:
    """A node may send to itself."""

    async def program(node):
        got = []
        fm = Fm(node, [lambda fm, source, *words: got.append((source, words[0]))])
        await fm.FM_initialize()
        for number in range(100):
            await fm.FM_send_4(node.number, 0, number, 0, 0, 0)
            if number % 9 == 0:
                await fm.FM_extract()
        await fm.extract_until(lambda: len(got) == 100)
        await fm.FM_finalize()
        return got

    def check(results):
        for node, got in enumerate(results):
            assert got == [(node, number) for number in range(100)]

    return scenario([program] * 2, check, structure, None)


def misuse() -> Scenario:
    """What programs and handlers may not do raises where it is done."""

    async def program(node):
        errors = []

        async def tried(what):
            try:
                await what
            except (FmError, ValueError) as error:
                errors.append(str(error))

        async def extracts(fm, source, *words):
            await tried(fm.FM_extract())
            await tried(fm.FM_finalize())

        def stranger(fm, source):
            pass

        fm = Fm(node, [extracts])
        await tried(fm.FM_send_4(0, 0, 1, 2, 3, 4))
        await tried(fm.FM_extract())
        await fm.FM_initialize()
        await tried(fm.FM_initialize())
        await tried(fm.FM_send_4(7, 0, 1, 2, 3, 4))
        await tried(fm.FM_send_4(0, stranger, 1, 2, 3, 4))
        await tried(fm.FM_send_4(0, 0, 1, 2, 3, 1 << 32))
        await tried(fm.FM_send(0, 0, 64, FRAME_BYTES + 1))
        await tried(fm.FM_send(0, 0, node.memory.size - 4, 8))
        await fm.FM_send_4(1 - node.number, 0, 0, 0, 0, 0)
        await fm.extract_until(lambda: len(errors) == 10)
        await fm.FM_finalize()
        return errors

    def check(results):
        for errors in results:
            assert len(errors) == 10, errors
            assert "twice" in errors[2] and "node 7" in errors[3] and "stranger" in errors[4]
            assert "frame" in errors[6] and "handler" in errors[8]

    return scenario([program] * 2, check, None, None)


def lossy(rate: str = "corrupt", count: int = 60) -> Scenario:
    """On a network that loses or duplicates, nothing is promised but that what is handled is what
    was sent."""

    async def sends(node):
        fm = Fm(node, [lambda fm, source, *words: None])
        await fm.FM_initialize()
        for number in range(count):
            await fm.FM_send_4(1, 0, number, number ^ 1, number ^ 2, number ^ 3)

    async def takes(node):
        got = []
        fm = Fm(node, [lambda fm, source, *words: got.append(words)])
        await fm.FM_initialize()
        for _ in range(count):
            await fm.FM_extract()
            await node.port.delay(5000)
        return got

    def check(results):
        got = results[1]
        assert all(words == tuple(words[0] ^ k for k in range(4)) for words in got)
        numbers = [words[0] for words in got]
        assert numbers == sorted(numbers)
        assert set(numbers) < set(range(count)) if rate != "duplicate" else \
            len(numbers) > count and set(numbers) == set(range(count))

    return scenario([sends, takes], check, None, {f"faults.{rate}": 0.2})


SCENARIOS = {function.__name__: function for function in
             (four_words, frames, all_to_all, returns, decoupled, itself, misuse, lossy)}




async def run_many(lab: Any, jobs: list[tuple[str, dict[str, Any]]],
                   limit: int = 100_000_000) -> list[int | str]:
    """Several scenarios one after the other in one simulator: of each its cycles, or what went
    wrong."""
    found: list[int | str] = []
    for name, parameters in jobs:
        scenario = SCENARIOS[name](**parameters)
        try:
            run = await lab.run(scenario.programs, settings=scenario.settings, limit=limit)
            scenario.check(run.results)
            found.append(run.cycles)
        except Exception as error:
            notes = "; ".join(getattr(error, "__notes__", ()))
            found.append(f"{name} {parameters}: {type(error).__name__}: {error} {notes}")
    return found
