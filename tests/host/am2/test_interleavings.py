"""The queues in shared memory against interleavings: all orders of the steps of two to four
processes, with at most so many preemptions, at the smallest sizes. Each message comes exactly once,
in order, and nobody is stuck; also if a process ends after any of its steps."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from nicbed.host.am2 import AM_RETURNED, AM_STATUS, Am2, EndpointName

from tests.labs.rows import more
from tests.models.interleaved import Failed, World, explore, wander

HANDLER, ANSWER, TAG = 1, 2, 5
OK = AM_STATUS.AM_OK


class Party:
    """A process with one endpoint, and what it has sent, got, and got back."""

    def __init__(self, world: World, cpu: int) -> None:
        self.world, self.cpu = world, cpu
        self.node: Any = world.nodes[cpu]
        self.am = Am2(self.node)
        self.endpoint: Any = None
        self.bundle: Any = None
        self.got: list[tuple[int, int]] = []
        self.ended: list[tuple[int, int, int]] = []
        """Of each request: receiver, number, 0 or why it came back."""
        self.rejected: list[int] = []
        self.finished = False
        self.buffer = world.shared(f"buffer {cpu}", 64)

    async def set_up(self, handler: Callable[..., Any]) -> None:
        am = self.am
        await am.AM_Init()
        _, self.bundle = await am.AM_AllocateBundle()
        _, self.endpoint, _ = await am.AM_AllocateEndpoint(self.bundle)
        await am.AM_SetTag(self.endpoint, TAG)
        await am.AM_SetSeg(self.endpoint, self.world.shared(f"segment {self.cpu}", 64), 64)
        for index, one in ((0, self._back), (HANDLER, handler), (ANSWER, self._answered)):
            await am.AM_SetHandler(self.endpoint, index, one)
        for cpu in range(self.world.cpus):
            await am.AM_Map(self.endpoint, cpu, EndpointName(0, cpu), TAG)

    def _back(self, reason: int, opcode: Any, arguments: tuple[int, ...]) -> None:
        if opcode >= 4:
            self.rejected.append(arguments[1])
        else:
            self.ended.append((arguments[2], arguments[1], int(reason)))

    def _answered(self, token: Any, *words: int) -> None:
        *_, sender, number, receiver = words
        assert sender == self.cpu
        if len(words) > 3:
            assert self.world.word(words[0]) == 1000 + number
        self.ended.append((receiver, number, 0))

    async def send(self, receiver: int, number: int, bulk: bool = False, wait: bool = True) -> None:
        words = (self.cpu, number, receiver)
        am, endpoint = self.am, self.endpoint
        self.world.set_word(self.buffer, 1000 + number)
        if bulk:
            assert await am.AM_RequestIM(endpoint, receiver, HANDLER, self.buffer, 8, *words) is OK
        elif wait:
            assert await am.AM_RequestM(endpoint, receiver, HANDLER, *words) is OK
        else:
            status = await am.AM_RequestXferAsyncM(endpoint, receiver, 0, HANDLER, self.buffer, 8,
                                                   *words)
            if status is not OK:
                assert status is AM_STATUS.AM_ERR_NOT_SENT
                self.ended.append((receiver, number, -1))

    async def serve(self, until: Callable[[], bool]) -> None:
        port = self.node.port
        port.waiting_for("a message")
        while not until():
            await self.am.AM_Poll(self.bundle)
        port.waiting_for("")

    def answers(self, large: bool = False) -> Callable[..., Any]:
        """A handler that replies with what has come; ``large``: always with bulk data."""
        async def handler(token: Any, *words: int) -> None:
            *bulk, sender, number, _ = words
            self.got.append((sender, number))
            if bulk or large:
                data = 1000 + number
                if bulk:
                    data = int.from_bytes(await self.node.load(bulk[0], 8), "little")
                self.world.set_word(self.buffer + 8, data)
                await self.am.AM_ReplyIM(token, ANSWER, self.buffer + 8, 8, *words[-3:])
            else:
                await self.am.AM_ReplyM(token, ANSWER, *words)
        return handler

    def counts(self) -> Callable[..., Any]:
        """A handler that does not reply."""
        def handler(token: Any, *words: int) -> None:
            sender, number, receiver = words[-3:]
            self.got.append((sender, number))
        return handler


def world_of(cpus: int, packets: int, blocks: int = 1, silent: bool = False,
             large: bool = False) -> tuple[World, list[Party]]:
    world = World(cpus, packets, blocks)
    parties = [Party(world, cpu) for cpu in range(cpus)]
    for party in parties:
        world.run(party.set_up(party.counts() if silent else party.answers(large)), party.cpu)
    return world, parties


def check(parties: list[Party], sent: dict[int, list[tuple[int, int]]], silent: bool = False
          ) -> None:
    """``sent``: by sender, receiver and number, in order. Of processes that have ended early the
    others have heard."""
    processes = parties[0].world.processes
    early = [process.own_steps == process.ends_at for process in processes]
    for sender, messages in sent.items():
        party = parties[sender]
        if not early[sender]:
            assert not party.endpoint.outstanding
            if not silent:
                assert sorted(one[:2] for one in party.ended) == sorted(messages), party.ended
        for receiver in {receiver for receiver, _ in messages}:
            got = [number for who, number in parties[receiver].got if who == sender]
            back = [number for to, number, why in party.ended if to == receiver and why]
            numbers = [number for to, number in messages if to == receiver]
            assert got == sorted(set(got)), got
            if early[sender]:
                assert early[receiver] or back or got == numbers[:len(got)], got
            elif early[receiver]:
                assert {*got, *back} == {*numbers} or not silent, (got, back)
            else:
                assert sorted(got + back) == numbers, (got, back)


def many_to_one(senders: list[int], packets: int, *, bulk: bool = False, wait: bool = True,
                silent: bool = False, ends_at: dict[int, int] | None = None) -> Any:
    """CPUs 1, 2, … send so many messages to CPU 0 each."""
    def make() -> Any:
        world, parties = world_of(len(senders) + 1, packets, silent=silent)

        async def sends(party: Party) -> None:
            for number in range(senders[party.cpu - 1]):
                await party.send(0, number, bulk, wait)
            await party.serve(lambda: not party.endpoint.outstanding)

        async def serves(party: Party) -> None:
            await party.serve(lambda: all(
                process.coroutine is None for process in world.processes[1:]))

        world.start(serves(parties[0]), *map(sends, parties[1:]), ends_at=ends_at)
        sent = {cpu: [(0, number) for number in range(many)]
                for cpu, many in enumerate(senders, 1)}
        return world, lambda: check(parties, sent, silent)
    return make


def each_to_other(many: int, packets: int, *, bulk: bool = False, oneself: bool = False,
                  ends_at: dict[int, int] | None = None) -> Any:
    """Two processes send to each other, or to both."""
    def make() -> Any:
        world, parties = world_of(2, packets)

        async def program(party: Party) -> None:
            for number in range(many):
                await party.send(1 - party.cpu, number, bulk)
                if oneself:
                    await party.send(party.cpu, number, bulk)
            await party.serve(lambda: not party.endpoint.outstanding)
            party.finished = True
            other = parties[1 - party.cpu]
            await party.serve(lambda: other.finished or world.processes[other.cpu].over)

        world.start(*map(program, parties), ends_at=ends_at)
        sent = {cpu: [(to, number) for number in range(many)
                      for to in ((1 - cpu, cpu) if oneself else (1 - cpu,))] for cpu in (0, 1)}
        return world, lambda: check(parties, sent)
    return make


def freed(senders: list[int], packets: int, *, bulk: bool = False, terminates: bool = False,
          behind: int = 0, ends_at: dict[int, int] | None = None) -> Any:
    """CPU 0 frees its endpoint behind the first message; or ends without that. Or ``behind`` so
    many, which it replies to with bulk data."""
    def make() -> Any:
        world, parties = world_of(len(senders) + 1, packets, large=behind > 0)

        async def sends(party: Party) -> None:
            for number in range(senders[party.cpu - 1]):
                await party.send(0, number, bulk)
            await party.serve(lambda: not party.endpoint.outstanding)

        async def frees(party: Party) -> None:
            await party.serve(lambda: len(party.got) >= max(behind, 1))
            if terminates:
                assert await party.am.AM_FreeEndpoint(party.endpoint) is OK

        def look() -> None:
            if not ends_at:
                check(parties, sent)
            why = AM_RETURNED.BADENDPOINT if terminates else AM_RETURNED.UNREACHABLE
            for party in parties[1:]:
                assert not party.endpoint.outstanding
                assert {one[2] for one in party.ended} <= {0, why, AM_RETURNED.UNREACHABLE}
                assert len(party.ended) == senders[party.cpu - 1]

        world.start(frees(parties[0]), *map(sends, parties[1:]), ends_at=ends_at)
        sent = {cpu: [(0, number) for number in range(many)]
                for cpu, many in enumerate(senders, 1)}
        return world, look
    return make


def retagged(packets: int, ends_at: dict[int, int] | None = None) -> Any:
    """CPU 1 sends three requests to CPU 0, and changes its tag behind each; CPU 0 changes its own
    behind the first."""
    def make() -> Any:
        world, parties = world_of(2, packets)
        receiver, sender = parties

        async def sends() -> None:
            for number in range(3):
                await sender.send(0, number)
                await sender.am.AM_SetTag(sender.endpoint, 70 + number)
            await sender.serve(lambda: not sender.endpoint.outstanding)
            await sender.am.AM_Terminate()

        async def serves() -> None:
            await receiver.serve(lambda: bool(receiver.got) or world.processes[1].over)
            await receiver.am.AM_SetTag(receiver.endpoint, 6)
            await receiver.serve(lambda: world.processes[1].coroutine is None)
            for _ in range(4):
                await receiver.am.AM_Poll(receiver.bundle)

        def look() -> None:
            assert not sender.endpoint.outstanding
            back = [number for _, number, why in sender.ended if why]
            answered = [number for _, number, why in sender.ended if not why]
            assert all(why in (0, AM_RETURNED.BADTAG) for *_, why in sender.ended)
            assert sorted(answered + back + receiver.rejected) == [0, 1, 2]
            assert [number for _, number in receiver.got] == sorted(answered + receiver.rejected)

        world.start(serves(), sends(), ends_at=ends_at)
        return world, look if ends_at is None else lambda: None
    return make


CASES: list[Any] = [
    (many_to_one, ([2, 2], 2), {}, 1), (many_to_one, ([2, 1, 1], 2), {}, 2),
    (many_to_one, ([1, 1], 1), {}, 2), (many_to_one, ([2, 1], 1), {"silent": True}, 1),
    (many_to_one, ([1, 1], 2), {"bulk": True}, 2), (many_to_one, ([2, 2], 1), {"wait": False}, 1),
    (each_to_other, (2, 1), {}, 2), (each_to_other, (2, 2), {"bulk": True}, 1),
    (each_to_other, (1, 1), {"oneself": True}, 2),
    (freed, ([2, 1], 1), {}, 2), (freed, ([1, 1], 1), {"terminates": True}, 2),
    (freed, ([2, 1], 2), {"bulk": True, "terminates": True}, 1),
    (freed, ([3], 3), {"terminates": True, "behind": 2}, 2),
    (retagged, (2,), {}, 2), (retagged, (1,), {}, 1)]


def name(case: Any) -> str:
    make, what, how, _ = case
    return f"{make.__name__}-{what}-{'-'.join(how)}".replace(" ", "")


@pytest.mark.parametrize("deeper", [0, more(1)])
@pytest.mark.parametrize("case", CASES, ids=name)
def test_all_orders(case, deeper):
    make, what, how, bound = case
    found = explore(make(*what, **how), bound + deeper)
    assert found.orders > 20


@pytest.mark.parametrize("orders", [60, more(3000)])
@pytest.mark.parametrize("case", CASES, ids=name)
def test_random_orders(case, orders):
    make, what, how, _ = case
    wander(make(*what, **how), Random(f"{name(case)}"), orders)


ENDS: list[Any] = [
    (many_to_one, ([2, 1], 1), {}, 0), (many_to_one, ([1, 1], 1), {}, 1),
    (many_to_one, ([1, 1], 2), {"bulk": True}, 0), (many_to_one, ([1, 1], 2), {"bulk": True}, 1),
    (many_to_one, ([2, 1], 1), {"wait": False}, 1),
    (many_to_one, ([2, 1], 1), {"silent": True}, 0),
    (each_to_other, (2, 1), {}, 0), (each_to_other, (1, 2), {"bulk": True}, 0),
    (each_to_other, (1, 1), {"oneself": True}, 1),
    (freed, ([1, 1], 2), {"terminates": True}, 0),
    (freed, ([3], 3), {"terminates": True, "behind": 2}, 0),
    (freed, ([2, 1], 3), {"terminates": True, "behind": 2}, 0), (retagged, (1,), {}, 0),
    (retagged, (1,), {}, 1)]


def steps_of(make: Any, what: Any, how: Any, victim: int) -> int:
    """The steps that the program takes if nobody delays it."""
    worlds = []

    def noted() -> Any:
        worlds.append(make(*what, **how)())
        return worlds[-1]

    explore(noted, 0)
    return worlds[0][0].processes[victim].own_steps


@pytest.mark.parametrize("bound", [1, more(2)])
@pytest.mark.parametrize("case", ENDS, ids=name)
def test_a_process_ends_after_any_step(case, bound):
    make, what, how, victim = case
    for steps in range(1, steps_of(*case) + 1):
        try:
            explore(make(*what, ends_at={victim: steps}, **how), bound)
            wander(make(*what, ends_at={victim: steps}, **how), Random(steps), 6 * bound)
        except Failed as error:
            raise AssertionError(f"CPU {victim} ends after {steps} steps") from error


@pytest.mark.parametrize("orders", [150, more(5000)])
@pytest.mark.parametrize("bulk", [False, True])
def test_two_processes_end(bulk, orders):
    draw = Random(f"{bulk}")
    for _ in range(orders):
        ends_at = {0: draw.randrange(1, 60), 1: draw.randrange(1, 60)}
        make = each_to_other(2, draw.choice((1, 2)), bulk=bulk, oneself=draw.random() < 0.3,
                             ends_at=ends_at)
        try:
            wander(make, draw, 1)
        except Failed as error:
            raise AssertionError(f"they end after {ends_at} steps") from error
