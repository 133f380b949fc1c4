"""Serving one port, and back ends that serve ports directly: they give the same blocks at the same
cycles as by the runtime, which then ends the run."""

from typing import Any

import pytest
from nicbed.host.am import Gam
from nicbed.host.port.costs import Costs
from nicbed.host.port.marking import MarkingPort
from nicbed.host.port.port import Port, Watch
from nicbed.host.port.running import Running
from nicbed.host.port.serving import Server
from nicbed.host.runtime import Runtime, Stuck
from nicbed.layouts.description import Description
from nicbed.layouts.operations import ANSWER, BLOCK, ENTRY, Op, Status

from tests.models.target import Model
from tests.models.written import Written
from tests.programs.am import describe

ANSWERS = BLOCK * ANSWER.size


class Direct(Written):
    """A target that serves its ports as a simulator does (nicbed_serve()), or with ``directly``
    false by the runtime."""

    def __init__(self, description: Description, directly: bool) -> None:
        super().__init__(description)
        self.directly = directly
        self.begun = False
        self.by_runtime = 0

    def attention(self) -> None:
        now, needs, expired = self.look()
        if not self.directly or not self.begun or expired:
            self.begun = True
            self.by_runtime += 1
            super().attention()
            return
        may_end = False
        for server in self.runtime.servers:
            if needs >> server.index & 1:
                count = server.serve(now, *server.port.last_answer(now))
                if not count:
                    return
                may_end |= count < 0
                self.give(server.index, abs(count))
        if may_end:
            self.by_runtime += 1
            self.runtime.attention()
        for node in range(len(self.memories)):
            self.recheck(node)


def asks(peer: int, count: int) -> Any:
    """Requests to ``peer``, with work that leaves fractions of a cycle, and a wait at the end."""
    async def program(node: Any) -> list[int]:
        replies: list[int] = []
        gam = Gam(node, [lambda am, source, word: am.reply(1, word + 1),
                         lambda am, source, word: replies.append(word)])
        await gam.enable()
        for number in range(count):
            await gam.request(peer, 0, number)
            node.port.work("call", 3)
        await gam.wait(lambda: len(replies) == count)
        await gam.disable()
        return replies
    return program


async def left(node: Any) -> int:
    """Leaves entries, and a mark that waits for them, in its block."""
    await node.port.delay(77)
    for _ in range(BLOCK + 2):
        node.port.put_touch(64, 8, True)
    node.port.mark(1, 1, 5)
    return node.port.cycle


ON_ANY = [({}, lambda: [asks(1, 9), asks(0, 4)]), ({}, lambda: [left, left]),
          ({}, lambda: [None, left]),
          ({"fabric.nodes": 5, "cpu.clock_mhz": 100, "switch.ports": 8},
           lambda: [asks((node + 1) % 5, node) for node in range(5)]),
          ({"node.cpus": 2, "am.message_processor": "cpu"},
           lambda: [[asks(1, 6), None], [asks(0, 3), None]])]


@pytest.mark.parametrize("case", range(len(ON_ANY)))
def test_served_directly_a_run_is_the_same(case: int) -> None:
    knobs, programs = ON_ANY[case]
    runs = []
    for directly in (True, False):
        target = Direct(describe(knobs), directly)
        runtime = target.run(programs(), limit=1_000_000)
        assert runtime.done
        runs.append((target.given, target.now, runtime.wakes, runtime.results, runtime.marks,
                     [(port.ticks, port.tally()) for port in runtime.ports]))
        if directly:
            assert target.by_runtime < len(target.given) / 4 or len(target.given) < 16
    assert runs[0][1:] == runs[1][1:]
    # The STOP that ends the run need not be given.
    shorter, longer = sorted((run[0] for run in runs), key=len)
    assert shorter == longer[:len(shorter)] and len(longer) - len(shorter) <= 1


@pytest.mark.parametrize("directly", [True, False])
def test_served_directly_a_run_fails_the_same(directly: bool) -> None:
    closed = []

    async def raises(node: Any) -> None:
        await node.port.delay(100)
        await node.port.flush()
        await node.port.flush()
        raise KeyError("oops")

    async def waits(node: Any) -> None:
        try:
            await node.port.poll(Watch(64, 1))
        finally:
            closed.append(node.number)

    with pytest.raises(KeyError, match="oops") as info:
        Direct(Description(), directly).run([raises, waits])
    assert closed == [1]
    assert info.value.__notes__ == ["raised by the program of node 0 at cycle 100"]
    with pytest.raises(Stuck, match="stopped at cycle 700"):
        Direct(Description(), directly).run([waits, None], limit=700)


# One server


def make(program: Any) -> tuple[Server, Port, list[Any]]:
    port = MarkingPort(3, 1, Costs(Description()), 1, answers=bytearray(ANSWERS))
    told: list[Any] = []

    def ended(index: int, result: Any) -> bool:
        told.append((index, result))
        return result != "ends the run"

    def failed(index: int, error: BaseException) -> None:
        told.append((index, error))

    return Server(3, "node 1 CPU 1", port, program and program(port), Running(), ended,
                  failed), port, told


def ops(port: Port, count: int) -> list[int]:
    return [port._block.words[at * ENTRY.size] & 15 for at in range(count)]


def test_a_program_gets_the_last_answer_and_gives_its_block() -> None:
    async def program(port: Port) -> int:
        word = await port.pio_read(8)
        await port.delay(3)
        await port.flush()
        return word + port.cycle

    server, port, told = make(program)
    assert server.serve(5, 5, 0, 0) == 1 and ops(port, 1) == [Op.PIO_READ]
    assert (port.given, port.given_at, port._block.count) == (1, 5, 0)
    assert server.serve(20, 19, 0, 42) == 1 and ops(port, 1) == [Op.DELAY]
    assert (port.cycle, port.data) == (19, 42) and not told
    assert server.serve(30, 22, 0, 0) == -1 and ops(port, 1) == [Op.STOP]
    assert told == [(3, 64)] and server.stopped and server.coroutine is None
    assert server.wakes == 3


@pytest.mark.parametrize("text, result", [("goes on", -1), ("ends the run", 0)])
def test_an_end_that_ends_the_run(text: str, result: int) -> None:
    async def program(port: Port) -> str:
        return text

    server, _, told = make(program)
    assert server.serve(0, 0, 0, 0) == result
    assert told == [(3, text)]


def test_without_a_program_a_port_is_stopped() -> None:
    server, port, told = make(None)
    assert server.serve(0, 0, 0, 0) == -1 and ops(port, 1) == [Op.STOP]
    assert server.stopped and not told


def test_what_a_program_raises_is_told_and_given_nothing() -> None:
    async def program(port: Port) -> None:
        await port.flush()
        raise KeyError("oops")

    server, port, told = make(program)
    assert server.serve(0, 0, 0, 0) == 0
    [(index, error)] = told
    assert index == 3 and isinstance(error, KeyError) and port.given == 0


def test_discarded_answers_do_not_count() -> None:
    async def program(port: Port) -> None:
        await port.poll(Watch(64, 1), 9)
        port.put_touch(64, 8)
        await port.executed

    server, port, _ = make(program)
    assert server.serve(0, 0, 0, 0) == 1
    port._answers[:ANSWER.size] = ANSWER.pack(7, Status.DISCARDED, 1)
    assert server.serve(40, 40, Status.DISCARDED, 1) > 0
    assert port.cycle == 7


def test_a_high_cycle_is_extended_by_the_one_of_now() -> None:
    port = make(None)[1]
    port.given = 2
    port._answers[ANSWER.size:2 * ANSWER.size] = ANSWER.pack(0xFFFF_FFF0, 8, 9)
    assert port.last_answer((7 << 32) + 4) == ((6 << 32) + 0xFFFF_FFF0, 8, 9)
    port.given = 0
    assert port.last_answer(11) == (11, 0, 0)


def test_the_runtime_has_a_server_for_each_port() -> None:
    runtime: Runtime = Model(describe({"node.cpus": 2})).run([None, None])
    assert [(server.index, server.name) for server in runtime.servers] == [
        (0, "node 0 CPU 0"), (1, "node 0 CPU 1"), (2, "node 1 CPU 0"), (3, "node 1 CPU 1")]


@pytest.mark.parametrize("directly", [True, False])
def test_what_a_function_puts_before_it_gives_its_coroutine_counts(directly: bool) -> None:
    """A program is a function that returns a coroutine: there is a mark before the first block."""
    def eager(node: Any) -> Any:
        node.port.put_touch(64, 8, True)
        node.port.mark(1, 1, 7)

        async def rest() -> int:
            return node.port.cycle
        return rest()

    target = Direct(Description(), directly)
    for host in target.hosts:
        host.answers[:] = b"\x55" * len(host.answers)  # of nobody's block
    runtime = target.run([eager, eager])
    assert runtime.results == [0, 0] and [mark.ticks > 0 for mark in runtime.marks] == [True, True]


def test_a_closed_server_calls_nobody_and_runs_on_its_port() -> None:
    closed = []
    running = Running()

    async def program(port: Port) -> None:
        try:
            await port.pio_read(8)
        finally:
            closed.append(running.port)

    port = Port(0, 0, Costs(Description()), answers=bytearray(ANSWERS))
    told: list[Any] = []
    server = Server(0, "node 0", port, program(port), running,
                    lambda *what: bool(told.append(what)), lambda *what: told.append(what))
    assert server.serve(0, 0, 0, 0) == 1
    running.port = Port(1, 1, Costs(Description()))
    server.close()
    assert closed == [port] and server.coroutine is None
    assert server.serve(9, 9, 0, 0) == -1 and not told


# What runs behind a program (Node.at_end)


def make_with(ends: list[Any], program: Any) -> tuple[Server, Port, list[Any]]:
    port = MarkingPort(3, 1, Costs(Description()), 1, answers=bytearray(ANSWERS))
    told: list[Any] = []
    server = Server(3, "node 1 CPU 1", port, program(port), Running(),
                    lambda *what: not told.append(what), lambda *what: told.append(what),
                    [lambda end=end: end(port) for end in ends])
    return server, port, told


def test_ends_run_behind_the_program_the_last_one_first() -> None:
    ran = []

    async def program(port: Port) -> str:
        await port.pio_read(8)
        return "result"

    async def first(port: Port) -> str:
        ran.append(("first", await port.pio_read(16)))
        return "nobody's"

    async def idle(port: Port) -> None:
        ran.append(("idle", port.data))

    async def last(port: Port) -> None:
        await port.delay(5)
        await port.flush()
        ran.append(("last", port.cycle))

    server, port, told = make_with([first, idle, last], program)
    assert server.serve(0, 0, 0, 0) == 1 and ops(port, 1) == [Op.PIO_READ]
    assert server.serve(9, 9, 0, 42) == 1 and ops(port, 1) == [Op.DELAY]
    assert server.serve(14, 14, 0, 43) == 1 and ops(port, 1) == [Op.PIO_READ]
    assert not told and server.coroutine is not None
    assert server.serve(20, 20, 0, 44) == -1 and ops(port, 1) == [Op.STOP]
    assert ran == [("last", 14), ("idle", 43), ("first", 44)]
    assert told == [(3, "result")] and server.coroutine is None


def test_what_a_program_leaves_goes_before_its_ends() -> None:
    """Full blocks that are queued, too."""
    async def program(port: Port) -> None:
        for _ in range(2 * BLOCK + 3):
            port.put_touch(64, 8)

    async def end(port: Port) -> None:
        found.append(await port.pio_read(8))

    found: list[int] = []
    server, port, told = make_with([end], program)
    assert [server.serve(0, 0, 0, 0), server.serve(10, 10, 0, 0)] == [BLOCK, BLOCK]
    assert server.serve(20, 20, 0, 1) == 4 and ops(port, 4) == [Op.TOUCH] * 3 + [Op.PIO_READ]
    assert not told and not found
    assert server.serve(30, 30, 0, 77) == -1
    assert found == [77] and told == [(3, None)]


def test_an_end_may_leave_entries_and_other_ends() -> None:
    async def program(port: Port) -> None:
        pass

    async def another(port: Port) -> None:
        port.put_touch(64, 8)

    async def end(port: Port) -> None:
        server._ends.append(lambda: another(port))

    server, port, told = make_with([end], program)
    assert server.serve(0, 0, 0, 0) == -1 and ops(port, 1) == [Op.TOUCH]
    assert told == [(3, None)] and not server.stopped
    assert server.serve(9, 9, 0, 0) == -1 and ops(port, 1) == [Op.STOP]
    assert server.stopped


@pytest.mark.parametrize("waits", [False, True])
def test_what_an_end_raises_is_told(waits: bool) -> None:
    async def program(port: Port) -> None:
        pass

    async def end(port: Port) -> None:
        if waits:
            await port.pio_read(8)
        raise KeyError("oops")

    server, _, told = make_with([end], program)
    if waits:
        assert server.serve(0, 0, 0, 0) == 1
    assert server.serve(9, 9, 0, 0) == 0
    [(index, error)] = told
    assert index == 3 and isinstance(error, KeyError)


@pytest.mark.parametrize("waits", [False, True])
def test_an_end_awaits_operations_of_its_port(waits: bool) -> None:
    async def program(port: Port) -> None:
        pass

    async def end(port: Port) -> None:
        if waits:
            await port.pio_read(8)
        await port.executed

    server, _, told = make_with([end], program)
    if waits:
        assert server.serve(0, 0, 0, 0) == 1
    assert server.serve(9, 9, 0, 0) == 0
    assert "node 1 CPU 1's program awaited something that is not" in str(told[0][1])


@pytest.mark.parametrize("directly", [True, False])
def test_a_run_waits_for_ends_and_keeps_results_and_marks(directly: bool) -> None:
    order: list[str] = []

    def program(name: str, many: int) -> Any:
        async def run(node: Any) -> str:
            async def end() -> None:
                node.port.mark(1, 0, 9)
                await node.port.delay(1000)
                await node.port.flush()
                node.port.mark(1, 1, 9)
                order.append(f"end {name}")
            for _ in range(many):
                node.at_end(end)
            await node.port.delay(100)
            await node.port.flush()
            order.append(name)
            return name
        return run

    target = Direct(Description(), directly)
    runtime = target.run([program("a", 2), program("b", 0)])
    assert runtime.results == ["a", "b"] and runtime.done
    assert order == ["a", "b", "end a", "end a"]
    assert [mark.ticks >> 8 for mark in runtime.marks if mark.number == 9] == [100, 1100, 1100,
                                                                             2100]
    assert target.now >= 2100


def test_a_run_that_ends_behind_its_limit_says_where_the_end_waits() -> None:
    async def program(node: Any) -> None:
        async def end() -> None:
            node.port.waiting_for("what its peers have drawn")
            await node.port.poll(Watch(64, 1))
        node.at_end(end)

    with pytest.raises(Stuck, match="node 0 waits for what its peers have drawn"):
        Direct(Description(), False).run([program, None], limit=700)
