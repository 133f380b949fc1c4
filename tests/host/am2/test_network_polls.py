"""Which polls look at the network: both kinds, by hand; and how far apart looks are where it is all
that is polled, on the functional target."""

from random import Random

import pytest
from nicbed.host.am2 import Am2, EndpointName
from nicbed.host.am2.network_polls import Adaptive, Fractional
from nicbed.host.port.node import Node

from tests.models.target import Model
from tests.programs.am2_network import LIMIT, describe


def turns(polls: Adaptive | Fractional, count: int, found: int = 0) -> list[tuple[int, int]]:
    """Of ``count`` polls, those that look, and how many messages they may take; each finds
    ``found``."""
    looks = []
    for number in range(1, count + 1):
        most = polls.turn()
        if most:
            looks.append((number, most))
            polls.told(found)
    return looks


@pytest.mark.parametrize("every", [1, 2, 8, 1024])
def test_fractional_looks_once_in_so_many_and_takes_so_many(every):
    assert turns(Fractional(every), 3 * every, 5) == [
        (every, every), (2 * every, every), (3 * every, every)]


def test_adaptive_without_traffic_looks_every_32nd_poll():
    assert turns(Adaptive(), 200) == [(number, 32) for number in range(32, 201, 32)]


def test_adaptive_with_much_traffic_looks_every_8th_poll():
    polls = Adaptive()
    turns(polls, 32 * 40, 8)
    first = turns(polls, 80, 8)
    assert [most for _, most in first] == [8] * 10


def test_adaptive_predicts_by_messages_and_polls_of_the_last_32_looks():
    """32 looks span 1,024 polls. With 64 messages among them one is due after 16 polls, with 65
    (1024 / 65 = 15.75) also, with 69 (14.8) after 15. A look of 16 polls in place of one of 32
    makes that 1,008."""
    for messages, due in ((32, 32), (33, 32), (34, 31), (64, 16), (65, 16), (69, 15), (127, 9),
                          (128, 8), (1000, 8)):
        polls = Adaptive()
        turns(polls, 31)
        assert polls.turn() == 32
        polls.told(messages)
        assert turns(polls, due)[-1] == (due, due), messages
    polls = Adaptive()
    turns(polls, 31)
    polls.turn()
    polls.told(64)
    assert turns(polls, 16) == [(16, 16)]
    # 64 messages in 1,008 polls: 15.75.
    assert turns(polls, 16) == [(16, 16)]
    # 992: 15.5; 976: 15.25; 960: 15.
    assert turns(polls, 48) == [(16, 16), (32, 16), (47, 15)]


def test_adaptive_forgets_what_is_32_looks_old():
    polls = Adaptive()
    turns(polls, 31)
    polls.turn()
    polls.told(1000)
    assert turns(polls, 31 * 8) == [(8 * number, 8) for number in range(1, 32)]
    # The look that found them counts for one look more: then there is nothing.
    assert turns(polls, 8 + 32) == [(8, 8), (40, 32)]


@pytest.mark.parametrize("seed", range(20))
def test_adaptive_looks_never_sooner_than_8_nor_later_than_32(seed):
    """By the rule: of H messages in the last 32 looks, which span S polls, one is due once s polls
    have passed with s H >= S."""
    draw = Random(seed)
    polls = Adaptive()
    found, spans = [0] * 32, [32] * 32
    since, looks = 0, 0
    rate = draw.choice([0.01, 0.1, 1, 5])
    for _ in range(5000):
        since += 1
        most = polls.turn()
        due = since >= 8 and (since >= 32 or since * sum(found[-32:]) >= sum(spans[-32:]))
        assert most == (since if due else 0)
        if most:
            assert 8 <= most <= 32
            messages = min(most, int(draw.expovariate(1 / rate)))
            polls.told(messages)
            found.append(messages)
            spans.append(since)
            since, looks = 0, looks + 1
    assert 5000 / 32 - 1 <= looks <= 5000 / 8


def looks(apart: int, protocol: str = "network") -> tuple[float, int, int]:
    """Cycles of a poll in vain, mean of ten; those of one that 5,000 cycles of computation come
    before; and those of a request right behind a poll in vain."""
    async def program(node: Node) -> tuple[float, int, int]:
        am = Am2(node)
        await am.AM_Init()
        _, bundle = await am.AM_AllocateBundle()
        _, endpoint, _ = await am.AM_AllocateEndpoint(bundle)
        await am.AM_SetTag(endpoint, 7)
        await am.AM_Map(endpoint, 0, EndpointName(1, 0), 7)
        flush = node.port.flush
        await am.AM_Poll(bundle)
        begin = await flush()
        for _ in range(10):
            await am.AM_Poll(bundle)
        each = (await flush() - begin) / 10
        await node.port.delay(5000)
        begin = await flush()
        await am.AM_Poll(bundle)
        late = await flush() - begin
        begin = await flush()
        await am.AM_RequestM(endpoint, 0, 1, 5)
        return each, late, await flush() - begin

    description = describe(**{"am2.poll_apart": apart, "am2.protocol": protocol})
    return Model(description).run([program, None], limit=LIMIT).results[0]


def test_looks_of_a_process_that_waits_are_apart():
    """But neither that of one that has done something else meanwhile, nor that of a request."""
    at_once, later = looks(0), looks(1000)
    assert at_once[0] < 200 and 1000 < later[0] <= 1000 + at_once[0]
    assert later[1:] == at_once[1:] and later[1] < 200 and later[2] < 1000


def test_polls_of_both_protocols_are_not_apart():
    assert looks(1000, "both") == looks(0, "both")
