"""What AM-II promises, each by its name, on the functional target."""

from typing import Any

import pytest
from nicbed.host.am2 import AM_EVENTS, AM_OP, AM_RETURNED, AM_STATUS, Am2, Am2Error, EndpointName
from nicbed.layouts.am2 import ALL, LONG, NONE

from tests.models.target import Model
from tests.programs import am2_network
from tests.programs.am2 import SEGMENT, TAG, Process, describe

OK, BAD_ARG = AM_STATUS.AM_OK, AM_STATUS.AM_ERR_BAD_ARG
RESOURCE, NOT_INIT = AM_STATUS.AM_ERR_RESOURCE, AM_STATUS.AM_ERR_NOT_INIT
LIMIT = 3_000_000


def run(*programs: Any, **knobs: Any) -> list[Any]:
    return Model(describe(len(programs), **knobs)).run(
        [list(programs), None], limit=LIMIT).results[0]


def idle(process_of: Any = None) -> Any:
    """A program that serves, with the handlers that ``process_of`` gives it."""
    async def program(node: Any) -> Any:
        process = Process(node)
        await process.open(**(process_of(process) if process_of else {"h1": process.note}))
        await process.close()
        return process.got, process.back
    return program


def asks(body: Any, **handlers: Any) -> Any:
    """A program with ``body(process)`` between opening and closing; its result."""
    async def program(node: Any) -> Any:
        process = Process(node)
        await process.open(**({"h1": process.note} | handlers))
        result = await body(process)
        await process.close()
        return result
    return program


# Limits


@pytest.mark.parametrize("count", range(9))
def test_a_message_has_up_to_eight_arguments(count):
    words = tuple(0xFFFF_FFFF - number for number in range(count))

    async def body(process):
        await process.send(1, 1, *words)
        await process.quiet()
        assert await process.am.AM_RequestM(process.endpoint, 1, 1, *range(9)) is BAD_ARG
        return process.got

    def answers(process):
        async def handler(token, *words):
            process.got.append(words)
            assert await process.am.AM_ReplyM(token, 1, *words) is OK
        return {"h1": handler}

    asked, served = run(asks(body), idle(answers))
    assert asked == [words] and served[0] == [words]


@pytest.mark.parametrize("line", [32, 64, 128])
@pytest.mark.parametrize("length", [0, 1, 7, 65, LONG])
def test_bulk_data_are_up_to_8_kb(length, line):
    data = bytes((7 * at + length) % 251 for at in range(length))

    async def body(process):
        am, endpoint, source = process.am, process.endpoint, process.source
        process.node.memory.write(source, data)
        assert await am.AM_RequestIM(endpoint, 1, 1, source, length, 5) is OK
        assert await am.AM_RequestXferM(endpoint, 1, 100, 1, source, length, 6, 7) is OK
        await process.quiet()
        for call in (lambda: am.AM_RequestIM(endpoint, 1, 1, source, LONG + 1),
                     lambda: am.AM_RequestXferM(endpoint, 1, 0, 1, source, LONG + 1),
                     lambda: am.AM_GetXferM(endpoint, 1, 0, 1, 0, LONG + 1)):
            assert await call() is BAD_ARG
        return process.got

    def answers(process):
        async def handler(token, address, length, *words):
            found = process.node.memory.read(address, length)
            process.got.append((found, words, address - process.segment))
            if len(words) == 1:
                await process.am.AM_ReplyIM(token, 1, address, length, *words)
            else:
                await process.am.AM_ReplyXferM(token, 9, 1, address, length, *words)
        return {"h1": handler}

    asked, served = run(asks(body), idle(answers), line=line)
    assert [what[:2] for what in served[0]] == [(data, (5,)), (data, (6, 7))]
    assert served[0][1][2] == 100
    assert [what[1:] for what in asked] == [(length, 5), (length, 6, 7)]


def test_replies_bring_their_data():
    def answers(process):
        async def handler(token, kind):
            process.node.memory.write(process.source, bytes(range(1, 101)))
            if kind:
                assert await process.am.AM_ReplyXferM(token, 33, 2, process.source, 100) is OK
            else:
                assert await process.am.AM_ReplyIM(token, 2, process.source, 100) is OK
        return {"h1": handler}

    async def program(node):
        process = Process(node)
        found = []
        await process.open(h2=lambda token, address, length: found.append(
            (node.memory.read(address, length), address - process.segment)))
        for kind in (0, 1):
            await process.send(1, 1, kind)
        await process.close()
        return found

    found, _ = run(program, idle(answers))
    assert [data for data, _ in found] == [bytes(range(1, 101))] * 2 and found[1][1] == 33


def test_there_are_256_handlers_and_translations():
    async def body(process):
        am, endpoint = process.am, process.endpoint
        assert (am.AM_MaxNumHandlers(), am.AM_MaxNumTranslations()) == (256, 256)
        assert am.AM_MaxMedium() == am.AM_MaxLong() == LONG
        for index in range(256):
            assert await am.AM_SetHandler(endpoint, index, process.note) is OK
            status = await am.AM_Map(endpoint, index, EndpointName(0, 1), TAG)
            assert status is (AM_STATUS.AM_ERR_IN_USE if index < 2 else OK)
        for index in (-1, 256, "1"):
            assert await am.AM_SetHandler(endpoint, index, process.note) is BAD_ARG
            assert await am.AM_Map(endpoint, index, EndpointName(0, 1), TAG) is BAD_ARG
        assert await am.AM_SetHandlerAny(endpoint, process.note) == (RESOURCE, -1)
        assert await am.AM_MapAny(endpoint, EndpointName(0, 1), TAG) == (RESOURCE, -1)
        await process.send(255, 255, 3)

    def all_of_them(process):
        return {f"h{index}": process.note for index in range(1, 256)}

    assert run(asks(body), idle(all_of_them))[1][0] == [(3,)]


# Calls


def test_before_am_init_all_is_not_init():
    async def program(node):
        am: Any = Am2(node)
        calls = ["Terminate", "AllocateBundle", "FreeBundle", "AllocateEndpoint", "FreeEndpoint",
                 "MoveEndpoint", "SetSeg", "GetSeg", "SetTag", "GetTag", "Map", "MapAny", "UnMap",
                 "SetHandler", "SetHandlerAny", "RequestM", "RequestIM", "RequestXferM",
                 "RequestXferAsyncM", "GetXferM", "ReplyM", "ReplyIM", "ReplyXferM", "Poll",
                 "SetEventMask", "GetEventMask", "WaitSema", "GetSourceEndpoint",
                 "GetDestEndpoint", "GetMsgTag"]
        needs = {"Terminate": 0, "AllocateBundle": 0, "MoveEndpoint": 3, "SetSeg": 3, "SetTag": 2,
                 "Map": 4, "MapAny": 3, "UnMap": 2, "SetHandler": 3, "SetHandlerAny": 2,
                 "RequestM": 3, "RequestIM": 5, "RequestXferM": 6, "RequestXferAsyncM": 6,
                 "GetXferM": 6, "ReplyM": 2, "ReplyIM": 4, "ReplyXferM": 5, "SetEventMask": 2}

        async def all_are(which):
            for name in calls:
                result = getattr(am, f"AM_{name}")(*[None] * needs.get(name, 1))
                if not isinstance(result, tuple):
                    result = await result
                status = result[0] if isinstance(result, tuple) else result
                assert status is which, name

        await all_are(NOT_INIT)
        assert await am.AM_Init() is OK and await am.AM_Init() is OK
        assert await am.AM_Terminate() is OK
        await all_are(NOT_INIT)
        await am.AM_Init()
        calls = calls[2:]
        await all_are(BAD_ARG)

    run(program, None)


def test_remapping_is_an_error():
    async def body(process):
        am, endpoint = process.am, process.endpoint
        assert await am.AM_Map(endpoint, 1, EndpointName(0, 1), 7) is AM_STATUS.AM_ERR_IN_USE
        assert await am.AM_UnMap(endpoint, 1) is OK
        assert await am.AM_UnMap(endpoint, 1) is BAD_ARG
        assert await am.AM_RequestM(endpoint, 1, 1) is BAD_ARG
        assert await am.AM_Map(endpoint, 1, EndpointName(0, 1), TAG) is OK
        assert await am.AM_MapAny(endpoint, EndpointName(0, 1), TAG) == (OK, 2)
        await process.send(2, 1)

    run(asks(body), idle())


def test_set_handler_any_never_gives_slot_0():
    async def body(process):
        process.endpoint.handlers[0] = None
        assert await process.am.AM_SetHandlerAny(process.endpoint, process.note) == (OK, 2)
        await process.am.AM_SetHandler(process.endpoint, 0, process.note)

    run(asks(body), idle())


def test_wrong_arguments_are_bad_arg_at_once():
    async def body(process):
        am, endpoint, source = process.am, process.endpoint, process.source
        top = process.node.memory.size
        wrong = [am.AM_RequestM(endpoint, 9, 1), am.AM_RequestM(endpoint, -1, 1),
                 am.AM_RequestM(endpoint, 1, 0), am.AM_RequestM(endpoint, 1, 256),
                 am.AM_RequestM(endpoint, 1, 1, 1 << 32), am.AM_RequestM(endpoint, 1, 1, -1),
                 am.AM_RequestM(None, 1, 1), am.AM_RequestIM(endpoint, 1, 1, 0, 1),
                 am.AM_RequestIM(endpoint, 1, 1, top - 8, 9),
                 am.AM_RequestIM(endpoint, 1, 1, source, -1),
                 am.AM_RequestXferM(endpoint, 1, -1, 1, source, 8),
                 am.AM_RequestXferM(endpoint, 1, 1 << 32, 1, source, 8),
                 am.AM_RequestXferAsyncM(endpoint, 1, 0, 1, 0, 8),
                 am.AM_GetXferM(endpoint, 1, 0, 1, SEGMENT - 7, 8),
                 am.AM_GetXferM(endpoint, 9, 0, 1, 0, 8), am.AM_GetXferM(endpoint, 1, 0, 0, 0, 8),
                 am.AM_SetSeg(endpoint, top - 8, 9), am.AM_SetSeg(endpoint, -1, 9),
                 am.AM_SetTag(endpoint, 1 << 64), am.AM_SetTag(endpoint, -1),
                 am.AM_Map(endpoint, 5, EndpointName(0, 2), TAG),
                 am.AM_Map(endpoint, 5, EndpointName(1, 0), TAG),
                 am.AM_Map(endpoint, 5, (0, 1, 0), TAG),
                 am.AM_Map(endpoint, 5, EndpointName(0, 1, 256), TAG),
                 am.AM_Map(endpoint, 5, EndpointName(0, 1), 1 << 64),
                 am.AM_SetHandler(endpoint, 1, 5), am.AM_SetEventMask(process.bundle, 2),
                 am.AM_WaitSema(process.bundle), am.AM_Poll(None),
                 am.AM_MoveEndpoint(endpoint, process.bundle, None)]
        for number, call in enumerate(wrong):
            assert await call is BAD_ARG, number
        assert not endpoint.outstanding
        assert await am.AM_RequestIM(endpoint, 1, 1, 0, 0) is OK
        assert await am.AM_AllocateBundle(5) == (BAD_ARG, None)
        assert await am.AM_SetSeg(endpoint, 64, 100) is OK
        assert await am.AM_GetSeg(endpoint) == (OK, 64, 100)
        assert await am.AM_GetTag(endpoint) == (OK, TAG)
        assert await am.AM_SetEventMask(process.bundle, AM_EVENTS.AM_NOTEMPTY) is OK
        assert await am.AM_GetEventMask(process.bundle) == (OK, AM_EVENTS.AM_NOTEMPTY)

    run(asks(body), idle())


# Polls, requests, replies


def test_a_request_polls_first_and_a_reply_never():
    """The message that waits is handled before the request goes, but none during a reply."""
    polls = []

    def answers(process):
        async def handler(token, word):
            before = process.am.polling.polls
            await process.am.AM_ReplyM(token, 2, word)
            polls.append(process.am.polling.polls - before)
        return {"h1": handler, "h2": process.note}

    async def body(process):
        await process.send(1, 1, 5)
        await process.port.delay(5000)
        await process.port.flush()
        assert not process.got
        before = process.am.polling.polls
        await process.send(1, 1, 6)
        assert process.got == [(5,)] and process.am.polling.polls == before + 1
        await process.quiet()
        return process.got

    async def program(node):
        process = Process(node)
        await process.open(h2=process.note)
        result = await body(process)
        await process.close()
        return result

    assert run(program, idle(answers))[0] == [(5,), (6,)] and polls == [0, 0]


def test_requests_polls_and_waits_in_a_handler_are_resource():
    found = []

    def answers(process):
        am, bundle = process.am, lambda: process.bundle

        async def handler(token):
            endpoint = process.endpoint
            for call in (am.AM_RequestM(endpoint, 0, 1), am.AM_GetXferM(endpoint, 0, 0, 1, 0, 1),
                         am.AM_Poll(bundle()), am.AM_WaitSema(bundle()),
                         am.AM_FreeEndpoint(endpoint), am.AM_FreeBundle(bundle()),
                         am.AM_Terminate()):
                found.append(await call)
        return {"h1": handler}

    async def body(process):
        await process.send(1, 1)

    run(asks(body), idle(answers))
    assert found == [RESOURCE] * 7


def test_a_second_reply_is_resource():
    """So are a reply to a reply, one behind the handler's end, and one from handler 0."""
    found, tokens = [], []

    def answers(process):
        async def handler(token, word):
            tokens.append(token)
            found.append(await process.am.AM_ReplyM(token, 2, word))
            found.append(await process.am.AM_ReplyM(token, 2, word))
        return {"h1": handler}

    async def program(node):
        process = Process(node)

        async def reply_handler(token, word):
            found.append(await process.am.AM_ReplyM(token, 1, word))

        async def returned(*what):
            found.append(await process.am.AM_ReplyM(tokens[0], 1))

        await process.open(h2=reply_handler)
        await process.am.AM_SetHandler(process.endpoint, 0, returned)
        await process.send(1, 1, 7)
        await process.quiet()
        found.append(await process.am.AM_ReplyM(tokens[0], 1))
        await process.send(1, 99)
        await process.close()

    run(program, idle(answers))
    assert found == [OK] + [RESOURCE] * 4


def test_without_a_reply_the_layer_replies():
    """The credit comes back, and no handler of the requester runs."""
    async def body(process):
        for word in range(10):
            await process.send(1, 1, word)
        await process.quiet()
        return process.got, process.back

    asked, served = run(asks(body), idle(), queue_packets=2)
    assert asked == ([], []) and served[0] == [(word,) for word in range(10)]


def test_a_token_tells_whom_the_message_is_from():
    def answers(process):
        async def handler(token):
            am = process.am
            process.got += [am.AM_GetSourceEndpoint(token), am.AM_GetDestEndpoint(token)[1]
                            is process.endpoint, am.AM_GetMsgTag(token)]
            await am.AM_ReplyM(token, 2)
            process.token = token
        return {"h1": handler}

    async def program(node):
        process = Process(node)
        found = []
        await process.open(tag=77, h2=lambda token: found.extend(
            [process.am.AM_GetSourceEndpoint(token), process.am.AM_GetMsgTag(token)]))
        await process.send(1, 1)
        await process.close()
        assert process.am.AM_GetMsgTag(None) == (NOT_INIT, NONE)
        return found

    asked, served = run(program, idle(answers))
    assert asked == [(OK, EndpointName(0, 1)), (OK, 77)]
    assert served[0] == [(OK, EndpointName(0, 0)), True, (OK, TAG)]


# Messages that come back


def refused(target: dict[str, Any], call: Any, tag: int = TAG) -> tuple[Any, ...]:
    """What handler 0 gets for ``call`` to a process with ``tag``."""
    async def body(process):
        assert await call(process) is OK
        await process.quiet()
        assert not process.got
        return process.back

    async def program(node):
        process = Process(node)
        await process.open(tag=tag, **{name: process.note for name in target})
        await process.close()
        return process.got

    back, got = run(asks(body), program)
    assert not got and len(back) == 1
    return back[0]


def test_a_wrong_tag_comes_back_before_all_else():
    found = refused({}, lambda process: process.am.AM_RequestXferM(
        process.endpoint, 1, 1 << 30, 9, process.source, 8, 1, 2), tag=5)
    assert found == (AM_RETURNED.BADTAG, AM_OP.REQUEST_XFER, (1, 2))


def test_an_unset_handler_comes_back_before_the_segment():
    found = refused({}, lambda process: process.am.AM_RequestXferM(
        process.endpoint, 1, 1 << 30, 9, process.source, 8, 3))
    assert found == (AM_RETURNED.BADHANDLER, AM_OP.REQUEST_XFER, (3,))
    found = refused({}, lambda process: process.am.AM_RequestM(process.endpoint, 1, 9, *range(8)))
    assert found == (AM_RETURNED.BADHANDLER, AM_OP.REQUEST, tuple(range(8)))
    found = refused({}, lambda process: process.am.AM_RequestIM(
        process.endpoint, 1, 9, process.source, 8, 4))
    assert found == (AM_RETURNED.BADHANDLER, AM_OP.REQUEST_I, (4,))


@pytest.mark.parametrize(("offset", "length", "reason"), [
    (SEGMENT + 1, 0, AM_RETURNED.BADSEGOFF), (SEGMENT + 1, 8, AM_RETURNED.BADSEGOFF),
    (SEGMENT, 1, AM_RETURNED.BADLENGTH), (SEGMENT - 7, 8, AM_RETURNED.BADLENGTH)])
def test_a_transfer_beyond_the_segment_comes_back(offset, length, reason):
    assert refused({"h1": 0}, lambda process: process.am.AM_RequestXferM(
        process.endpoint, 1, offset, 1, process.source, length, 7)) == (
            reason, AM_OP.REQUEST_XFER, (7,))
    assert refused({"h1": 0}, lambda process: process.am.AM_GetXferM(
        process.endpoint, 1, offset, 1, 0, length, 7, 8)) == (reason, AM_OP.REQUEST, (7, 8))


def test_a_freed_endpoint_comes_back_as_bad_endpoint():
    """Those that were there when it was freed, those that come later, and those to one that never
    was."""
    async def body(process):
        for word in range(5):
            await process.send(1, 1, word)
        await process.meet()
        await process.quiet()
        await process.send(1, 1, 5)
        assert not process.endpoint.outstanding
        _, index = await process.am.AM_MapAny(process.endpoint, EndpointName(0, 1, 9), TAG)
        await process.send(index, 1, 6)
        return process.back

    async def program(node):
        process = Process(node)
        await process.open(h1=process.note)
        await process.port.delay(20_000)
        assert await process.am.AM_FreeEndpoint(process.endpoint) is OK
        assert await process.am.AM_FreeEndpoint(process.endpoint) is BAD_ARG
        await process.meet()
        await process.meet()
        return process.got

    back, got = run(asks(body), program)
    assert not got and back == [(AM_RETURNED.BADENDPOINT, AM_OP.REQUEST, (word,))
                                for word in range(7)]


def test_without_handler_0_a_returned_message_is_an_error_in_one_line():
    async def body(process):
        process.endpoint.handlers[0] = None
        await process.send(1, 9)
        await process.quiet()

    with pytest.raises(Am2Error, match="handler 9, came back: BADHANDLER; AM_SetHandler") as info:
        run(asks(body), idle())
    assert "\n" not in str(info.value)


@pytest.mark.parametrize("tag", [NONE, TAG])
def test_tag_none_rejects_all(tag):
    """Replies, too: they come to the replier's handler 0."""
    found = refused({"h1": 0}, lambda process: process.am.AM_RequestM(process.endpoint, 1, 1, 4),
                    tag=NONE)
    assert found == (AM_RETURNED.BADTAG, AM_OP.REQUEST, (4,))

    async def program(node):
        process = Process(node)
        await process.open(tag=NONE, h2=process.note)
        await process.send(1, 1, 3)
        await process.close()
        return process.got

    def answers(process):
        return {"h1": lambda token, word: process.am.AM_ReplyM(token, 2, word)}

    got, (_, back) = run(program, idle(answers))
    assert not got and back == [(AM_RETURNED.REPLYREJECTED, AM_OP.REPLY, (3,))]


def test_tag_all_accepts_all():
    async def body(process):
        _, index = await process.am.AM_MapAny(process.endpoint, EndpointName(0, 1), 99)
        await process.send(index, 1, 8)

    async def program(node):
        process = Process(node)
        await process.open(tag=ALL, h1=process.note)
        await process.close()
        return process.got

    assert run(asks(body), program)[1] == [(8,)]


def test_replies_are_tag_checked_too():
    """A tag that changes while requests are out rejects their replies, unless it changes back."""
    async def program(node):
        process = Process(node)
        am = process.am
        await process.open(h2=process.note)
        for word, tags in enumerate([(5,), (6, 5), (), (ALL,), (NONE,)]):
            before = (await am.AM_GetTag(process.endpoint))[1]
            await process.send(1, 1, word)
            for tag in (*tags, *((before,) if word == 1 else ())):
                await am.AM_SetTag(process.endpoint, tag)
            await process.quiet()
        await process.close()
        return process.got

    def answers(process):
        return {"h1": lambda token, word: process.am.AM_ReplyM(token, 2, word)}

    got, (_, back) = run(program, idle(answers))
    assert got == [(1,), (2,), (3,)]
    assert back == [(AM_RETURNED.REPLYREJECTED, AM_OP.REPLY, (word,)) for word in (0, 4)]


# Transfers


def test_an_asynchronous_transfer_without_room_is_not_sent():
    async def body(process):
        am, endpoint, statuses = process.am, process.endpoint, []
        for number in range(4):
            statuses.append(await am.AM_RequestXferAsyncM(
                endpoint, 1, 0, 1, process.source, 8, number))
        await process.meet()
        await process.quiet()
        return statuses

    async def program(node):
        process = Process(node)
        await process.open(h1=lambda token, address, length, word: process.got.append(word))
        await process.port.delay(100_000)
        await process.port.flush()
        await process.meet()
        await process.close()
        return process.got

    statuses, got = run(asks(body), program, queue_packets=8, queue_blocks=2)
    assert statuses == [OK, OK] + [AM_STATUS.AM_ERR_NOT_SENT] * 2 and got == [0, 1]


def test_an_asynchronous_transfer_does_not_wait_for_a_packet():
    """The queue is full of another process's requests; a block is free."""
    async def fills(process):
        for _ in range(2):
            await process.send(2, 1)
        await process.meet()
        await process.meet()

    async def body(process):
        await process.meet()
        status = await process.am.AM_RequestXferAsyncM(process.endpoint, 2, 0, 1, process.source, 8)
        await process.meet()
        return status, process.endpoint.outstanding

    async def program(node):
        process = Process(node)
        await process.open(h1=process.note)
        process._met.come[2] += 1
        process._times += 1
        while not process._met.all(3, 3):
            await process.port.delay(100)
            await process.port.flush()
            process._met.come[2] += process._met.all(2, 3)
        process._times += 1
        await process.close()

    assert run(asks(fills), asks(body), program, queue_packets=2)[1] == (
        AM_STATUS.AM_ERR_NOT_SENT, 0)


@pytest.mark.parametrize("length", [0, 13, LONG])
def test_a_get_brings_data_and_runs_no_handler_there(length):
    async def program(node):
        process = Process(node)
        found = []
        await process.open(h3=lambda token, address, count, *words: found.append(
            (address - process.segment, node.memory.read(address, count), words)))
        node.memory.write(process.segment, bytes([node.cpu + 1]) * SEGMENT)
        await process.meet()
        assert await process.am.AM_GetXferM(process.endpoint, 1 - node.cpu, 100, 3, 40, length,
                                            *range(8)) is OK
        await process.close()
        assert not process.endpoint.gets
        return found

    for cpu, found in enumerate(run(program, program, queue_blocks=1)):
        assert found == [(40, bytes([2 - cpu]) * length, tuple(range(8)))]


def test_a_get_over_the_network():
    async def program(node):
        am, got, back = Am2(node), [], []
        segment = node.allocate(SEGMENT)
        node.memory.write(segment, bytes([node.number + 1]) * SEGMENT)
        await am.AM_Init()
        _, bundle = await am.AM_AllocateBundle()
        _, endpoint, _ = await am.AM_AllocateEndpoint(bundle)
        await am.AM_SetSeg(endpoint, segment, SEGMENT)
        await am.AM_SetHandler(endpoint, 0, lambda *what: back.append(what))
        await am.AM_SetHandler(endpoint, 3, lambda token, address, length, *words: got.append(
            (address - segment, node.memory.read(address, length), words)))
        await am.AM_SetTag(endpoint, TAG)
        await am.AM_Map(endpoint, 0, EndpointName(1 - node.number, 0), TAG)
        await node.port.delay(20_000)
        for offset, length in ((100, 13), (SEGMENT - 900, 1000)):
            assert await am.AM_GetXferM(endpoint, 0, offset, 3, 40, length, 7, offset) is OK
        while endpoint.outstanding or node.port.cycle < 100_000:
            await am.AM_Poll(bundle)
        await am.AM_Terminate()
        return got, back

    results = Model(am2_network.describe()).run([program] * 2, limit=LIMIT).results
    for number, (got, back) in enumerate(results):
        assert got == [(40, bytes([2 - number]) * 13, (7, 100))]
        assert back == [(AM_RETURNED.BADLENGTH, AM_OP.REQUEST, (7, SEGMENT - 900))]


# Bundles and events


def test_a_bundle_of_many_endpoints_is_polled_and_waited_for():
    """AM_WaitSema runs no handlers, and has more endpoints than a poll has watches."""
    many = 6

    async def program(node):
        process = Process(node)
        am = process.am
        await process.open()
        for number in range(1, many):
            _, endpoint, name = await am.AM_AllocateEndpoint(process.bundle)
            assert name == EndpointName(0, 1, number)
            await am.AM_SetTag(endpoint, TAG)
            await am.AM_SetHandler(endpoint, 1, process.note)
        await am.AM_SetHandler(process.endpoint, 1, process.note)
        await am.AM_SetEventMask(process.bundle, AM_EVENTS.AM_NOTEMPTY)
        await process.meet()
        waits = []
        for _ in range(many):
            assert await am.AM_WaitSema(process.bundle) is OK
            waits.append(len(process.got))
            await am.AM_Poll(process.bundle)
        await process.close()
        return process.got, waits

    async def body(process):
        await process.meet()
        for number in reversed(range(many)):
            _, index = await process.am.AM_MapAny(process.endpoint, EndpointName(0, 1, number), TAG)
            await process.port.delay(3000)
            await process.send(index, 1, number)

    got, waits = run(asks(body), program)[1]
    assert got == [(number,) for number in reversed(range(many))] and waits == [*range(many)]


def test_a_poll_serves_every_endpoint_of_the_bundle():
    async def program(node):
        process = Process(node)
        am = process.am
        await process.open()
        second = (await am.AM_AllocateBundle())[1]
        endpoints = [process.endpoint]
        for bundle in (process.bundle, second):
            endpoints.append((await am.AM_AllocateEndpoint(bundle))[1])
            await am.AM_SetTag(endpoints[-1], TAG)
        for number, endpoint in enumerate(endpoints):
            await am.AM_SetHandler(endpoint, 1, lambda token, number=number: process.got.append(
                number))
        await process.meet()
        await process.port.delay(20_000)
        await am.AM_Poll(process.bundle)
        first = [*process.got]
        assert await am.AM_MoveEndpoint(endpoints[2], process.bundle, second) is BAD_ARG
        assert await am.AM_MoveEndpoint(endpoints[2], second, process.bundle) is OK
        assert await am.AM_FreeBundle(second) is OK
        await am.AM_Poll(process.bundle)
        await process.close()
        return first, process.got

    async def body(process):
        await process.meet()
        for number in range(3):
            _, index = await process.am.AM_MapAny(process.endpoint, EndpointName(0, 1, number), TAG)
            await process.send(index, 1)

    assert run(asks(body), program)[1] == ([0, 1], [0, 1, 2])


def test_replies_that_were_kept_go_while_the_process_waits_for_events():
    """With one block for bulk data, a reply is kept; its process only waits, and still sends it."""
    async def program(node):
        process = Process(node)
        await process.open(h2=lambda token, address, length: process.got.append(length))
        for _ in range(3):
            await process.send(1, 1)
        await process.port.delay(30_000)
        await process.port.flush()
        assert not process.got
        await process.quiet()
        await process.send(1, 3)  # an event, when all replies have come
        await process.close()
        return process.got

    async def waits(node):
        process = Process(node)
        am = process.am
        await process.open(h1=lambda token: am.AM_ReplyIM(token, 2, process.source, 4000),
                           h3=process.note)
        await am.AM_SetEventMask(process.bundle, AM_EVENTS.AM_NOTEMPTY)
        for _ in range(3):
            await am.AM_WaitSema(process.bundle)
            await am.AM_Poll(process.bundle)
        await am.AM_WaitSema(process.bundle)
        await process.close()

    assert run(program, waits, queue_blocks=1)[0] == [4000] * 3


def test_a_process_has_256_endpoints_one_after_the_other():
    async def program(node):
        am = Am2(node)
        await am.AM_Init()
        _, bundle = await am.AM_AllocateBundle()
        for number in range(256):
            status, endpoint, name = await am.AM_AllocateEndpoint(bundle)
            assert status is OK and name == EndpointName(0, 0, number)
            assert await am.AM_FreeEndpoint(endpoint) is OK
        assert await am.AM_AllocateEndpoint(bundle) == (RESOURCE, None, None)

    run(program, None, queue_packets=2, queue_blocks=1)


def test_without_memory_an_endpoint_is_resource():
    async def program(node):
        am = Am2(node)
        await am.AM_Init()
        _, bundle = await am.AM_AllocateBundle()
        for _ in range(200):
            status, _, _ = await am.AM_AllocateEndpoint(bundle)
            if status is not OK:
                return status
        return OK

    assert run(program, None)[0] is RESOURCE
