"""The calls of AM-II and their limits, each promise by its name, on the functional target."""

from typing import Any

import pytest
from nicbed.host.am2 import AM_EVENTS, AM_STATUS, Am2, EndpointName
from nicbed.layouts.am2 import LONG

from tests.models.am2 import asks, idle, run
from tests.programs.am2 import SEGMENT, TAG, Process

OK = AM_STATUS.AM_OK
BAD_ARG = AM_STATUS.AM_ERR_BAD_ARG
RESOURCE = AM_STATUS.AM_ERR_RESOURCE
NOT_INIT = AM_STATUS.AM_ERR_NOT_INIT


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
