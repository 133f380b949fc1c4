"""A board's control: the serial protocol in words, around a toy machine, against a model of it."""

import random
from typing import Any

import cocotb
import pytest
from amaranth.hdl import Fragment
from cocotb.triggers import RisingEdge
from nicbed.layouts.board import IDENTITY_WORDS, RESPONSE_FRAME, Kind, Operation
from nicbed.layouts.operations import BLOCK, ENTRY_WORDS
from nicbed.layouts.timing import TIMING_REGISTERS
from nicbed.rtl.boards.control.commands import READ_ROOM, Commands
from nicbed.rtl.boards.control.responses import Responses
from nicbed.rtl.boards.harness import Harness

from tests.labs.bench import PERIOD, cycles, parameters, reset_and_clock, run_bench, seed
from tests.labs.board.client import (
    PAGE,
    BackEnd,
    Board,
    Response,
    command,
    entry,
    forget,
    give,
    page,
    read,
    run,
    set_register,
    switches,
    write,
    zero,
)
from tests.labs.rows import more
from tests.models.board import (
    EVENTS,
    IDENTITY,
    NOTHING,
    READ,
    REST,
    STOP,
    SWEEP,
    WRITE,
    Rig,
    ToyModel,
)

NODES, WORDS, FRAMES = 2, 1024, 3
SIZE = FRAMES * PAGE
# Cycles of a test: a machine that steps when it must not may run on for ever.
LIMIT = 200_000
limited = cocotb.test(timeout_time=LIMIT * PERIOD, timeout_unit="ns")


async def began(dut: Any, *, stall: float = 0.3) -> Board:
    await reset_and_clock(dut)
    board = Board(dut, seed(), stall=stall)
    nodes = (await board.hello(250)).identity[-2]
    # Reset unmaps no page, and keeps the timing registers.
    await board.do([command(Operation.TIMING, 3), 0],
                   *(forget(node, 0, WORDS // PAGE) for node in range(nodes)))
    return board


def random_entry(rng: random.Random) -> dict[str, Any]:
    op = rng.choice([NOTHING, WRITE, WRITE, READ, READ, SWEEP, REST])
    work = rng.choice([0, 0, 1, rng.randrange(150 if op == NOTHING else 10)])
    # A sweep's words lie in two pages now and then.
    return entry(op, work=work, strobe=rng.choice([0, 255, rng.randrange(256)]),
                 process=rng.randrange(256), address=8 * rng.randrange(WORDS - 64),
                 length=rng.getrandbits(32), trace=rng.getrandbits(24),
                 data=(rng.choice([0, 7, rng.getrandbits(64)]), rng.getrandbits(64)))


@limited
async def runs_programs(dut: Any) -> None:
    """Random blocks, with pages swapped, frames repeated, budgets, resets and HELLO in between."""
    rng = random.Random(seed())
    board = await began(dut, stall=parameters()["stall"])
    nodes, frames = (await board.hello(1)).identity[-2:]
    model = ToyModel(nodes=nodes, words=WORDS)
    back = BackEnd(board, model, frames, seed())
    for _ in range(parameters()["runs"]):
        await back.restart(setting=rng.getrandbits(32), trace=rng.random() < 0.7,
                           limit=rng.choice([0, rng.randrange(200, 600)]))
        for _ in range(parameters()["turns"]):
            needs = model.needs()
            ports = [port for port in range(nodes) if needs >> port & 1]
            rng.shuffle(ports)
            for port in ports[:rng.randrange(len(ports) + 1) if rng.random() < 0.1 else None]:
                block = [random_entry(rng) for _ in range(rng.randrange(1, BLOCK + 1))]
                if rng.random() < 0.05:
                    block.append(entry(STOP))
                back.give(port, block[-BLOCK:])
            await back.serve(budget=rng.choice([0, 0, rng.randrange(1, 60)]), repeats=0.2)
            if rng.random() < 0.1:
                response = await board.hello(rng.randrange(256), word=rng.getrandbits(32))
                assert response.cycle == model.cycle
                back.collect(response)
            if model.expired or all(model.stopped):
                break
    # Some repetition may be on its way.
    await cycles(dut, 100)
    assert board.repeats + back.busy == back.repeated and not board.sink.taken
    assert back.misses > 10
    if parameters()["stall"] == 0:
        assert back.busy


@limited
async def says_what_it_is(dut: Any) -> None:
    await reset_and_clock(dut)
    board = Board(dut, seed(), stall=0.3)
    # Nothing but HELLO begins; a HELLO without its word is none.
    for kind, number in ((Kind.COMMAND, 0), (Kind.COMMAND, 1), (Kind.DONE, 9)):
        answered, _ = await board.ask(kind, number, [command(Operation.SET), 0])
        assert answered == Kind.LOST
    assert await board.ask(Kind.HELLO, 1, []) == (Kind.REFUSED, [0])
    assert (await board.ask(Kind.COMMAND, 2, []))[0] == Kind.LOST
    words = [int.from_bytes(IDENTITY[4 * at:4 * at + 4], "little") for at in range(IDENTITY_WORDS)]
    for number, word in ((77, 0xDEAD_BEEF), (77, 5), (255, 0)):
        response = await board.hello(number, word)
        assert response.identity == [word, *words, NODES, FRAMES]
        assert response.length == 1 + 4 + (1 + 1 + IDENTITY_WORDS + 2) + 1
    # The machine is in reset, in which its ports wait with nothing to be answered.
    assert response.status == {"attention": 1, "expired": 0, "miss": 0, "more": 0, "needs": 3,
                               "node": 0}
    assert not int(dut.running.value)
    await board.do()                                    # number 0
    assert board.sequence == 0
    # Repeated, it is not executed again; any other number is lost.
    for number in range(3):
        board.repeat()
        await cycles(dut, 50)
        assert (board.repeats, board.sink.taken) == (number + 1, [])
    # After a wrong number no other is right, but after HELLO.
    for wrong in (2, 255, 128):
        for number in (wrong, 0, 1):
            assert await board.ask(Kind.COMMAND, number, [command(9)]) == (Kind.LOST, [1])
        await board.hello(0)
    board.sequence = 1
    assert await board.ask(Kind.DONE, 1, [1, 2, 3]) == (Kind.REFUSED, [0])
    board.repeat()
    await cycles(dut, 50)
    assert board.repeats == 4
    assert (await board.hello(200)).identity[0] == 7
    await board.do()


@limited
async def refuses(dut: Any) -> None:
    board = await began(dut)
    start = [switches(reset=1), switches()]
    await board.do(*start)
    good = zero(1, 5, 3)                                # places 1 and 2
    block = give(0, [entry(NOTHING, work=3, data=(5, 6)), entry(NOTHING)])
    wrong: list[list[int]] = [
        [command(0), 0], [command(10), 0], [command(255), 0],
        set_register(3, 0), set_register(255, 0),
        [command(Operation.TIMING, 3), 5],              # not in reset
        write(NODES, 0, [1]), write(0, SIZE - 1, [1, 2]), write(0, SIZE, [1]),
        [command(Operation.WRITE, 0, 0), 0], write(0, 1 << 31, [1]),
        zero(NODES, 0, 1), zero(1, 0, SIZE + 1), zero(0, 5, 0xFFFF), zero(0, 0, 0),
        read(NODES, 0, 1), read(0, SIZE - 3, 4), read(0, 0xFFFF_FFFF, 1), read(0, 0, 0),
        page(NODES, 0, 0), page(0, WORDS // PAGE, 0), page(0, 0, FRAMES), page(0, 0xFFFF, None),
        forget(NODES, 0, 1), forget(0, 0, WORDS // PAGE + 1), forget(0, WORDS // PAGE, 1),
        forget(1, 0, 0), forget(0, 1 << 17, 1), forget(0, 0xFFFF_FFFF, 2),
        give(NODES, [entry(NOTHING)]), [command(Operation.GIVE, 0, 0), 0],
        [*give(0, [entry(NOTHING)] * BLOCK), 0, 0], [command(Operation.GIVE, 1, 1), 1 << 13, 5],
        [*run(5), *switches(reset=1)],
    ]
    wrong[-3][0] = command(Operation.GIVE, 0, BLOCK + 1)
    for words in wrong:
        assert await board.refused(good, words, run(1)) == 3, f"{words[:2]}"
    for whole in (switches(), good, write(0, 3, [1, 2]), read(0, 3, 1), page(0, 0, 0),
                  forget(0, 0, 1), block, run(1)):
        for length in range(1, len(whole)):
            assert await board.refused(good, whole[:length]) == 3, f"{whole[:length]}"
    # What ended within was not given; what was, is not given twice, nor to one that has stopped.
    assert await board.refused(block, block) == 1 + len(block)
    response = await board.do(give(1, [entry(STOP)]), run())
    assert response.status["needs"] == 1 and list(response.answers) == [0]
    assert await board.refused(give(1, [entry(NOTHING)])) == 1
    # Commands before were executed; nothing was left behind of what they read.
    await board.do(write(0, 0, [1, 2, 3]))
    assert await board.refused(read(0, 0, 3), zero(0, 1, 1), [command(0)]) == 5
    assert (await board.do()).reads == []
    assert (await board.do(read(0, 0, 3))).reads == [(0, [1, 0, 3])]
    # The edges of what fits.
    await board.do(switches(reset=1), [command(Operation.TIMING, len(TIMING_REGISTERS) - 1), 0])
    assert await board.refused([command(Operation.TIMING, len(TIMING_REGISTERS)), 0]) == 1
    await board.do(page(0, WORDS // PAGE - 1, FRAMES - 1), zero(0, 0, SIZE), zero(1, SIZE - 1, 1),
                   page(1, 0, None), switches())


@limited
async def reads_as_much_as_fits(dut: Any) -> None:
    board = await began(dut, stall=0.0)
    rng = random.Random(seed())
    words = [[rng.getrandbits(64) for _ in range(SIZE)] for _ in range(NODES)]
    for node in range(NODES):
        await board.do(write(node, 0, words[node]))
    both = (READ_ROOM - 2) // 2
    assert await board.refused(read(0, 0, 200), read(1, 0, both - 199)) == 3
    parts = [(0, 3, 200), (1, 2, both - 200)]
    response = await board.do(*(read(*part) for part in parts))
    assert response.reads == [(n, words[n][at:at + count]) for n, at, count in parts]
    assert await board.refused(*(read(*part) for part in parts), read(0, 0, 1)) == 5
    # What a frame writes after it read is not in what it read.
    response = await board.do(read(0, 0, 2), zero(0, 0, 1), read(0, 0, 2), read(1, 5, 1))
    assert response.reads == [(0, words[0][:2]), (0, [0, words[0][1]]), (1, words[1][5:6])]


@limited
async def answers_while_time_runs(dut: Any) -> None:
    board = await began(dut)
    await board.do(switches(reset=1), switches())
    await board.do(page(0, 0, 1), page(1, 0, 1))
    block = [entry(NOTHING, work=2000, data=(0, 3))] * 2
    board.begin(read(0, 0, 2), *(give(port, block) for port in range(NODES)), run())
    seen = []
    for _ in range(3):
        await cycles(dut, 200)
        assert int(dut.running.value)
        board.repeat()
        kind, number, words = await board.receive()
        assert (kind, number, len(words)) == (Kind.BUSY, board.sequence, 2)
        seen.append(words[0] | words[1] << 32)
    assert 80 < seen[0] and all(0 < b - a < 600 for a, b in zip(seen, seen[1:], strict=False))
    for kind, number in ((Kind.COMMAND, board.sequence + 1), (Kind.DONE, 1)):
        assert await board.ask(kind, number, [command(Operation.SET), 1]) == (
            Kind.LOST, [board.sequence + 1])
    assert await board.ask(Kind.HELLO, 3, []) == (Kind.REFUSED, [0])
    await cycles(dut, 3)
    assert int(dut.running.value)
    # HELLO ends the run wherever it is, and what it read is gone; RUN goes on from there.
    response = await board.hello(40)
    assert response.identity and not response.reads and response.status["needs"] == 0
    assert not any(response.status[name] for name in ("attention", "miss", "more", "expired"))
    stood = response.cycle
    await cycles(dut, 50)
    assert stood < 4000 and (await board.do()).cycle == stood
    assert (await board.do(run(7))).cycle == stood + 7
    response = await board.do(run())
    # A cycle to begin in, and 2001 of each entry.
    assert response.cycle == 4003 and response.status["needs"] == 3
    assert response.answers == {port: [(2002, 0, 3), (4003, 0, 3)] for port in range(NODES)}
    # Stalled, it does not run; in reset neither, and nothing is left of what was given.
    assert (await board.do(run(5))).cycle == 4003
    response = await board.do(switches(reset=1), run(5))
    assert (response.cycle, response.status["needs"], response.answers) == (0, 3, {})


@limited
async def forgets_pages(dut: Any) -> None:
    """Those that FORGET names are missed, and no others."""
    board = await began(dut)
    looks = [entry(READ, work=3, address=1024 * number) for number in range(3)]
    for first, count in ((1, 1), (0, 2), (1, WORDS // PAGE - 1), (0, WORDS // PAGE), (3, 5)):
        await board.do(*(page(1, number, number) for number in range(3)),
                       forget(1, first, count), forget(0, 0, 1), switches(reset=1), switches())
        response = await board.do(give(1, looks), give(0, [entry(STOP)]), run())
        missed = []
        while response.status["miss"]:
            missed.append(response.page)
            response = await board.do(page(1, response.page, response.page), run())
        assert missed == [number for number in range(3) if first <= number < first + count]
        assert len(response.answers[1]) == 3


@limited
async def takes_a_step_a_cycle(dut: Any) -> None:
    """As fast as the clock where nothing is accessed; 2 more cycles a write, 3 a read, 1 an event,
    and those that an entry takes to come, in which events are logged as well.
    """
    comes = ENTRY_WORDS + 1
    board = await began(dut, stall=0.0)
    for trace, block, least in (
            (0, [entry(NOTHING, work=500)], 0),
            (0, [entry(WRITE, work=20, strobe=1)] * 3, 2 * (2 + comes)),
            (0, [entry(READ, work=20)] * 4, 3 * (3 + comes)),
            (1, [entry(NOTHING, work=20)] * 4, 3 * comes),
            (1, [entry(SWEEP, work=19)], 19 * EVENTS)):
        await board.do(switches(reset=1), switches(trace=trace))
        board.begin(page(0, 0, 0), page(1, 0, 0), give(0, block), give(1, [entry(STOP)]), run())
        edge = RisingEdge(dut.clk)
        clocks = steps = 0
        for _ in range(2000):
            await edge
            if int(dut.running.value):
                steps += int(dut.steps.value)
                clocks += 1
                assert steps or clocks < comes
            elif clocks:
                break
        kind, _, words = await board.receive()
        response = Response.parse(words)
        assert kind == Kind.DONE and response.cycle == steps
        # STOP's events come on top; for the last entry's, time has ended already. The first entry
        # is on its way before time runs.
        extra = clocks - steps - 1 - trace * EVENTS
        assert least <= extra < least + comes, (block[0], clocks, steps)


@limited
async def fills_its_logs(dut: Any) -> None:
    """A log with no room ends a run; nothing is lost, and frames are full but never too long."""
    board = await began(dut, stall=0.0)
    model = ToyModel(nodes=NODES, words=WORDS)
    back = BackEnd(board, model, FRAMES, seed())
    lengths = []
    parse = Response.parse

    def noted(words: list[int]) -> Response:
        lengths.append(len(words) + 2)
        return parse(words)

    Response.parse = noted  # type: ignore[method-assign]
    for trace, strobe, work in ((False, 255, 300), (True, 0, 600 // NODES // EVENTS)):
        await back.restart(setting=1, trace=trace)
        # The first time brings the pages; each miss empties the logs.
        for _ in range(2):
            for port in range(NODES):
                back.give(port, [entry(SWEEP, work=work, strobe=strobe, length=9,
                                       address=1024 * port, data=(5 << 40, 6))])
            mores = back.mores
            await back.serve()
        assert back.mores > mores
    assert RESPONSE_FRAME - 3 <= max(lengths) <= RESPONSE_FRAME
    # Reset empties them, and what was not in them yet goes, too.
    await back.restart(setting=1, trace=True)
    commands = [give(port, [entry(SWEEP, work=600, address=8 * 512)]) for port in range(NODES)]
    response = await board.do(*commands, run())
    assert response.status["more"] or response.status["miss"]
    response = await board.do(switches(reset=1))
    assert not response.writes and not response.events
    assert not response.status["more"] and not response.status["miss"]


def test_everything() -> None:
    """All of the above in one simulation, for making it takes longest."""
    run_bench(Rig(nodes=NODES, words=WORDS, frames=FRAMES), __file__, stall=0.2, runs=3, turns=6)


@pytest.mark.parametrize("number, nodes, frames", [
    (2, 3, 2), more(3, 8, 5)])
def test_runs_programs(number: int, nodes: int, frames: int) -> None:
    run_bench(Rig(nodes=nodes, words=WORDS, frames=frames), __file__, testcase="runs_programs",
              seed=number, stall=0.0, runs=3, turns=5)


@pytest.mark.parametrize("make, error, text", [
    (lambda: Commands(nodes=0, words=WORDS, frames=2), ValueError, "nodes must be 1 to 8, not 0"),
    (lambda: Commands(nodes=9, words=WORDS, frames=2), ValueError, "nodes must be 1 to 8, not 9"),
    (lambda: Commands(nodes="2", words=WORDS, frames=2), TypeError, "nodes must be an integer"),
    (lambda: Responses(nodes=2, frames=2, identity="x"), TypeError, "identity must be bytes"),
    (lambda: Responses(nodes=2, frames=2, identity=bytes(31)), ValueError,
     "identity must be 32 bytes, not 31"),
])
def test_refuses_parameters(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


def test_parameters() -> None:
    harness = Harness(nodes=3, words=WORDS, sources=7, identity=IDENTITY, frames=5)
    assert (harness.nodes, harness.words, harness.sources, harness.frames) == (3, WORDS, 7, 5)
    assert harness.identity == IDENTITY
    Fragment.get(harness, None)
