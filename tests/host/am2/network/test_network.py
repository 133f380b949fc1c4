"""The network way of AM-II on the functional target: messages, data, order, room.

``tests/host/am2/network/test_on_target.py`` runs the same functions on RTL.
"""

from unittest import mock

import pytest
from nicbed.host.am2 import AM_EVENTS, Am2
from nicbed.layouts.am2 import LONG, Opcode, Status
from nicbed.testbench.backends.model.processor import ModelEngine

from tests.models.am2_network import run
from tests.programs.am2_network import (
    REPLIES,
    REQUESTS,
    START,
    Party,
    data_of,
    name,
    parties,
)


def test_arguments_there_and_back():
    """Of every number; a reply has its request's."""
    async def ask(party: Party):
        for count in range(9):
            await party.request(name(1), *range(100 + count, 100 + 2 * count))
            await party.until(lambda wanted=count: len(party.got) > wanted)
        return party.got

    async def answer(party: Party):
        await party.until(lambda: len(party.got) == 9)
        await party.quiet(5000)
        return party.got

    asked, answered = run(parties(ask, answer))
    expected = [tuple(range(100 + count, 100 + 2 * count)) for count in range(9)]
    assert [one.arguments for one in asked] == expected
    assert [one.arguments for one in answered] == expected
    assert {one.opcode for one in asked} == {Opcode.REPLY}
    assert {one.sender for one in asked} == {name(1)} and {one.sender for one in answered} == {
        name(0)}


LENGTHS = [1, 7, 8, 63, 64, 65, 1000, 1024, 1025, 3001, LONG - 1, LONG]


@pytest.mark.parametrize("opcode, mtu", [
    (Opcode.REQUEST_I, 1024), (Opcode.REQUEST_XFER, 1024), (Opcode.REQUEST_XFER, 200),
    (Opcode.REQUEST_I, 64)])
def test_data_of_every_length_arrive_whole(opcode, mtu):
    """Both ways: a request with data is replied to with others."""
    reply = REPLIES[REQUESTS.index(opcode)]
    lengths = [length for length in LENGTHS if length <= 16 * mtu]

    async def ask(party: Party):
        for count, length in enumerate(lengths):
            await party.request(name(1), count, 7, 8, data=data_of(count, length), opcode=opcode,
                                offset=count)
        await party.until(lambda: len(party.got) == len(lengths))
        return party.got

    async def answer(party: Party):
        async def back(party, arrived):
            assert arrived.offset == arrived.arguments[0]
            await party.reply(arrived, reply, data_of(1000 + arrived.arguments[0],
                                                      lengths[arrived.arguments[0]]))
        party.answer = back
        await party.until(lambda: len(party.got) == len(lengths))
        return party.got

    asked, answered = run(parties(ask, answer), nic__mtu=mtu)
    assert [one.arguments for one in answered] == [(n, 7, 8) for n in range(len(lengths))]
    assert [one.data for one in answered] == [data_of(n, k) for n, k in enumerate(lengths)]
    assert [one.data for one in asked] == [data_of(1000 + n, k) for n, k in enumerate(lengths)]
    assert {one.opcode for one in answered} == {opcode} and {one.opcode for one in asked} == {reply}


def test_no_data_at_all():
    async def ask(party: Party):
        await party.request(name(1), 5, data=b"", opcode=Opcode.REQUEST_XFER)
        await party.until(lambda: party.got)
        return party.got

    async def answer(party: Party):
        await party.until(lambda: party.got)
        return party.got

    asked, answered = run(parties(ask, answer))
    assert answered[0].data == b"" and answered[0].opcode is Opcode.REQUEST_XFER
    assert asked[0].opcode is Opcode.REPLY


def test_to_itself():
    async def both(party: Party):
        await party.request(party.endpoint.name, 1, data=data_of(1, 100))
        await party.until(lambda: len(party.got) == 2)
        return [(one.opcode, one.data) for one in party.got]

    expected = [(Opcode.REQUEST_I, data_of(1, 100)), (Opcode.REPLY, b"")]
    assert run(parties(both, both)) == [expected] * 2


@pytest.mark.parametrize("nodes", [3])
def test_everybody_to_everybody(nodes):
    rounds = 6

    async def body(party: Party):
        here = party.node.number
        others = [node for node in range(nodes) if node != here]
        for number in range(rounds):
            for to in others:
                await party.request(name(to), number, data=data_of(number, 1500)
                                    if number % 3 == 0 else None)
        await party.until(lambda: len(party.got) == 2 * rounds * len(others))
        for node in others:
            for kinds in (REQUESTS, REPLIES):
                found = [one for one in party.of(*kinds) if one.sender == name(node)]
                assert [one.arguments[0] for one in found] == list(range(rounds))
                if kinds is REQUESTS:
                    assert [one.data for one in found] == [
                        data_of(number, 1500) if number % 3 == 0 else b""
                        for number in range(rounds)]
        return (await party.counters())["resent"]

    assert run(parties(*[body] * nodes), fabric__nodes=nodes) == [0] * nodes


@pytest.mark.parametrize("window, packets", [(1, 2), (3, 2), (64, 3)])
def test_small_windows_and_queues(window, packets):
    """Nothing is sent again, however often there is no room."""
    count = 60

    async def ask(party: Party):
        for number in range(count):
            await party.request(name(1), number, data=data_of(number, 2000)
                                if number % 7 == 0 else None)
        await party.until(lambda: len(party.got) == count)
        return [one.arguments[0] for one in party.got], (await party.counters())["resent"]

    async def answer(party: Party):
        await party.node.port.delay(100_000)
        while len(party.got) < count:
            if await party.poll() and len(party.got) % 10 == 0:
                await party.node.port.delay(10_000)
        await party.quiet(50_000)
        return [one.arguments[0] for one in party.got], await party.counters()

    (asked, resent), (answered, counters) = run(
        parties(ask, answer), am2__window=window, am2__frame_packets=packets)
    assert asked == answered == list(range(count))
    assert resent == counters["resent"] == 0 and counters["full"] > 0


def test_replies_pass_requests_that_find_no_room():
    """Both have the other's queue of requests full, and nobody takes any: replies arrive still."""
    async def body(party: Party):
        there = name(1 - party.node.number)
        first = []
        for number in range(4):
            await party.request(there, number)
        await party.node.port.delay(20_000)
        party.answers = False

        async def keep(_, arrived):
            first.append(arrived)
        party.answer = keep
        while len(first) < 2:
            await party.poll()
        for number in range(10, 16):
            await party.request(there, number, wait=False)
        await party.node.port.delay(50_000)
        for arrived in first:
            await party.reply(arrived)
        # Not one request more is taken here.
        while len(party.of(*REPLIES)) < 2:
            await party.way._receiving.look(party.endpoint.parts[party.way])
            frame = party.endpoint.parts[party.way]
            if frame.seen[1] != frame.taken[1]:
                await party.poll()
        seen = [one.arguments[0] for one in party.of(*REPLIES)]
        party.answer = None
        party.answers = True
        await party.until(lambda: len(party.of(*REQUESTS)) == 10)
        await party.quiet(30_000)
        return seen

    assert run(parties(body, body), am2__frame_packets=2, am2__window=1) == [[0, 1]] * 2


def test_replies_without_room_are_kept():
    """More than the queue of replies holds, to somebody who takes none; the others' go on."""
    count = 30

    async def ask(party: Party):
        for number in range(count):
            await party.request(name(1), number, data=data_of(number, 500))
        await party.node.port.delay(300_000)
        await party.until(lambda: len(party.got) == count)
        return [(one.arguments[0], one.data) for one in party.got]

    async def answer(party: Party):
        async def back(party, arrived):
            await party.reply(arrived, Opcode.REPLY_I, data_of(100 + arrived.arguments[0], 300))
        party.answer = back
        most = 0
        while len(party.got) < count or party.way.kept(party.endpoint):
            await party.poll()
            most = max(most, party.way.kept(party.endpoint))
        return most

    asked, most = run(parties(ask, answer), am2__frame_packets=2)
    assert asked == [(number, data_of(100 + number, 300)) for number in range(count)]
    assert most > 5


def test_an_asynchronous_request_without_room_is_not_sent():
    async def ask(party: Party):
        found = [await party.request(name(1), number, wait=False) for number in range(40)]
        sent = found.count(Status.AM_OK)
        assert found[:16] == [Status.AM_OK] * 16
        await party.until(lambda: len(party.got) == sent)
        await party.quiet(10_000)
        return found.count(Status.AM_ERR_NOT_SENT), sent, len(party.got)

    async def answer(party: Party):
        await party.node.port.delay(100_000)
        await party.quiet(200_000)
        return len(party.got)

    (refused, sent, got), taken = run(parties(ask, answer), am2__frame_packets=2)
    assert refused and got == taken == sent < 40


def test_waiting_gives_up_the_cpu():
    async def ask(party: Party):
        for delay in (30_000, 100_000):
            await party.node.port.delay(delay)
            await party.request(name(1), delay)
        await party.until(lambda: len(party.got) == 2)

    async def answer(party: Party):
        times = []
        assert not await party.way.sleep([party.endpoint], 3000)
        while len(party.got) < 2:
            assert await party.way.sleep([party.endpoint], 0)
            times.append(party.node.port.cycle)
            assert await party.way.sleep([party.endpoint], 0)
            await party.until(lambda: len(party.got) == len(times))
        return times

    _, times = run(parties(ask, answer))
    assert times[1] - times[0] == pytest.approx(100_000, abs=5000)


@pytest.mark.parametrize("attachment, doorbells", [
    ("local_bus", "queue"), ("memory_bus", "queue"), ("io_bus", "words")])
def test_every_attachment_and_kind_of_doorbell(attachment, doorbells):
    async def both(party: Party):
        there = name(1 - party.node.number)
        for number in range(40):
            await party.request(there, number, data=data_of(number, 1500)
                                if number % 5 == 0 else None)
        await party.until(lambda: len(party.got) == 80)
        return [one.data for one in party.of(*REQUESTS)]

    expected = [data_of(number, 1500) if number % 5 == 0 else b"" for number in range(40)]
    assert run(parties(both, both), nic__attachment=attachment,
               processor__doorbells=doorbells) == [expected] * 2


def test_more_doorbells_than_the_hardware_holds():
    async def ask(party: Party):
        others = [await party.another(number).open() for number in (1, 2)]
        for number in range(20):
            for one in (party, *others):
                await one.request(name(1), number)
        await party.until(lambda: all(len(one.got) == 20 for one in party.parties))

    async def answer(party: Party):
        await party.until(lambda: len(party.got) == 60)
        return len(party.got)

    assert run(parties(ask, answer), processor__doorbell_queue=4)[1] == 60


@pytest.mark.parametrize("cpus, nics", [(3, 1), (2, 2), (4, 3)])
def test_processes_of_a_node_share_its_nics(cpus, nics):
    """Each talks to all of another node, and of its own."""
    async def body(party: Party):
        names = [name(node, cpu) for node in (0, 1) for cpu in range(cpus)]
        party.node.port.process = 0
        await party.node.port.delay(1000 * party.node.cpu)
        for number in range(2):
            for to in names:
                await party.request(to, number, data=data_of(number, 300) if number == 1 else None)
        await party.until(lambda: len(party.got) == 4 * len(names))
        for to in names:
            for kinds in (REQUESTS, REPLIES):
                assert [one.arguments[0] for one in party.of(*kinds) if one.sender == to] == [
                    0, 1]
        await party.quiet(20_000)
        return len(party.got)

    found = run(parties([body] * cpus, [body] * cpus), node__cpus=cpus, node__nics=nics)
    assert found == [[8 * cpus] * cpus] * 2


def test_a_delay_behind_each_packet_is_in_the_gap():
    """Of nine packets each is a delay later than the one before."""
    def taken(**knobs):
        async def ask(party: Party):
            begin = party.node.port.cycle
            await party.request(name(1), data=data_of(1, LONG))
            await party.until(lambda: party.got)
            return party.node.port.cycle - begin

        async def answer(party: Party):
            await party.until(lambda: party.got)

        return run(parties(ask, answer), am2__retry_timeout=200_000, **knobs)[0]

    for knob in ("am2__work_send", "am2__work_receive"):
        short, long = (taken(**{knob: work}) for work in (3000, 5000))
        assert long - short == pytest.approx(9.5 * 2000, rel=0.15)


def test_the_library_over_the_network():
    """Am2 itself: translations, handlers, transfers, replies that nobody sends, WaitSema."""
    async def program(node):
        am, got = Am2(node), []
        await am.AM_Init()
        _, bundle = await am.AM_AllocateBundle()
        _, endpoint, _ = await am.AM_AllocateEndpoint(bundle)
        await am.AM_SetTag(endpoint, 77)
        segment = node.allocate(LONG)
        await am.AM_SetSeg(endpoint, segment, LONG)

        async def asked(token, address, length, word):
            got.append((word, node.memory.read(address, length)))
            if word:
                await am.AM_ReplyM(token, 2, word + 1)
        await am.AM_SetHandler(endpoint, 1, asked)
        await am.AM_SetHandler(endpoint, 2, lambda token, word: got.append(word))
        await am.AM_Map(endpoint, 0, name(1 - node.number), 77)
        start = START - await node.port.flush()
        await node.port.delay(start)
        source = node.allocate(200)
        node.memory.write(source, data_of(node.number, 200))
        for word in (0, 5):
            assert await am.AM_RequestXferM(endpoint, 0, 100, 1, source, 200, word) \
                is Status.AM_OK
        await am.AM_SetEventMask(bundle, AM_EVENTS.AM_NOTEMPTY)
        while len(got) < 3 or endpoint.outstanding:
            await am.AM_WaitSema(bundle)
            await am.AM_Poll(bundle)
        await node.port.delay(100_000)
        await am.AM_Terminate()
        return got

    found = run([program] * 2)
    for here, got in enumerate(found):
        data = data_of(1 - here, 200)
        assert sorted(got, key=str) == sorted([(0, data), (5, data), 6], key=str)


def test_a_message_is_shown_when_its_data_are_there():
    """However long they take to host memory: it and what is behind it wait."""
    def slow(engine, *command):
        model = engine.processor.model
        model.at(model.now + 15_000, lambda: push(engine, *command))

    async def ask(party: Party):
        for number in range(4):
            await party.request(name(1), number, data=data_of(number, 1500)
                                if number % 2 == 0 else None)
        await party.until(lambda: len(party.got) == 4)

    async def answer(party: Party):
        await party.until(lambda: len(party.got) == 4)
        return [(one.arguments[0], one.data) for one in party.got]

    push = ModelEngine.push
    with mock.patch.object(ModelEngine, "push", slow):
        found = run(parties(ask, answer))[1]
    assert found == [(number, data_of(number, 1500) if number % 2 == 0 else b"")
                     for number in range(4)]
