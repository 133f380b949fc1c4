"""Whether marks are kept changes nothing that the target is given: not an operation, not a tick of
the work before one, not the cycle. On the functional target, with programs, CPU clocks and costs
drawn at random."""

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from nicbed.host.am import Gam
from nicbed.host.gm import GM_EVENT, GM_STATUS
from nicbed.host.mpi import ANY_SOURCE, Mpi, Request
from nicbed.host.port.costs import CPU_ITEMS
from nicbed.host.port.port import Port
from nicbed.host.port.words import F_ONCE
from nicbed.host.via.returns import VIP_RETURN
from nicbed.layouts.description import Description
from nicbed.layouts.trace import Activity, Kind

from tests.labs.rows import more
from tests.models.spent import cpu_cycles
from tests.models.written import Written
from tests.programs.am import describe
from tests.programs.gm import Station, class_of
from tests.programs.mpi import CHANNELS, LIMIT, ranks
from tests.programs.vipl import SMALL, Side

SUCCESS, NOT_DONE = VIP_RETURN.SUCCESS, VIP_RETURN.NOT_DONE
DEEP = 20
"""Messages on a VI, or between two ports of GM, in either direction."""
TIGHT = {"nic.receive_ring": 4, "nic.send_ring": 4, "nic.mtu": 64, "nic.send_fifo": 128,
         "nic.receive_fifo": 128}
"""Replies wait for room."""


def both(description: Description, programs: Callable[[], list[Any]]) -> None:
    """Run the same with marks and without."""
    runs = []
    for tracing in (True, False):
        target = Written(description)
        runtime = target.run(programs(), limit=LIMIT, tracing=tracing)
        assert bool(runtime.marks) is tracing
        runs.append((target.given, target.now, runtime.wakes, runtime.results,
                     [(port.ticks, cpu_cycles(port), port.tally(), port.paths())
                      for port in runtime.ports]))
    (given, *others), (quiet, *quiet_others) = runs
    for one, other in zip(given, quiet, strict=False):
        assert one == other
    assert len(given) == len(quiet) and others == quiet_others


def costs(draw: random.Random) -> dict[str, Any]:
    """A CPU whose cycle is no whole number of ticks, and prices; some are 0, some times all."""
    found: dict[str, Any] = {"cpu.clock_mhz": Fraction(draw.randrange(301, 9999), 13),
                             "cpu.path_scale": draw.choice(("1", "2/7", "0"))}
    for item in draw.sample(CPU_ITEMS, draw.choice((0, 4, len(CPU_ITEMS)))):
        found[f"cpu.{item}"] = draw.choice((0, 0, 1, 3, 17))
    return found


async def look(port: Port, place: int) -> None:
    """A poll of the program's own, of one check, without a mark before it."""
    await port.room(1)
    port.put_poll(place, 1, 1, 0, F_ONCE)
    await port.executed


def am_program(seed: int) -> Callable[[Any], Any]:
    """Requests, stores, polls and waits in any order, to all other nodes, with work between."""
    async def program(node: Any) -> Any:
        draw = random.Random(f"{seed} {node.number}")
        others = [other for other in range(node.nodes) if other != node.number]
        asked = answered = ended = 0

        async def ask(am: Any, source: int, word: int) -> None:
            node.port.work("alu", word % 5)
            if word % 3:
                await am.reply(answer, word)
            if word % 4 == 1:
                await look(node.port, place)

        def answer(am: Any, source: int, word: int) -> None:
            nonlocal answered
            answered += 1
            node.port.work("load", word % 4)

        def stored(am: Any, source: int, address: int, length: int, word: int) -> None:
            node.port.work("store", word % 4)

        def end(am: Any, word: int) -> None:
            nonlocal ended
            ended += 1

        def all_answered() -> bool:
            return answered == asked

        am = Gam(node, [ask, answer, stored])
        place = node.allocate(4096)
        await am.enable()
        stores = 0
        for _ in range(60):
            if draw.random() < 0.5:
                await look(node.port, place)
            node.port.work("branch", draw.randrange(3))
            match draw.randrange(7):
                case 0 | 1 | 2:
                    word = draw.randrange(60)
                    asked += bool(word % 3)
                    await am.request(draw.choice(others), ask, word)
                case 3:
                    await am.poll()
                case 4:
                    await am.wait(all_answered)
                case 5:
                    stores += 1
                    await am.store_async(draw.choice(others), place, place, draw.randrange(900),
                                         stored, stores, end, stores)
                case 6:
                    await node.port.delay(draw.randrange(500))
        await am.wait(lambda: all_answered() and ended == stores)
        await am.disable()
        return answered, ended
    return program


def via_program(seed: int) -> Callable[[Any], Any]:
    """Messages both ways on a VI, posted and found by whatever call, with work between."""
    async def program(node: Any) -> Any:
        draw, both_draw = random.Random(f"{seed} {node.number}"), random.Random(seed)
        queued = both_draw.random() < 0.4
        side = await Side(node, length=1 << 14).open(receive_cq=2 * DEEP if queued else 0)
        for number in range(DEEP):
            await side.receive(side.segment(200 * number, 200))
        await side.connect()
        vipl, port, vi, place = side.vipl, node.port, side.vi, node.allocate(64)
        sends = [await side.make(side.segment(8000 + number, draw.randrange(200)))
                 for number in range(DEEP)]
        posted = sent = received = 0
        while sent < DEEP or received < DEEP:
            if draw.random() < 0.5:
                await look(port, place)
            port.work("alu", draw.randrange(4))
            if posted < DEEP and draw.random() < 0.4:
                assert await vipl.VipPostSend(vi, *sends[posted]) is SUCCESS
                posted += 1
            elif sent < posted and draw.random() < 0.6:
                found = await (vipl.VipSendWait(vi, None) if draw.random() < 0.5
                               else vipl.VipSendDone(vi))
                sent += found[0] is SUCCESS
            elif received < DEEP and queued:
                result, _, _ = await (vipl.VipCQWait(side.cqs[1], 0.01) if draw.random() < 0.5
                                      else vipl.VipCQDone(side.cqs[1]))
                if result is SUCCESS:
                    await look(port, place)
                    result, _ = await vipl.VipRecvDone(vi)
                    assert result is SUCCESS
                    received += 1
            elif received < DEEP:
                found = await (vipl.VipRecvWait(vi, 0.01) if draw.random() < 0.5
                               else vipl.VipRecvDone(vi))
                received += found[0] is SUCCESS
        return await port.now()
    return program


def gm_program(seed: int) -> Callable[[Any], Any]:
    """Messages both ways over GM, events taken by whatever call."""
    async def program(node: Any) -> Any:
        draw, port, place = random.Random(f"{seed} {node.number}"), node.port, node.allocate(64)
        station = await Station(node).open()
        gm, sent = station.gm, 0
        await station.provide(class_of(64), count=4)
        while sent < DEEP or len(station.got) < DEEP:
            port.work("alu", draw.randrange(4))
            if sent < DEEP and len(station.port.free_sends) > 8 and draw.random() < 0.5:
                sent += await station.send(bytes(draw.randrange(65)), 1 - node.number,
                                           size=class_of(64)) is GM_STATUS.GM_SUCCESS
            else:
                event = await (gm.gm_blocking_receive(station.port)
                               if sent == DEEP and draw.random() < 0.5
                               else gm.gm_receive(station.port))
                await look(port, place)
                if event.type is GM_EVENT.GM_NO_RECV_EVENT:
                    await port.delay(draw.randrange(800))
                else:
                    await station.handle(event)
        await station.idle()
        return await port.now()
    return program


def mpi_program(seed: int) -> Callable[[Mpi], Any]:
    """Messages short and long between two ranks, sent and received by whatever call."""
    async def main(mpi: Mpi) -> Any:
        world, port, place = mpi.COMM_WORLD, mpi.node.port, mpi.node.allocate(64)
        draw, all_draw = random.Random(f"{seed} {world.rank}"), random.Random(seed)
        for _ in range(4):
            size = all_draw.choice((0, 8, 300, 5000))
            here, there = mpi.empty(size, "u1"), mpi.empty(size, "u1")
            other = 1 - world.rank
            sends = [await world.Isend(here, other) for _ in range(2)]
            for _ in sends:
                port.work("alu", draw.randrange(3))
                while draw.random() < 0.5 and not await world.Iprobe(ANY_SOURCE):
                    await look(port, place)
                    port.work("load", draw.randrange(3))
                receive = await world.Irecv(there, ANY_SOURCE)
                port.work("alu", draw.randrange(3))
                await receive.Wait()
                await look(port, place)
            for send in sends:
                while draw.random() < 0.5 and not await send.Test():
                    await look(port, place)
                    port.work("load", draw.randrange(3))
            await Request.Waitall(sends)
            for turn in range(10):
                if turn % 2 == world.rank:
                    await port.delay(draw.randrange(300))
                    await world.Send(here, other)
                else:
                    receive = await world.Irecv(there, other)
                    port.work("alu", draw.randrange(3))
                    await receive.Wait()
            await world.Barrier()
        return await port.now()
    return main


@pytest.mark.parametrize("seed", [*range(6), *map(more, range(6, 60))])
def test_active_messages(seed: int) -> None:
    draw = random.Random(f"am {seed}")
    knobs = costs(draw) | {"fabric.nodes": draw.choice((2, 3)), "am.retry_timeout": 8000}
    if draw.random() < 0.4:
        knobs |= {"faults.drop": 0.02, "am.retries": 40}
    if draw.random() < 0.5:
        knobs |= TIGHT
    description = describe(knobs)
    both(description, lambda: [am_program(seed)] * description.fabric.nodes)


@pytest.mark.parametrize("seed", [*range(6), *map(more, range(6, 60))])
def test_via(seed: int) -> None:
    draw = random.Random(f"via {seed}")
    knobs = SMALL | costs(draw) | {"via.design": draw.choice(("engine", "kernel")),
                                   "via.spin": draw.choice((0, 500, 1 << 24))}
    both(describe(knobs), lambda: [via_program(seed)] * 2)


@pytest.mark.parametrize("seed", [0, *map(more, range(1, 20))])
def test_gm(seed: int) -> None:
    draw = random.Random(f"gm {seed}")
    both(describe(CHANNELS["gm"] | costs(draw)), lambda: [gm_program(seed)] * 2)


@pytest.mark.parametrize("channel", ["via", "via in the kernel", "gm", "tcp", "shm"])
@pytest.mark.parametrize("seed", [0, 1, *map(more, range(2, 20))])
def test_mpi(channel: str, seed: int) -> None:
    draw = random.Random(f"mpi {channel} {seed}")
    places = {"node.cpus" if channel == "shm" else "fabric.nodes": 2}
    knobs = CHANNELS[channel] | costs(draw) | places
    both(describe(knobs), lambda: ranks(mpi_program(seed), 2, channel))


@pytest.mark.parametrize("seed", range(20))
def test_any_order_of_work_marks_and_operations(seed: int) -> None:
    """The port alone: a poll rounds the work before a mark apart from its own check."""
    def program(draw: random.Random) -> Callable[[Any], Any]:
        async def run(node: Any) -> Any:
            port, place = node.port, node.allocate(64)
            for _ in range(300):
                match draw.randrange(6):
                    case 0 | 1:
                        port.work("alu", draw.randrange(3))
                    case 2:
                        port.mark(Activity.COMPUTE, Kind.BEGIN, 0)
                    case 3:
                        await port.touch(place, 8)
                    case 4:
                        await look(port, place)
                    case 5:
                        await port.delay(draw.randrange(2))
            return await port.now()
        return run

    draw = random.Random(seed)
    both(describe(costs(draw)), lambda: [program(random.Random(seed)), None])
