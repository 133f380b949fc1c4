"""Transfers, bundles and events, each promise of AM-II by its name, on the functional target."""


import pytest
from nicbed.host.am2 import AM_EVENTS, AM_OP, AM_RETURNED, AM_STATUS, Am2, EndpointName
from nicbed.layouts.am2 import LONG

from tests.models.am2 import LIMIT, asks, run
from tests.models.target import Model
from tests.programs import am2_network
from tests.programs.am2 import SEGMENT, TAG, Process

OK = AM_STATUS.AM_OK
BAD_ARG = AM_STATUS.AM_ERR_BAD_ARG
RESOURCE = AM_STATUS.AM_ERR_RESOURCE


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
