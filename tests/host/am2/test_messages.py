"""Requests, replies and messages that come back: each promise of AM-II by its name, on the
functional target."""

from typing import Any

import pytest
from nicbed.host.am2 import AM_OP, AM_RETURNED, AM_STATUS, Am2Error, EndpointName
from nicbed.layouts.am2 import ALL, NONE

from tests.models.am2 import asks, idle, run
from tests.programs.am2 import SEGMENT, TAG, Process

OK = AM_STATUS.AM_OK
BAD_ARG = AM_STATUS.AM_ERR_BAD_ARG
RESOURCE = AM_STATUS.AM_ERR_RESOURCE
NOT_INIT = AM_STATUS.AM_ERR_NOT_INIT


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
