"""What a host program can do wrong: each mistake is one line that says what is wrong."""

import pytest
from nicbed.host.am import Gam
from nicbed.host.fm import Fm
from nicbed.host.port.port import Watch
from nicbed.host.processor import NicProcessor

from tests.models.target import Model
from tests.programs import fm as fm_scenarios
from tests.programs.am import describe


def nothing(am, source, *args):
    pass


def active(mistake, handlers=(nothing,), other=(nothing,)):
    """Node 0 makes ``mistake``; both nodes serve."""
    async def program(node):
        am = Gam(node, handlers if node.number == 0 else other)
        await am.enable()
        if node.number == 0:
            await mistake(am)
        await am.disable()
    return program


def fast(mistake, handlers=(nothing,), other=(nothing,)):
    async def program(node):
        fm = Fm(node, handlers if node.number == 0 else other)
        await fm.FM_initialize()
        if node.number == 0:
            await mistake(fm)
            await fm.FM_finalize()
        else:
            await fm.extract_until(lambda: False)
    return program


def plain(mistake):
    async def program(node):
        if node.number == 0:
            await mistake(node)
    return program


async def allocate(node):
    node.allocate(1 << 40)


async def outside(node):
    node.memory.read(node.memory.size - 4, 8)


async def unknown_item(node):
    node.port.work("nonsense")


async def no_firmware(node):
    node.service(NicProcessor).address("x")


async def not_operation(node):
    class Odd:
        def __await__(self):
            yield 1
    await Odd()


def answers_nowhere(am, source, *args):
    return am.reply(9)


def number(am, source, *args):
    return 5


async def twice(am, source, *args):
    await am.reply(0)
    await am.reply(0)


async def requests(am, source, *args):
    await am.request(0, 0)


def no_argument():
    pass


CASES = {
    "request, index": (active(lambda am: am.request(1, 3)),
                       "node 0 sent node 1 a request for handler 3: there are 1 in node 1's table"),
    "reply, index": (active(lambda am: am.request(1, 0), other=[answers_nowhere]),
                     "node 1 sent node 0 a reply for handler 9: there are 1 in node 0's table"),
    "store, index": (active(lambda am: am.store(1, 64, 64, 8, 3)),
                     "node 0 sent node 1 a store for handler 3: there are 1"),
    "get, index": (active(lambda am: am.get(1, 64, 64, 8, 7)),
                   "node 1 sent node 0 a get for handler 7: there are 1"),
    "index of no table": (active(lambda am: am.request(1, 255)), "an index is 0 to 254"),
    "negative index": (active(lambda am: am.request(1, -1)), "handler -1: an index is 0 to 254"),
    "store, no index": (active(lambda am: am.store(1, 64, 64, 8, 300)), "handler 300"),
    "no callable of the table": (active(lambda am: am.request(1, twice)),
                                 "'twice' is not in the handler table"),
    "no such node": (active(lambda am: am.request(7, 0)), "node 7: there are nodes 0 to 1"),
    "a word": (active(lambda am: am.request(1, 0, -1)), "words are unsigned, of 32 bits"),
    "five words": (active(lambda am: am.request(1, 0, 1, 2, 3, 4, 5)), "has 0 to 4 words, not 5"),
    "memory": (active(lambda am: am.store(1, -8, 64, 8)), "local address -0x8"),
    "two replies": (active(lambda am: am.request(1, 0), other=[twice]), "replies once"),
    "request in handler": (active(lambda am: am.request(1, 0), other=[requests]),
                           "am_request in a request handler"),
    "handler's arguments": (active(lambda am: am.request(1, 0), other=[no_argument]),
                            "no_argument() takes 0 positional arguments"),
    "handler's result": (active(lambda am: am.request(1, 0), other=[number]),
                         "handler 'number' returned 5: it must be a coroutine function or "
                         "return None"),
    "FM, index": (fast(lambda fm: fm.FM_send_4(1, 3, 0, 0, 0, 0)),
                  "node 0 sent node 1 a message for handler 3: there are 1 in node 1's table"),
    "FM, no index": (fast(lambda fm: fm.FM_send_4(1, 256, 0, 0, 0, 0)), "an index is 0 to 255"),
    "FM, node": (fast(lambda fm: fm.FM_send_4(5, 0, 0, 0, 0, 0)), "node 5: there are nodes 0 to 1"),
    "FM, result": (fast(lambda fm: fm.FM_send_4(1, 0, 0, 0, 0, 0), other=[number]),
                   "handler 'number' returned 5: it must be a coroutine function or "
                   "return None"),
    "allocate": (plain(allocate), "host memory is full"),
    "outside of memory": (plain(outside), "memory has"),
    "cost item": (plain(unknown_item), "unknown cost item 'nonsense'; there are"),
    "negative delay": (plain(lambda node: node.port.delay(-1)), "must not be negative, not -1"),
    "no watches": (plain(lambda node: node.port.poll([])), "a poll has 1 to"),
    "many watches": (plain(lambda node: node.port.poll([Watch(64, 1, 1)] * 9)), "not 9"),
    "no firmware": (plain(no_firmware), "no firmware runs on node 0"),
    "no such firmware": (plain(lambda node: node.service(NicProcessor).start("nonsense")),
                         "nonsense"),
    "awaits something else": (plain(not_operation), "awaited something that is not an operation"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_one_line(case):
    program, said = CASES[case]
    model = Model(describe(fm_scenarios.CORE) if case.startswith("FM") or "firmware" in case
                  else describe({}))
    with pytest.raises(Exception) as error:  # noqa: B017, PT011 - the text is what counts
        model.run([program, program], limit=1 << 22)
    text = str(error.value)
    assert said in text
    assert "\n" not in text and "list index" not in text
