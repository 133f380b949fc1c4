"""VIPL end to end on the engine's model: messages, completions, waiting, at every level."""

import pathlib
import re

import pytest
from nicbed.host.via import VIP_INFINITE
from nicbed.layouts.via import RemoteOperation

from tests.programs.am import pattern
from tests.programs.vipl import RD, RR, SUCCESS, UD, run, run_pair

LEVELS = pytest.mark.parametrize("level", [UD, RD, RR], ids=lambda level: level.name)
TRANSLATIONS = pytest.mark.parametrize("translation", ["cache", "table", "physical"])


@LEVELS
@TRANSLATIONS
@pytest.mark.parametrize("spin", [0, 1000, 1 << 30])
def test_messages_there_and_back(level, translation, spin):
    """Blocking, spinning, and first one then the other."""
    lengths = (0, 1, 100, 1025, 3000)

    async def first(side):
        for length in lengths:
            side.process.write(side.va, pattern(length, length))
            back = await side.receive(side.segment(4096, 4096))
            va = await side.send(side.segment(0, length))
            assert await side.vipl.VipSendWait(side.vi, VIP_INFINITE) == (SUCCESS, va)
            assert await side.vipl.VipRecvWait(side.vi, VIP_INFINITE) == (SUCCESS, back)
            assert side.process.read(side.va + 4096, length) == pattern(length, length)
        return side.errors

    async def second(side):
        for length in lengths:
            va = side.posted.pop(0)
            assert await side.vipl.VipRecvWait(side.vi, VIP_INFINITE) == (SUCCESS, va)
            found = side.look(va)
            assert found.length == length and found.operation is RemoteOperation.RECEIVE
            await side.send(side.segment(1600 * len(side.posted), length))
            assert (await side.vipl.VipSendWait(side.vi, VIP_INFINITE))[0] is SUCCESS
        return side.errors

    async def before(side):
        if side.node.number:
            side.posted = [await side.receive(side.segment(1600 * (len(lengths) - 1 - at), 3200))
                           for at in range(len(lengths))]

    assert run_pair(first, second, level, before=before, via__translation=translation,
                    via__spin=spin) == [[], []]


@LEVELS
@TRANSLATIONS
@pytest.mark.parametrize("ring", [1, 3])
def test_descriptors_posted_again_and_again(level, translation, ring):
    """As they are, each as soon as it is done: nothing of what they completed with is left."""
    count = 30

    async def first(side):
        await side.node.port.delay(20_000)
        for number in range(count):
            side.process.write(side.va, number.to_bytes(4, "little"))
            await side.vipl.VipPostSend(side.vi, *side.posted)
            assert (await side.vipl.VipSendWait(side.vi, None))[0] is SUCCESS
            assert (await side.vipl.VipRecvWait(side.vi, None))[0] is SUCCESS
            await side.vipl.VipPostRecv(side.vi, *side.places[number % ring])

    async def second(side):
        got = []
        for number in range(count):
            place = side.places[number % ring]
            assert await side.vipl.VipRecvWait(side.vi, None) == (SUCCESS, place[0])
            got.append(int.from_bytes(side.process.read(side.va + 4096, 4), "little"))
            await side.vipl.VipPostRecv(side.vi, *place)
            await side.vipl.VipPostSend(side.vi, *side.posted)
            assert (await side.vipl.VipSendWait(side.vi, None))[0] is SUCCESS
        return got

    async def before(side):
        side.posted = await side.make(side.segment(0, 4))
        side.places = [await side.make(side.segment(4096, 8)) for _ in range(ring)]
        for place in side.places:
            await side.vipl.VipPostRecv(side.vi, *place)

    assert run_pair(first, second, level, before=before,
                    via__translation=translation)[1] == list(range(count))


@pytest.mark.parametrize("small, knobs", [(False, {}), (False, {"via__spin": 5000}),
                                          (True, {"via__translation": "physical"})])
def test_the_example_of_the_documentation_runs(small, knobs):
    text = (pathlib.Path(__file__).parents[4] / "docs" / "tutorials" / "via.md").read_text()
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert found is not None
    names: dict = {}
    exec(found.group(1), names)
    times = run(names["program"], names["program"], small=small, **knobs)
    assert [len(some) for some in times] == [10, 10] and min(times[0]) > 100
