"""The promises of Active Messages as programs and checks that run on any target.

A scenario says which description it wants (``structure``, over the defaults), how it is set
(``settings``), which programs run, and what their results have to be. On the model target:
``run_on_model(scenario)``; in a simulator: ``await run_on_lab(lab, name, **parameters)``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from nicbed.host.am import AmError, Gam, PeerGone
from nicbed.layouts.description import Description

FAULTY = {"am.retry_timeout": 3000, "am.retries": 40}


@dataclass
class Scenario:
    """Programs, one a node, and ``check(results)``."""

    programs: list
    check: Callable[[list], None]
    structure: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    limit: int = 400_000_000


def describe(*tables: dict[str, Any]) -> Description:
    """The default description with dotted knobs overridden."""
    found = Description().model_dump()
    for overrides in tables:
        for name, value in overrides.items():
            section, key = name.split(".")
            found.setdefault(section, {})[key] = value
    return Description.model_validate(found)


def pattern(length: int, seed: int) -> bytes:
    """``length`` bytes that differ by place and by ``seed``."""
    return bytes((place * 7 + (place >> 8) * 13 + seed * 31 + 1) & 255 for place in range(length))


def answering(count: int, after: int = 0) -> Callable[[Any], Any]:
    """A program that answers ``count`` requests with their words, and then computes for ``after``
    cycles."""
    async def program(node):
        got = []

        def ask(am, source, *args):
            got.append(args)
            return am.reply(1, *args)

        am = Gam(node, [ask])
        await am.enable()
        await am.wait(lambda: len(got) == count)
        if after:
            await node.port.delay(after)
    return program


def echo_words() -> Scenario:
    """Requests and replies of 0 to 4 words each way, values at their limits."""
    values = (0, 0xFFFFFFFF, 0x12345678, 1)

    async def program(node):
        seen = []

        def ask(am, source, *args):
            return am.reply(answer, *args)

        def answer(am, source, *args):
            seen.append((source, args))

        am = Gam(node, [ask, answer])
        await am.enable()
        other = 1 - node.number
        for count in range(5):
            await am.request(other, ask, *values[:count])
            await am.wait(lambda count=count: len(seen) > count)
        await am.disable()
        return seen

    def check(results):
        for node, seen in enumerate(results):
            assert seen == [(1 - node, values[:count]) for count in range(5)]

    return Scenario([program] * 2, check)


def in_order(count: int = 600, nodes: int = 2, reply: bool = True, window: int = 75,
             words: int = 1, work: int = 0, settings: dict[str, Any] | None = None,
             structure: dict[str, Any] | None = None) -> Scenario:
    """Every node sends ``count`` numbered requests to every other: all handlers run exactly once,
    in order, replies too, and no more than the window is ever open."""

    async def program(node):
        got = [0] * nodes
        answered = [0] * nodes
        most = 0

        async def ask(am, source, number, *rest):
            assert number == got[source], (source, number, got[source])
            assert rest == tuple(number ^ k for k in range(1, words))
            got[source] += 1
            if work:
                node.port.work("alu", work)
            if reply:
                await am.reply(answer, number)

        def answer(am, source, number):
            assert number == answered[source]
            answered[source] += 1

        am = Gam(node, [ask, answer])
        await am.enable()
        others = [other for other in range(nodes) if other != node.number]
        for number in range(count):
            for other in others:
                await am.request(other, ask, number, *(number ^ k for k in range(1, words)))
                most = max(most, window - am.peers[other].credits)
        await am.wait(lambda: all(am.peers[other].credits == window for other in others))
        await am.disable()
        return got, answered, most, am.counters

    def check(results):
        for node, (got, answered, most, _) in enumerate(results):
            wanted = [0 if other == node else count for other in range(nodes)]
            assert got == wanted
            assert answered == (wanted if reply else [0] * nodes)
            assert most <= window

    return Scenario([program] * nodes, check,
                    {"fabric.nodes": nodes, **(structure or {})},
                    {"am.request_window": window, "am.reply_window": window + 1,
                     **(settings or {})})


def shares(senders: int = 3, count: int = 120, size: int = 0,
           settings: dict[str, Any] | None = None, structure: dict[str, Any] | None = None
           ) -> Scenario:
    """``senders`` nodes ask node 0 as fast as they can, or store ``size`` bytes there: when the
    first of them has had all its answers, each of the others has had as many, within 5 %; and
    nothing was sent again."""

    async def program(node):
        times, stopped = [], [0]

        def ask(am, source, *arguments):
            return am.reply(answer)

        def answer(am, source):
            times.append(node.port.cycle)

        def stop(am, source):
            stopped[0] += 1

        am = Gam(node, [ask, answer, stop])
        place = node.allocate((senders + 1) * size)
        mine = place + node.number * size
        await am.enable()
        if node.number:
            for _ in range(count):
                if size:
                    await am.store_async(0, mine, mine, size, ask)
                else:
                    await am.request(0, ask, 1)
            await am.wait(lambda: len(times) == count)
            await am.request(0, stop)
        else:
            await am.wait(lambda: stopped[0] == senders)
        await am.disable()
        return times, am.counters["resent"]

    def check(results):
        streams = [times for times, _ in results[1:]]
        first = min(times[-1] for times in streams)
        had = [sum(at <= first for at in times) for times in streams]
        assert min(had) >= 0.95 * count, had
        assert not any(resent for _, resent in results), results

    return Scenario([program] * (senders + 1), check,
                    {"fabric.nodes": senders + 1, **(structure or {})}, settings or {})


def bulk(sizes: tuple[int, ...] = (0, 1, 3, 8, 100, 1021, 1024, 1027, 5000, 20003),
         settings: dict[str, Any] | None = None, structure: dict[str, Any] | None = None,
         asynchronous: bool = True) -> Scenario:
    """Stores and gets of all sizes and alignments, both ways at once; the data are there when the
    handler runs, and the source is reusable when ``end`` has run."""
    largest = max(sizes)

    async def program(node):
        landed, arrived, ended, replies, meets = [], [], [], [], [0]

        def stored(am, source, address, length, argument):
            data = node.memory.read(address, length)
            landed.append((argument, length, data == pattern(length, argument)))
            return am.reply(done, argument)

        def done(am, source, argument):
            replies.append(argument)

        def fetched(am, source, address, length, argument):
            data = node.memory.read(address, length)
            arrived.append((argument, length, data == pattern(length, argument)))

        def meet(am, source):
            meets[0] += 1

        def end(am, argument):
            ended.append(argument)
            node.memory.write(source + 64, bytes(largest + 16))

        am = Gam(node, [stored, done, fetched, meet])
        source = node.allocate(largest + 128)
        place = node.allocate(len(sizes) * (largest + 64))
        readable = node.allocate(len(sizes) * (largest + 64))
        fetch = node.allocate(len(sizes) * (largest + 64))
        for index, length in enumerate(sizes):
            node.memory.write(readable + index * (largest + 64) + index % 5, pattern(length, index))
        await am.enable()
        other = 1 - node.number
        for index, length in enumerate(sizes):
            begin = source + 64 + index % 9
            node.memory.write(begin, pattern(length, index))
            target = place + index * (largest + 64) + index * 3 % 8
            if asynchronous:
                await am.store_async(other, begin, target, length, stored, index, end, index)
                await am.wait(lambda index=index: len(ended) > index)
            else:
                await am.store(other, begin, target, length, stored, index)
                end(am, index)
        await am.wait(lambda: len(replies) == len(sizes))
        await am.request(other, meet)
        await am.wait(lambda: meets[0])
        for index, length in enumerate(sizes):
            await am.get(other, readable + index * (largest + 64) + index % 5,
                         fetch + index * (largest + 64) + index * 5 % 8, length, fetched, index)
        await am.wait(lambda: len(arrived) == len(sizes))
        await am.disable()
        return landed, arrived, ended, replies

    def check(results):
        wanted = [(index, length, True) for index, length in enumerate(sizes)]
        for landed, arrived, ended, replies in results:
            assert landed == wanted
            assert arrived == wanted
            assert ended == replies == list(range(len(sizes)))

    return Scenario([program] * 2, check, structure or {}, settings or {})



def mixed(rounds: int = 60, nodes: int = 2, settings: dict[str, Any] | None = None,
          structure: dict[str, Any] | None = None) -> Scenario:
    """Requests, stores and gets to all others at once: each exactly once, data whole."""
    size = 1500

    def length_of(number):
        return number * 97 % size + 1

    async def program(node):
        asked, answered = [0] * nodes, [0] * nodes
        stored, arrived, ended = [0] * nodes, [0] * nodes, [0]

        async def ask(am, source, number):
            assert number == asked[source]
            asked[source] += 1
            if number % 3:
                await am.reply(answer, number)

        def answer(am, source, number):
            answered[source] += 1

        def store(am, source, address, length, number):
            assert number == stored[source]
            assert length == length_of(number)
            assert node.memory.read(address, length) == pattern(length, source + number)
            stored[source] += 1

        def data(am, source, address, length, number):
            assert number == arrived[source]
            assert node.memory.read(address, length) == pattern(size, source)[:length]
            arrived[source] += 1

        def end(am, number):
            ended[0] += 1

        am = Gam(node, [ask, answer, store, data])
        mine = node.allocate(size)
        inbox = [node.allocate(size * rounds) for _ in range(nodes)]
        outbox = node.allocate(size * rounds)
        fetched = node.allocate(size)
        node.memory.write(mine, pattern(size, node.number))
        for number in range(rounds):
            node.memory.write(outbox + number * size,
                              pattern(length_of(number), node.number + number))
        await am.enable()
        others = [other for other in range(nodes) if other != node.number]
        for number in range(rounds):
            for other in others:
                await am.request(other, ask, number)
                await am.store_async(other, outbox + number * size,
                                     inbox[node.number] + number * size, length_of(number), store,
                                     number, end, number)
        for number in range(rounds):
            for other in others:
                await am.get(other, mine, fetched, length_of(number), data, number)
                await am.wait(lambda other=other, number=number: arrived[other] > number)
        await am.wait(lambda: all(stored[other] == asked[other] == rounds for other in others))
        await am.disable()
        return asked, answered, stored, arrived, ended[0]

    def check(results):
        for node, (asked, answered, stored, arrived, ended) in enumerate(results):
            wanted = [0 if other == node else rounds for other in range(nodes)]
            assert asked == stored == arrived == wanted
            replies = sum(1 for number in range(rounds) if number % 3)
            assert answered == [0 if other == node else replies for other in range(nodes)]
            assert ended == rounds * (nodes - 1)

    return Scenario([program] * nodes, check, {"fabric.nodes": nodes, **(structure or {})},
                    settings or {})


def peer_gone(call: str = "request", retries: int = 3, timeout: int = 500) -> Scenario:
    """Node 1 enables and ends. Node 0 gets PeerGone, by whatever call, and can go on."""

    async def leaves(node):
        am = Gam(node, [lambda am, source, *args: None])
        await am.enable()

    async def program(node):
        am = Gam(node, [lambda am, source, *args: None])
        await am.enable()
        said = []
        for _ in range(2):
            try:
                if call == "request":
                    for _ in range(200):
                        await am.request(1, 0, 1)
                elif call == "wait":
                    await am.request(1, 0, 1)
                    await am.wait(lambda: False)
                elif call == "store":
                    await am.store(1, 64, 64, 3000, 0)
                elif call == "get":
                    await am.get(1, 64, 64, 3000, 0)
                    await am.wait(lambda: False)
                elif call == "poll":
                    await am.request(1, 0, 1)
                    while True:
                        await am.poll()
                elif call == "disable":
                    await am.request(1, 0, 1)
                    await am.disable()
            except PeerGone as gone:
                assert gone.peer == 1
                said.append(str(gone))
        await am.disable()
        return said, await node.port.flush()

    def check(results):
        (said, cycle), _ = results
        assert said and all("node 1 is gone" in text for text in said)
        assert cycle < 40 * retries * timeout

    return Scenario([program, leaves], check, {},
                    {"am.retries": retries, "am.retry_timeout": timeout}, limit=2_000_000)


def misuse() -> Scenario:
    """What handlers and programs may not do raises AmError where it is done."""

    async def program(node):
        errors = []

        async def tries(am, source):
            for wrong in (am.request(source, 0), am.poll(), am.store(source, 64, 64, 8),
                          am.get(source, 64, 64, 8), am.wait(lambda: True)):
                try:
                    await wrong
                except AmError as error:
                    errors.append(str(error))
            await am.reply(answered)
            try:
                await am.reply(answered)
            except AmError as error:
                errors.append(str(error))

        async def answered(am, source):
            try:
                await am.reply(answered)
            except AmError as error:
                errors.append(str(error))
            try:
                await am.request(source, 0)
            except AmError as error:
                errors.append(str(error))
            done.append(source)

        def stranger(am, source):
            pass

        done = []
        am = Gam(node, [tries, answered])
        for wrong in ("request", "poll"):
            try:
                await (am.request(0, 0) if wrong == "request" else am.poll())
            except AmError as error:
                errors.append(str(error))
        await am.enable()
        if node.number == 0:
            for bad in ((7, 0), (1, stranger)):
                try:
                    await am.request(*bad)
                except AmError as error:
                    errors.append(str(error))
            for args in ((1, 2, 3, 4, 5), (-1,), (1 << 32,)):
                try:
                    await am.request(1, 0, *args)
                except ValueError as error:
                    errors.append(str(error))
            try:
                await am.store(1, 0, am.max_size() - 4, 8)
            except AmError as error:
                errors.append(str(error))
            await am.request(1, tries)
            await am.wait(lambda: done)
        await am.disable()
        return errors

    def check(results):
        assert [len(errors) for errors in results] == [2 + 2 + 3 + 1 + 2, 2 + 6]
        assert "node 7" in results[0][2] and "stranger" in results[0][3]
        assert all("may not" in text for text in results[1][2:7])
        assert "second reply" in results[1][7]

    return Scenario([program] * 2, check)


def keep_alive(settings: dict[str, Any] | None = None) -> Scenario:
    """A program that polls in a loop of its own recovers a loss by probes, before any time-out."""

    async def asks(node):
        got = []

        def answer(am, source, number):
            got.append(number)

        am = Gam(node, [lambda am, source, number: am.reply(1, number), answer])
        await am.enable()
        for number in range(200):
            await am.request(1, 0, number)
            while len(got) <= number:
                await am.poll()
        await am.disable()
        return got, am.counters

    async def answers(node):
        am = Gam(node, [lambda am, source, number: am.reply(1, number), lambda *_: None])
        await am.enable()
        while not am.peers[0].bye:
            await am.poll()
        await am.disable()
        return am.counters

    def check(results):
        (got, mine), others = results
        assert got == list(range(200))
        assert mine["probes"] + others["probes"] > 0

    return Scenario([asks, answers], check, {},
                    {"am.keep_alive_polls": 40, "am.retry_timeout": 100_000, "faults.drop": 0.05,
                     **(settings or {})})


def itself() -> Scenario:
    """A node may be its own peer."""

    async def program(node):
        got = []
        am = Gam(node, [lambda am, source, number: am.reply(1, number + 1),
                        lambda am, source, number: got.append((source, number))])
        await am.enable()
        for number in range(300):
            await am.request(node.number, 0, number)
        await am.wait(lambda: len(got) == 300)
        await am.disable()
        return got

    def check(results):
        for node, got in enumerate(results):
            assert got == [(node, number + 1) for number in range(300)]

    return Scenario([program] * 2, check)


SCENARIOS = {function.__name__: function for function in
             (echo_words, in_order, bulk, mixed, peer_gone, misuse, keep_alive, itself)}


def run_on_model(scenario: Scenario) -> Any:
    """Run it on the model target; the runtime, after the check."""
    from tests.models.target import Model

    model = Model(describe(scenario.structure, scenario.settings))
    runtime = model.run(scenario.programs, limit=scenario.limit)
    scenario.check(runtime.results)
    assert not any(nic.registers["send_refused"] for nic in model.nics), "send window overrun"
    return runtime


async def run_on_lab(lab: Any, name: str, parameters: dict[str, Any] | None = None,
                     limit: int = 0) -> int:
    """Run the scenario ``name`` in a simulator whose structure fits it; its cycles."""
    scenario = SCENARIOS[name](**(parameters or {}))
    run = await lab.run(scenario.programs, settings=scenario.settings,
                        limit=limit or scenario.limit)
    scenario.check(run.results)
    return run.cycles


async def run_many(lab: Any, jobs: list[tuple[str, dict[str, Any]]],
                   limit: int = 0) -> list[int | str]:
    """Several scenarios one after the other in one simulator: of each its cycles, or what went
    wrong."""
    found: list[int | str] = []
    for name, parameters in jobs:
        try:
            found.append(await run_on_lab(lab, name, parameters, limit))
        except Exception as error:
            notes = "; ".join(getattr(error, "__notes__", ()))
            found.append(f"{name} {parameters}: {type(error).__name__}: {error} {notes}")
    return found
