"""More endpoints than frames: those that do not fit leave NIC memory and come back, and no message
is lost or doubled by it.

``tests/host/am2/network/test_on_target.py`` runs the same functions on RTL.
"""

import pytest
from nicbed.host.am2.network.driver import Driver
from nicbed.layouts.am2 import Returned

from tests.models.am2_network import run
from tests.programs.am2_network import (
    REPLIES,
    REQUESTS,
    TAG,
    Party,
    data_of,
    name,
    parties,
)


def evictions(party: Party) -> int:
    frames = party.way.driver.frames
    assert (frames.cycles > 0) == (frames.evictions > 0)
    return frames.evictions


def crowd(count: int, rounds: int):
    """``count`` endpoints a node talk to those of the other one with their number, all at once."""
    async def body(party: Party):
        there = 1 - party.node.number
        for number in range(1, count):
            await party.another(number).open()
        start = await party.node.port.flush()
        await party.quiet(100_000)
        assert start < await party.node.port.flush()
        for turn in range(rounds):
            for number, one in enumerate(party.parties):
                await one.request(name(there, 0, number), turn, number,
                                  data=data_of(turn, 1500) if turn % 2 else None)
        await party.until(lambda: all(len(one.got) == 2 * rounds for one in party.parties))
        await party.quiet(30_000)
        for number, one in enumerate(party.parties):
            for kinds in (REQUESTS, REPLIES):
                found = [got for got in one.got if got.opcode in kinds]
                assert [got.arguments for got in found] == [(turn, number)
                                                            for turn in range(rounds)]
                assert not any(got.returned for got in found)
            assert [got.data for got in one.got if got.opcode in REQUESTS] == [
                data_of(turn, 1500) if turn % 2 else b"" for turn in range(rounds)]
        return evictions(party), await party.counters()
    return body


@pytest.mark.parametrize("frames, endpoints", [(1, 2), (2, 3)])
def test_endpoints_that_do_not_fit(frames, endpoints):
    found = run(parties(*[crowd(endpoints, 4)] * 2), am2__frames=frames, am2__retries=20)
    for count, counters in found:
        assert count and counters["malformed"] == 0
    assert sum(counters["resent"] for _, counters in found) == 0


@pytest.mark.parametrize("seed", [1])
def test_endpoints_that_do_not_fit_with_losses(seed):
    found = run(parties(*[crowd(3, 2)] * 2), am2__frames=2, am2__retries=30, faults__seed=seed,
                faults__drop=0.05, faults__duplicate=0.05)
    assert all(count for count, _ in found)


def test_endpoints_that_fit_stay():
    found = run(parties(*[crowd(3, 2)] * 2), am2__frames=3)
    assert [count for count, _ in found] == [0, 0]


def test_a_packet_brings_its_endpoint_in():
    """Whose process only polls; and one that sleeps is woken."""
    async def ask(party: Party):
        for number in (0, 1, 0):
            await party.request(name(1, 0, number), number)
            await party.until(lambda wanted=number: party.got
                              and party.got[-1].sender.number == wanted)
            await party.node.port.delay(30_000)
        await party.until(lambda: len(party.got) == 3)
        await party.node.port.delay(200_000)
        await party.request(name(1, 0, 1), 5)
        await party.until(lambda: len(party.got) == 4)

    async def answer(party: Party):
        other = await party.another(1).open()
        await party.until(lambda: len(party.got) + len(other.got) == 3)
        while not other.got[1:]:
            await party.way.sleep([party.endpoint, other.endpoint], 0)
            await party.poll()
        await party.quiet(20_000)
        return evictions(party)

    assert run(parties(ask, answer), am2__frames=1)[1] >= 3


def test_processes_of_a_node_take_each_other_s_frames():
    """The frames of one NIC, taken in turn by the CPUs that share it."""
    async def body(party: Party):
        there = 1 - party.node.number
        for number in range(6):
            await party.request(name(there, party.node.cpu), number)
            await party.until(lambda wanted=number: min(
                len(party.of(*REQUESTS)), len(party.of(*REPLIES))) > wanted)
        await party.quiet(30_000)
        for kinds in (REQUESTS, REPLIES):
            assert [one.arguments[0] for one in party.of(*kinds)] == list(range(6))
        return evictions(party)

    found = run(parties([body] * 3, [body] * 3), node__cpus=3, am2__frames=2, am2__retries=20)
    assert all(min(counts) > 0 for counts in found)


def test_what_an_endpoint_is_stays_with_it():
    """Tag, closing, and messages that it has sent and that have come, while it is out."""
    async def ask(party: Party):
        await party.request(name(1, 0, 1), 1, tag=TAG)
        await party.request(name(1, 0, 1), 2, tag=5)
        await party.until(lambda: len(party.got) == 4)
        await party.node.port.delay(250_000)
        await party.request(name(1, 0, 1), 3, tag=5)
        await party.until(lambda: len(party.got) == 5)
        return [(one.arguments[0], one.returned) for one in party.got
                if one.sender == name(1, 0, 1)]

    async def answer(party: Party):
        other = await party.another(1).open()
        other.endpoint.tag = 5
        await other.way.retag(other.endpoint)
        await party.node.port.delay(30_000)
        await party.request(name(0), 9)
        await party.until(lambda: party.got and other.got)
        await party.node.port.delay(30_000)
        await party.request(name(0), 9)
        await party.way.close(other.endpoint)
        party.parties.remove(other)
        await party.quiet(500_000)
        return evictions(party)

    got, count = run(parties(ask, answer), am2__frames=1)
    assert got == [(1, Returned.BADTAG), (2, 0), (3, Returned.BADENDPOINT)] and count >= 2


def test_the_driver_is_one_a_nic():
    async def body(party: Party):
        return id(party.way.driver), party.way.driver.__class__ is Driver

    (first, second), _ = run(parties([body] * 2, [body] * 2), node__cpus=2, node__nics=2)
    assert first != second and first[1]
    (first, second), _ = run(parties([body] * 2, [body] * 2), node__cpus=2)
    assert first == second
