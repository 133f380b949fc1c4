"""The VI engine's model: doorbells, work queues, registers, states, translation."""

import pytest
from nicbed.host.port.port import Watch
from nicbed.layouts.registers import address
from nicbed.layouts.via import (
    ADDRESS,
    ATTRIBUTES,
    PEER,
    Doorbell,
    Event,
    RemoteOperation,
    Status,
    ViCommand,
    ViState,
)

from tests.labs.via_model import NARROW, RD, RR, TINY, UD, run, run_pair, status
from tests.models.target import Model, ModelNic
from tests.programs.am import describe, pattern

SENT, RECEIVED = status(RemoteOperation.SEND), status(RemoteOperation.RECEIVE)
FLUSHED = Status.FLUSHED
SCHEMES = pytest.mark.parametrize("translation", ["cache", "table", "physical"])


async def nothing(side):
    pass


async def receives(side):
    """A peer that takes what comes."""
    for _ in range(40):
        await side.receive(64)


# Doorbells and work queues

@pytest.mark.parametrize("doorbell", list(Doorbell))
def test_a_doorbell_of_another_process_is_refused_and_counted(doorbell):
    async def program(side):
        raw = side.raw
        raw.write(side.descriptors, 0, [side.data.at(0, 8)])
        word = ADDRESS.pack(va=side.descriptors.va, handle=side.descriptors.handle)
        for process in (2, 255):
            await raw.ring(1, doorbell, word, process)
        await raw.ring(3, doorbell, word)       # closed
        await raw.ring(9, doorbell, word)       # there is none
        await raw.ring(1, 32, word)             # no doorbell
        await side.rest(2000)
        assert await raw.get("doorbells_foreign") == 5
        assert await raw.events() == []
        await raw.set(vi_select=1)
        assert await raw.get("vi_posted") == 0
        if doorbell == Doorbell.SEND:
            await raw.ring(1, doorbell, word, 0)
            assert await side.done(0) == (SENT, 8)

    run_pair(RD, program, receives)


def test_kernel_registers_are_the_kernel_s():
    async def program(raw):
        raw.port.process = 3
        assert await raw.port.pio_read(address("id")) == 0
        await raw.port.pio_write(address("table_base"), 64, posted=False)
        raw.port.process = 0
        assert await raw.get("table_base") == raw.table
        assert await raw.get("process_refused") == 2
        assert await raw.get("id") == 0x6263696E

    run(program, None)


@pytest.mark.parametrize("watched", [0, 1])
def test_a_poll_of_a_register_comes_behind_posted_writes(watched):
    """So the kernel that polls for the end of a command never sees the time before it. Polls of
    several words, too."""
    async def program(raw):
        port, at = raw.port, raw.node.register("vi_select")
        memory = [Watch(raw.node.allocate(8), 1)] * watched
        for number in range(1, 4):
            port.put_write(at, 1, number)
        poll = await port.poll([*memory, Watch(at, 3)], once=True)
        return poll.timed_out, poll.data

    assert run(program, None, bus__pio_write=20)[0] == (False, 3)


@pytest.mark.parametrize("connected", [True, False])
def test_a_misaligned_token_is_post_desc(connected):
    async def program(side):
        if not connected:
            await side.raw.create(2)
        vi = 1 if connected else 2
        await side.raw.ring(vi, Doorbell.SEND, ADDRESS.pack(va=side.descriptors.va + 32))
        await side.rest(2000)
        assert await side.raw.events() == [(Event.POST_DESC, vi)]
        await side.raw.set(vi_select=vi)
        assert await side.raw.get("vi_state") == (ViState.ERROR if connected else ViState.IDLE)
        assert await side.raw.get("vi_posted") == 0
        # A connection breaks once.
        await side.raw.ring(vi, Doorbell.RECEIVE, ADDRESS.pack(va=side.descriptors.va + 8))
        await side.rest(2000)
        assert await side.raw.events() == ([] if connected else [(Event.POST_DESC, vi)])

    run_pair(RD, program, nothing)


def test_descriptors_behind_the_first_are_found_by_next_not_by_their_tokens():
    """A token that finds something pending only counts."""
    async def program(side):
        raw = side.raw
        places = [64 * i for i in (0, 7, 3, 9)]
        for place, following in zip(places, [*places[1:], 99], strict=True):
            raw.write(side.descriptors, place, [side.data.at(0, 8)])
            side.descriptors.write(place, (side.descriptors.va + following).to_bytes(8, "little")
                                   + side.descriptors.handle.to_bytes(4, "little"))
        va, handle, _ = side.descriptors.at(0)
        # Rung in one burst, so that the first is still pending.
        await raw.burst(1, Doorbell.SEND, ADDRESS.pack(va=va, handle=handle), 0, 64, 1 << 12)
        for place in places:
            assert await side.done(place) == (SENT, 8)
        # The chain has ended: the next token says where the head is.
        raw.last.clear()
        side.next = 1024
        assert await side.done(await side.send(8)) == (SENT, 8)
        await raw.set(vi_select=1)
        assert await raw.get("vi_completed") == 5

    run_pair(RD, program, receives)


@pytest.mark.parametrize("next_", [32, 1 << 38])
def test_a_next_that_is_no_descriptor_s_address_is_post_desc(next_):
    """Misaligned, or with bits above those of an address."""
    async def program(side):
        raw = side.raw
        for place in (0, 64):
            raw.write(side.descriptors, place, [side.data.at(0, 8)])
        side.descriptors.write(0, (side.descriptors.va + next_).to_bytes(8, "little")
                               + side.descriptors.handle.to_bytes(4, "little"))
        word = ADDRESS.pack(va=side.descriptors.va, handle=side.descriptors.handle)
        await raw.burst(1, Doorbell.SEND, word, word)
        assert await side.done(0) == (SENT, 8)
        await side.rest(2000)
        assert await raw.events() == [(Event.POST_DESC, 1)]

    run_pair(UD, program, receives)


@pytest.mark.parametrize("level", [UD, RR])
@pytest.mark.parametrize("receive", [0, 1])
def test_too_many_posted_is_vi_overrun(level, receive):
    """What was posted before completes flushed, but for sends that were quicker."""
    async def program(side):
        if receive:
            places = [await side.receive(64) for _ in range(5)]
        else:
            places = [64 * number for number in range(24)]
            for place in places:
                side.raw.write(side.descriptors, place, [side.data.at(0, 8)])
                side.descriptors.write(place, (
                    side.descriptors.va + place + 64).to_bytes(8, "little")
                    + side.descriptors.handle.to_bytes(4, "little"))
            word = ADDRESS.pack(va=side.descriptors.va, handle=side.descriptors.handle)
            for _ in range(3):
                await side.raw.burst(1, Doorbell.SEND, *[word] * 8)
        ends = [(await side.done(place, 50_000))[0] for place in places[:4]]
        flushed = status(RemoteOperation.RECEIVE if receive else RemoteOperation.SEND, FLUSHED)
        late = ends.index(flushed)
        assert ends == [SENT] * late + [flushed] * (4 - late) and (late == 0 or not receive)
        assert (Event.VI_OVERRUN, 1) in await side.raw.events()
        assert await side.state() == ViState.ERROR

    run_pair(level, program, nothing, **TINY)


@pytest.mark.parametrize("receive", [0, 1])
@pytest.mark.parametrize("what", ["handle", "tag", "short"])
def test_a_descriptor_that_cannot_be_read_is_post_desc(receive, what):
    """It only counts; what is posted behind it is forgotten; other VIs go on."""
    async def program(side):
        raw = side.raw
        await raw.connect(2, raw.node.number, 3, reliability=RD)
        await raw.connect(3, raw.node.number, 2, reliability=RD)
        bad = await raw.region(4096 + (31 if what == "short" else 32),
                               tag=8 if what == "tag" else 7)
        va = bad.va + 4096
        handle = bad.handle + (what == "handle")
        doorbell = Doorbell.RECEIVE if receive else Doorbell.SEND
        await raw.burst(1, doorbell, *[ADDRESS.pack(va=va, handle=handle)] * 3)
        other = await raw.region(4096)
        raw.write(other, 0, [side.data.at(0, 8)])
        await raw.post(3, other, 0, receive=True)
        await side.rest(5000)
        raw.write(other, 128, [side.data.at(64, 8)])
        await raw.post(2, other, 128)
        assert await raw.done(other, 128, 50_000) == (SENT, 8)
        assert await raw.done(other, 0, 50_000) == (RECEIVED, 8)
        await side.rest(60_000)
        assert await raw.events() == [(Event.POST_DESC, 1)]
        await raw.set(vi_select=1)
        assert await raw.get("vi_state") == ViState.ERROR
        shift = 16 * receive
        assert await raw.get("vi_posted") == await raw.get("vi_completed") == 1 << shift

    async def peer(side):
        await side.receive(64)
        await side.rest(40_000)
        if receive:
            await side.send(8)

    run_pair(RD, program, peer)


def test_an_idle_vi_keeps_receives_and_flushes_sends():
    async def program(side):
        raw = side.raw
        await raw.create(2)
        raw.write(side.descriptors, 0, [side.data.at(0, 64)])
        raw.write(side.descriptors, 128, [side.data.at(64, 8)])
        await raw.post(2, side.descriptors, 0, receive=True)
        await raw.post(2, side.descriptors, 128)
        assert await side.done(128) == (SENT | FLUSHED, 0)
        assert await side.done(0, 1000) == (-1, 0)
        # Connected to itself, it receives into it.
        await raw.set(vi_peer=PEER.pack(node=raw.node.number, vi=2,
                                        route=raw.node.route(raw.node.number),
                                        max_transfer=1000))
        await raw.command(2, ViCommand.CONNECT)
        raw.write(side.descriptors, 256, [side.data.at(64, 8)])
        await raw.post(2, side.descriptors, 256)
        assert await side.done(0) == (RECEIVED, 8)
        assert await raw.events() == []

    run_pair(UD, program, nothing)


# Commands

def test_the_states_of_a_vi():
    async def program(raw):
        async def after(command):
            await raw.command(4, command)
            return await raw.get("vi_state")

        attributes = ATTRIBUTES.pack(tag=7, owner=1, reliability=RD)
        await raw.set(vi_select=4, vi_attributes=attributes, vi_peer=0)
        assert await raw.get("vi_state") == ViState.CLOSED
        for command in (ViCommand.CONNECT, ViCommand.DISCONNECT, ViCommand.IDLE,
                        ViCommand.ATTRIBUTES, ViCommand.DESTROY):
            assert await after(command) == ViState.CLOSED
        assert await after(ViCommand.CREATE) == ViState.IDLE
        assert await after(ViCommand.IDLE) == ViState.IDLE
        assert await after(ViCommand.CONNECT) == ViState.CONNECTED
        assert await after(ViCommand.IDLE) == ViState.CONNECTED
        assert await after(ViCommand.DISCONNECT) == ViState.ERROR
        assert await after(ViCommand.CONNECT) == ViState.ERROR
        assert await after(ViCommand.IDLE) == ViState.IDLE
        assert await after(ViCommand.CONNECT) == ViState.CONNECTED
        assert await after(ViCommand.DESTROY) == ViState.CLOSED
        assert await after(ViCommand.CREATE) == ViState.IDLE
        assert await raw.get("vi_posted") == await raw.get("vi_completed") == 0
        assert await raw.events() == []

    run(program, None)


@pytest.mark.parametrize("level", [UD, RD, RR])
def test_disconnecting_flushes_and_a_reliable_peer_loses_its_connection(level):
    async def program(side):
        places = [await side.receive(64) for _ in range(3)]
        await side.raw.command(1, ViCommand.DISCONNECT)
        sends = [await side.send(8) for _ in range(2)]
        for place in places:
            assert await side.done(place) == (RECEIVED | FLUSHED, 0)
        for place in sends:
            assert await side.done(place) == (SENT | FLUSHED, 0)
        assert await side.raw.events() == []
        await side.raw.command(1, ViCommand.IDLE)
        assert await side.state() == ViState.IDLE

    async def peer(side):
        place = await side.receive(64)
        ends = await side.done(place)
        assert ends == ((-1, 0) if level == UD else (RECEIVED | FLUSHED, 0))
        assert await side.raw.events() == ([] if level == UD else [(Event.CONN_LOST, 1)])

    run_pair(level, program, peer)


def test_a_receive_begun_when_the_connection_ends_completes_flushed_and_first():
    """UD, of a message whose end was lost."""
    async def sender(side):
        await side.send(3000)

    async def receiver(side):
        places = [await side.receive(4096), await side.receive(4096)]
        assert await side.done(places[0], 100_000) == (-1, 0)
        await side.raw.command(1, ViCommand.DISCONNECT)
        assert await side.done(places[0]) == (RECEIVED | FLUSHED | Status.PARTIAL, 0)
        assert await side.done(places[1]) == (RECEIVED | FLUSHED, 0)

    arrive = ModelNic.arrive

    def without_last(nic, data, number, length):
        if nic.node == 1 and data[7] >> 4 & 1:
            nic.room += length
        else:
            arrive(nic, data, number, length)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ModelNic, "arrive", without_last)
        run_pair(UD, sender, receiver)


@pytest.mark.parametrize("forged", ["node", "vi", "state"])
def test_packets_of_no_connection_are_dropped_and_counted(forged):
    """Only the peer's VI on the peer's node can send to a VI, and only to a connected one."""
    source = (2, 1) if forged == "node" else (0, 2) if forged == "vi" else (0, 1)

    async def program(raw):
        me = raw.node.number
        data, descriptors = await raw.region(64), await raw.region(256)
        raw.write(descriptors, 0, [data.at(0, 8)])
        if me == 1:
            await raw.connect(1, 0, 1, reliability=UD)
            await raw.post(1, descriptors, 0, receive=True)
            if forged == "state":
                await raw.command(1, ViCommand.DESTROY)
            await raw.port.delay(60_000)
            assert await raw.get("via_unmatched") == 1
            assert await raw.done(descriptors, 0, 1000) == (-1, 0)
        elif me == source[0]:
            await raw.connect(source[1], 1, 1, reliability=UD)
            await raw.port.delay(20_000)
            await raw.post(source[1], descriptors, 0)
            assert await raw.done(descriptors, 0) == (SENT, 8)

    run(program, program, program, fabric__nodes=3)


# Translation

@SCHEMES
def test_a_deregistered_handle_never_translates_again(translation):
    """Nor does one that was never given, nor the same index under another handle."""
    async def program(side):
        raw = side.raw
        region = await raw.region(4096)
        region.write(0, pattern(64, 1))
        assert await side.done(await side.post(region.at(0, 64))) == (SENT, 64)
        await raw.deregister(region)
        assert await raw.get("invalidated") == 4096 // raw.via.page_bytes
        bad = await side.post(region.at(0, 64))
        assert await side.done(bad) == (SENT | Status.PROTECTION, 0)
        again = await side.post(region.at(0, 0))
        assert await side.done(again) == (SENT, 0)      # of no bytes nothing is asked

    run_pair(UD, program, receives, via__translation=translation)


@pytest.mark.parametrize("knobs", [
    {}, {"via__translation": "table"}, {"via__translation": "physical"}, NARROW])
def test_a_region_s_bounds_are_exact(knobs):
    """Its first and last bytes may be used, those before and behind may not, over pages."""
    async def program(side):
        raw = side.raw
        region = await raw.region(3000, start=77)
        for first, length, good in ((0, 3000, True), (-1, 2, False), (2999, 1, True),
                                    (2999, 2, False), (3000, 1, False), (1500, 1501, False)):
            place = await side.post(region.at(first, length))
            partial = 0 if length <= 1024 else Status.PARTIAL
            expected = (SENT, length) if good else (SENT | Status.PROTECTION | partial, 0)
            assert await side.done(place) == expected, (first, length)

    run_pair(UD, program, nothing, **knobs)


def test_the_cache_remembers_an_entry_until_it_is_invalidated():
    """So software that only clears the table is seen."""
    async def program(side):
        raw = side.raw
        region = await raw.region(64)
        assert await side.done(await side.post(region.at(0, 64))) == (SENT, 64)
        misses = await raw.get("translation_misses")
        index = (region.va // raw.via.page_bytes + region.handle) % raw.via.translations
        await raw.entry(index, 0, 0)
        assert await side.done(await side.post(region.at(0, 64))) == (SENT, 64)
        assert await raw.get("translation_misses") == misses
        await raw.set(invalidate=index)
        await side.rest(100)
        bad = await side.post(region.at(0, 64))
        assert await side.done(bad) == (SENT | Status.PROTECTION, 0)

    run_pair(UD, program, nothing)


def test_no_engine_no_registers():
    async def program(node):
        port = node.port
        assert await port.pio_read(address("via_ready")) == 0
        await port.pio_write(address("vi_select"), 3, posted=False)
        assert await port.pio_read(address("vi_select")) == 0

    Model(describe({"via.design": "kernel"})).run([program, None], limit=100_000)
