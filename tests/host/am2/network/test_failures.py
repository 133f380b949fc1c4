"""The network way of AM-II when something goes wrong: messages that come back, lost packets,
processes that end.

``tests/host/am2/network/test_on_target.py`` runs the same functions on RTL.
"""

import pytest
from nicbed.layouts.am2 import ALL, NONE, Opcode, Returned

from tests.labs.rows import more
from tests.models.am2_network import run
from tests.models.target import Model
from tests.programs.am2_network import (
    LIMIT,
    REPLIES,
    REQUESTS,
    TAG,
    Party,
    data_of,
    describe,
    name,
    parties,
)

FAULTS = {
    "drop": {"faults__drop": 0.15}, "corrupt": {"faults__corrupt": 0.15},
    "duplicate": {"faults__duplicate": 0.3},
    "all": {"faults__drop": 0.06, "faults__corrupt": 0.06, "faults__duplicate": 0.1,
            "faults__delay": 0.05, "faults__delay_cycles": 3000},
}


def come_back(party: Party) -> list[tuple[Opcode, tuple[int, ...], int]]:
    return [(one.opcode, one.arguments, one.returned) for one in party.got if one.returned]


async def nothing(party: Party):
    await party.quiet(400_000)
    return party.got


def test_a_wrong_tag_brings_a_message_back():
    """With its own arguments and operation; what is behind it arrives. ALL takes every tag, NONE
    takes none."""
    async def ask(party: Party):
        await party.request(name(1), 1, 2, 3, tag=TAG + 1)
        await party.request(name(1), 4, data=data_of(1, 3000), tag=TAG ^ 1 << 63)
        await party.request(name(1), 5, data=data_of(2, 3000))
        await party.request(name(1, 0, 1), 6, tag=99)
        await party.request(name(1, 0, 2), 7)
        await party.until(lambda: len(party.got) == 5)
        return party.got

    async def answer(party: Party):
        every = party.another(1)
        every.endpoint.tag = ALL
        none = party.another(2)
        none.endpoint.tag = NONE
        for one in (every, none):
            await one.open()
        await party.until(lambda: party.got and every.got)
        await party.quiet(50_000)
        return party.got, every.got, none.got

    got, (here, every, none) = run(parties(ask, answer))
    assert sorted((one.opcode, one.arguments, one.returned) for one in got) == sorted([
        (Opcode.REQUEST, (1, 2, 3), Returned.BADTAG), (Opcode.REQUEST_I, (4,), Returned.BADTAG),
        (Opcode.REPLY, (5,), 0), (Opcode.REPLY, (6,), 0), (Opcode.REQUEST, (7,), Returned.BADTAG)])
    assert [one.data for one in here] == [data_of(2, 3000)]
    assert [(one.arguments, one.tag) for one in every] == [((6,), 99)] and none == []
    assert {one.sender for one in got if one.arguments[0] < 6} == {name(1)}


def test_a_tag_changed_under_way():
    async def ask(party: Party):
        for number in range(30):
            await party.request(name(1), number)
            await party.node.port.delay(2000)
        await party.until(lambda: len(party.got) == 30)
        return come_back(party), [one.arguments[0] for one in party.of(*REPLIES)]

    async def answer(party: Party):
        await party.until(lambda: len(party.got) == 10)
        party.endpoint.tag = TAG + 1
        await party.way.retag(party.endpoint)
        await party.quiet(400_000)
        return [(one.arguments[0], one.tag) for one in party.got]

    (back, replied), taken = run(parties(ask, answer))
    assert back and all(reason == Returned.BADTAG for *_, reason in back)
    # What the NIC had taken before has its own tag still.
    assert [number for number, _ in taken] == replied == list(range(len(replied)))
    assert {tag for _, tag in taken} == {TAG} and len(taken) < 30


def test_an_endpoint_that_is_not_open():
    """One that never was is waited for for a while; one that has been closed is not."""
    async def ask(party: Party):
        late = name(1, 0, 3)
        await party.request(late, 1)
        await party.request(name(1, 0, 4), 2, data=data_of(1, 100))
        await party.until(lambda: len(party.got) == 2)
        await party.request(late, 3)
        await party.until(lambda: len(party.got) == 3)
        return [(one.opcode, one.arguments, one.returned) for one in party.got]

    async def answer(party: Party):
        await party.node.port.delay(20_000)
        late = await party.another(3).open()
        await party.until(lambda: late.got)
        await party.way.close(late.endpoint)
        party.parties.remove(late)
        await party.quiet(300_000)

    got, _ = run(parties(ask, answer))
    assert sorted(got[:2]) == [(Opcode.REQUEST_I, (2,), Returned.BADENDPOINT),
                               (Opcode.REPLY, (1,), 0)]
    assert got[2] == (Opcode.REQUEST, (3,), Returned.BADENDPOINT)


def test_an_endpoint_closed_with_messages_that_it_has_not_handled():
    """They go back; so do those on their way, and those with data."""
    async def ask(party: Party):
        for number in range(12):
            await party.request(name(1), number, data=data_of(number, 4000)
                                if number % 4 == 3 else None)
        await party.until(lambda: len(party.got) == 12)
        return sorted((one.arguments[0], one.returned) for one in party.got)

    async def answer(party: Party):
        await party.until(lambda: len(party.got) == 2)
        await party.node.port.delay(15_000)

    got, _ = run(parties(ask, answer))
    assert [number for number, _ in got] == list(range(12))
    assert {reason for _, reason in got} == {0, Returned.BADENDPOINT}
    assert [reason for number, reason in got if number < 2] == [0, 0]


def test_a_process_that_ends():
    """In the middle, with requests that it has taken and not: all come back, UNREACHABLE; later
    ones, too. Its own last messages arrive."""
    async def ask(party: Party):
        for number in range(10):
            await party.request(name(1), number)
        await party.until(lambda: len(party.of(*REPLIES)) + len(come_back(party)) == 10)
        await party.request(name(1), 10)
        await party.until(lambda: come_back(party)[-1][1] == (10,))
        return [one.arguments[0] for one in party.of(*REPLIES)], come_back(party), [
            one.arguments[0] for one in party.of(*REQUESTS)]

    async def end(node):
        party = await Party(node).open()

        async def last(_, arrived):
            if arrived.arguments[0] < 3:
                await party.reply(arrived)
        party.answer = last
        await party.until(lambda: len(party.got) == 3)
        await party.request(name(0), 77)
        await party.way.end(party.endpoint)

    programs = parties(ask, None)
    (replied, back, last), _ = run([programs[0], end])
    assert replied == [0, 1, 2] and last == [77]
    assert sorted(one for one in back if one[1] != (77,)) == [
        (Opcode.REQUEST, (number,), Returned.UNREACHABLE) for number in range(3, 11)]


def test_a_node_that_does_not_answer():
    async def ask(party: Party):
        for number in range(3):
            await party.request(name(1), number)
        await party.until(lambda: len(party.got) == 3)
        await party.request(name(1), 3)
        await party.until(lambda: len(party.got) == 4)
        return come_back(party)

    back, _ = run(parties(ask, nothing), faults__drop=1.0, am2__retries=1)
    assert back == [(Opcode.REQUEST, (number,), Returned.UNREACHABLE) for number in range(4)]


def test_a_message_that_a_process_sends_back():
    """For its own reasons: that is the end of it, and another is replied to."""
    async def ask(party: Party):
        await party.request(name(1), 1)
        await party.until(lambda: party.got)
        await party.request(name(1), 2)
        await party.until(lambda: len(party.got) == 2)
        return come_back(party), party.of(Opcode.REPLY)[0].arguments

    async def answer(party: Party):
        async def refuse(_, arrived):
            if arrived.arguments[0] == 1:
                await party.reply(arrived, arrived.opcode, returned=Returned.BADHANDLER)
            else:
                await party.reply(arrived)
        party.answer = refuse
        await party.until(lambda: len(party.got) == 2)
        await party.quiet(20_000)

    (back, reply), _ = run(parties(ask, answer))
    assert back == [(Opcode.REQUEST, (1,), Returned.BADHANDLER)] and reply == (2,)


def test_a_reply_to_a_process_that_has_closed_comes_back():
    """To where requests come, and with the wire's data gone."""
    async def ask(party: Party):
        await party.request(name(1), 1)
        await party.node.port.delay(20_000)

    async def answer(party: Party):
        async def late(_, arrived):
            await party.node.port.delay(150_000)
            await party.reply(arrived, Opcode.REPLY_I, data_of(1, 2000))
        party.answer = late
        await party.until(lambda: come_back(party))
        return come_back(party)

    assert run(parties(ask, answer))[1] == [(Opcode.REPLY_I, (1,), Returned.BADENDPOINT)]


def test_what_comes_back_waits_for_room():
    """More than the queue of replies holds; its owner takes none of them for a while."""
    async def ask(party: Party):
        for number in range(14):
            await party.request(name(1), number, tag=1)
        await party.node.port.delay(200_000)
        await party.until(lambda: len(party.got) == 14)
        await party.quiet(20_000)
        return come_back(party), (await party.counters())["returned"]

    back, returned = run(parties(ask, nothing), am2__frame_packets=2)[0]
    assert back == [(Opcode.REQUEST, (number,), Returned.BADTAG) for number in range(14)]
    assert returned == 14


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("seed", [1, more(2)])
def test_faults_lose_nothing_and_deliver_once(fault, seed):
    """Both ways at once, short messages and data; in order of each class."""
    count = 24

    async def body(party: Party):
        there = name(1 - party.node.number)
        for number in range(count):
            await party.request(there, number, data=data_of(number, 700 * number)
                                if number % 4 == 1 and number < 12 else None)
        await party.until(lambda: len(party.got) == 2 * count)
        await party.quiet(200_000)
        return party.got, await party.counters()

    found = run(parties(body, body), faults__seed=seed, am2__retries=20, am2__window=4,
                nic__mtu=512, am2__retry_timeout=10_000, **FAULTS[fault])
    for got, counters in found:
        assert not any(one.returned for one in got)
        for kinds in (REQUESTS, REPLIES):
            assert [one.arguments[0] for one in got if one.opcode in kinds] == list(range(count))
        for one in got:
            number = one.arguments[0]
            if one.opcode in REQUESTS and number % 4 == 1 and number < 12:
                assert one.data == data_of(number, 700 * number)
        assert counters["resent"] if fault != "duplicate" else counters["duplicates"]


@pytest.mark.parametrize("seed", [3])
def test_messages_sent_again_are_told(seed):
    """With losses the firmware says what it sends again; without any it says nothing."""
    async def ask(party: Party):
        for number in range(20):
            await party.request(name(1), number)
        await party.until(lambda: len(party.got) == 20)

    def again(**knobs):
        model = Model(describe(**knobs))
        model.run(parties(ask, nothing), limit=LIMIT)
        return sum(len(nic.processor.again) for nic in model.nics)

    assert again(faults__drop=0.1, faults__seed=seed) > 0 and again() == 0


def test_a_receiver_that_is_slow_is_not_given_up():
    """It has no room for far longer than a silent one has."""
    async def ask(party: Party):
        for number in range(4):
            await party.request(name(1), number)
        await party.until(lambda: len(party.got) == 4)
        return come_back(party), await party.counters()

    async def answer(party: Party):
        await party.node.port.delay(600_000)
        await party.quiet(200_000)

    back, counters = run(parties(ask, answer), am2__retries=1, am2__retry_timeout=10_000,
                         am2__frame_packets=2)[0]
    assert not back and counters["waits"] > 40 and counters["resent"] == 0
