"""The VI engine's model, completions: completion queues, arming, events, the interrupt line."""

import pytest
from nicbed.host.port.port import Watch
from nicbed.layouts.operations import Status as Answer
from nicbed.layouts.registers import Irq
from nicbed.layouts.via import (
    CQ_ARM,
    CQ_CONSUMED,
    CQ_ENTRY,
    Doorbell,
    Event,
    RemoteOperation,
    Status,
    ViCommand,
)

from tests.labs.via_model import RD, TINY, run_pair, status
from tests.models.target import ModelNic

SENT, RECEIVED = status(RemoteOperation.SEND), status(RemoteOperation.RECEIVE)
FLUSHED = Status.FLUSHED


async def nothing(side):
    pass


async def receives(side):
    """A peer that takes what comes."""
    for _ in range(40):
        await side.receive(64)


@pytest.mark.parametrize("entries", [2, 8])
def test_a_completion_queue_merges_completions_in_order(entries):
    """Entries tell the work queue and the lap; flushed descriptors make entries, too."""
    async def program(side):
        raw = side.raw
        ring = await raw.region(8 * entries)
        await raw.completion_queue(5, ring, entries.bit_length() - 1)
        for vi in (2, 3):
            await raw.connect(vi, raw.node.number, 5 - vi, reliability=RD, send_cq=5, send_on_cq=1,
                              receive_cq=5, receive_on_cq=1)
        taken = 0

        async def entry():
            nonlocal taken
            phase = 1 - taken // entries % 2
            at = ring.base + 8 * (taken % entries)
            poll = await raw.port.poll(Watch(at, phase, 1), 50_000)
            assert not poll.timed_out
            taken += 1
            await raw.ring_cq(5, CQ_CONSUMED, taken)
            return CQ_ENTRY.get(poll.data, "vi"), CQ_ENTRY.get(poll.data, "receive")

        for _ in range(7):
            raw.write(side.descriptors, 0, [side.data.at(0, 8)])
            raw.write(side.descriptors, 64, [side.data.at(64, 8)])
            await raw.post(3, side.descriptors, 0, receive=True)
            await raw.post(2, side.descriptors, 64)
            assert await entry() == (2, 0)
            assert await entry() == (3, 1)
        raw.write(side.descriptors, 0, [side.data.at(0, 8)])
        await raw.post(3, side.descriptors, 0, receive=True)
        await raw.command(3, ViCommand.DISCONNECT)
        assert await entry() == (3, 1)
        assert await side.done(0) == (RECEIVED | FLUSHED, 0)

    run_pair(RD, program, nothing)


@pytest.mark.parametrize("what", ["full", "memory"])
def test_a_completion_queue_that_takes_no_entry_breaks_the_vi(what):
    """Full: VI_OVERRUN. Its memory refused: COMP_PROT. Nothing beyond it is written."""
    async def program(side):
        raw = side.raw
        ring = await raw.region(32)
        await raw.completion_queue(0, ring, 1, tag=7 if what == "full" else 9)
        await raw.create(2, send_cq=0, send_on_cq=1)
        for place in (0, 64, 128):
            raw.write(side.descriptors, place, [side.data.at(0, 8)])
            await raw.post(2, side.descriptors, place)
            assert await side.done(place) == (SENT | FLUSHED, 0)
        event = Event.VI_OVERRUN if what == "full" else Event.COMP_PROT
        assert await raw.events() == [(event, 2)] * (1 if what == "full" else 3)
        assert ring.read(16, 16) == bytes(16)
        await raw.set(vi_select=2)
        assert await raw.get("vi_completed") == 3

    run_pair(RD, program, nothing)


def test_a_completion_queue_s_page_belongs_to_its_process():
    async def program(side):
        raw = side.raw
        ring = await raw.region(64)
        await raw.completion_queue(0, ring, 2)
        for place in (CQ_CONSUMED, CQ_ARM):
            await raw.ring_cq(0, place, 7, 2)
            await raw.ring_cq(1, place, 7)
        await raw.ring_cq(0, 16, 7)             # nothing there
        assert await raw.get("doorbells_foreign") == 4
        assert await raw.events() == []
        await raw.ring_cq(0, CQ_ARM, 7)         # seen more than there are: not what is there
        assert await raw.events() == [(Event.CQ_READY, 0)]

    run_pair(RD, program, nothing)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("receive", [0, 1])
def test_an_event_at_the_next_completion(late, receive):
    """One an arming, whether the completion comes before or after it: no race."""
    async def program(side):
        raw = side.raw
        doorbell = Doorbell.ARM_RECEIVE if receive else Doorbell.ARM_SEND
        event = (Event.RECEIVE_DONE if receive else Event.SEND_DONE, 1)
        if not late:
            await raw.ring(1, doorbell, 0)
            assert await raw.events() == []
        places = [await (side.receive(64) if receive else side.send(8)) for _ in range(2)]
        for place in places:
            await side.done(place)
        if late:
            await raw.ring(1, doorbell, 1)
        assert await raw.events() == [event]
        await raw.ring(1, doorbell, 2)
        assert await raw.events() == []

    async def peer(side):
        if receive:
            await side.rest(25_000)
            for _ in range(2):
                await side.send(8)
        else:
            await receives(side)

    run_pair(RD, program, peer)


@pytest.mark.parametrize("late", [False, True])
def test_an_event_at_the_next_entry(late):
    async def program(side):
        raw = side.raw
        ring = await raw.region(64)
        await raw.completion_queue(3, ring, 3)
        await raw.create(2, send_cq=3, send_on_cq=1)
        if not late:
            await raw.ring_cq(3, CQ_ARM, 0)
        for place in (0, 64):
            raw.write(side.descriptors, place, [side.data.at(0, 8)])
            await raw.post(2, side.descriptors, place)
            await side.done(place)
        if late:
            await raw.ring_cq(3, CQ_ARM, 1)
        assert await raw.events() == [(Event.CQ_READY, 3)]

    run_pair(RD, program, nothing)


def test_a_completion_that_cannot_be_written_is_comp_prot():
    """The descriptor's memory was deregistered meanwhile: it counts, nothing is written."""
    async def program(side):
        raw = side.raw
        away = await raw.region(4096)
        raw.write(away, 0, [side.data.at(0, 2000)])
        await raw.post(1, away, 0, receive=True)
        await side.rest(15_000)
        await raw.deregister(away)
        await side.rest(60_000)
        assert away.read(28, 4) == bytes(4)
        assert await raw.events() == [(Event.COMP_PROT, 1)]
        await raw.set(vi_select=1)
        assert await raw.get("vi_completed") == 1 << 16

    # A message in two packets, the second delayed until the memory is gone.
    async def slow(side):
        await side.rest(30_000)
        await side.send(1025)

    arrive = ModelNic.arrive

    def delayed(nic, data, number, length):
        if nic.node == 0 and data[7] >> 4 & 1 and data[7] & 7 == 0:
            nic.model.at(nic.model.now + 10_000, lambda: arrive(nic, data, number, length))
        else:
            arrive(nic, data, number, length)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ModelNic, "arrive", delayed)
        run_pair(RD, program, slow)


def test_events_that_find_no_room_become_catastrophic():
    async def program(side):
        raw = side.raw
        await raw.create(2)
        for _ in range(7):
            await raw.ring(2, Doorbell.ARM_SEND, 1)
        assert await raw.events() == [(Event.SEND_DONE, 2)] * 3 + [(Event.CATASTROPHIC, 0)]
        assert await raw.get("events_lost") == 4
        await raw.ring(2, Doorbell.ARM_SEND, 1)
        assert await raw.events() == [(Event.SEND_DONE, 2)]

    run_pair(RD, program, nothing, **TINY)


def test_the_interrupt_line_is_high_while_there_are_events():
    async def program(side):
        raw = side.raw
        port = raw.port
        await raw.create(2)
        await raw.ring(2, Doorbell.ARM_SEND, 1)
        await side.rest(100)
        assert not port.status & Answer.IRQ            # not enabled
        await raw.set(irq_enable=Irq.VIA)
        await side.rest(100)
        assert port.interrupted
        assert await port.wait_irq(10)
        assert len(await raw.events()) == 1
        await side.rest(1)
        assert not port.interrupted
        assert not await port.wait_irq(500)
        began = await port.now()
        await raw.ring(2, Doorbell.ARM_SEND, 1)
        rang = await port.now()
        assert await port.wait_irq()
        assert (await port.now() - rang) // 256 in range(1, 200) and rang > began

    run_pair(RD, program, nothing)
