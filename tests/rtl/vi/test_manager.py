"""The manager: what each command and break does in each state, in which order."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.layouts.via import Event, ViCommand, ViState
from nicbed.rtl.vi.manager import BLOCKS, BREAKS, Manager
from nicbed.rtl.vi.types import Break, Command, Control, ControlAction, EngineEvent

from tests.labs.bench import (
    Sink,
    Source,
    cycles,
    parameters,
    reset_and_clock,
    run_bench,
    seed,
    unpack,
    within,
)
from tests.labs.rows import more
from tests.models.vi.contexts import ContextModel

CLOSED, IDLE, CONNECTED, ERROR = ViState
CREATE, CONNECT, ABORT = (action.value for action in ControlAction)


def orders(vi: int, action: int) -> list[Any]:
    return [("control", block, vi, action) for block in range(BLOCKS)]


def wakes(vi: int) -> list[Any]:
    return [("wake", 2 * vi), ("wake", 2 * vi + 1)]


def command_does(command: int, state: int, vi: int, words: tuple[int, int]) -> list[Any]:
    """What a command comes to in a state, as PROTOCOLS.md's states have it."""
    write, to = [("write", vi, *words)], lambda state: [("state", vi, state)]
    match command, state:
        case ViCommand.CREATE, ViState.CLOSED:
            return write + orders(vi, CREATE) + to(IDLE)
        case ViCommand.CONNECT, ViState.IDLE:
            return write + orders(vi, CONNECT) + to(CONNECTED)
        case ViCommand.DISCONNECT, ViState.CONNECTED:
            return to(ERROR) + orders(vi, ABORT) + wakes(vi)
        case ViCommand.DISCONNECT, (ViState.IDLE | ViState.ERROR):
            return to(ERROR) + wakes(vi)
        case ViCommand.IDLE, ViState.ERROR:
            return to(IDLE)
        case ViCommand.DESTROY, ViState.CONNECTED:
            return to(CLOSED) + orders(vi, ABORT)
        case ViCommand.DESTROY, (ViState.IDLE | ViState.ERROR):
            return to(CLOSED)
        case ViCommand.ATTRIBUTES, _:
            return write
    return []


def break_does(event: int, state: int, vi: int) -> list[Any]:
    told = [("event", event, vi)]
    if state == CONNECTED:
        return told + [("state", vi, ERROR)] + orders(vi, ABORT) + wakes(vi)
    return told if state == IDLE else []


class Log:
    """What the manager does, in order; and the contexts that it changes."""

    def __init__(self, dut: Any, stall: float) -> None:
        self.dut = dut
        self.contexts = ContextModel(dut)
        self.entries: list[Any] = []
        for n in range(BLOCKS):
            Sink(dut, f"control__{n}", stall=stall, seed=seed() + n)
        Sink(dut, "wake", stall=stall, seed=seed() + 10)
        Sink(dut, "event", stall=stall, seed=seed() + 11)
        cocotb.start_soon(self._run())

    async def _run(self) -> None:
        dut = self.dut
        edge = RisingEdge(dut.clk)

        def taken(name: str) -> int | None:
            if getattr(dut, f"{name}__valid").value == 1:
                if getattr(dut, f"{name}__ready").value == 1:
                    return int(getattr(dut, f"{name}__payload").value)
            return None

        while True:
            await edge
            if dut.write__valid.value == 1:
                self.entries.append(("write", int(dut.write__vi.value),
                                     int(dut.write__attributes.value),
                                     int(dut.write__peer.value)))
            if dut.set_state__valid.value == 1:
                vi, state = int(dut.set_state__vi.value), int(dut.set_state__state.value)
                self.entries.append(("state", vi, state))
                self.contexts.states[vi] = state
            for n in range(BLOCKS):
                if (value := taken(f"control__{n}")) is not None:
                    control = unpack(Control, value)
                    self.entries.append(("control", n, control["vi"], control["action"]))
            if (value := taken("wake")) is not None:
                self.entries.append(("wake", value))
            if (value := taken("event")) is not None:
                event = unpack(EngineEvent, value)
                self.entries.append(("event", event["code"], event["number"]))


@cocotb.test()
async def does_one_thing(dut: Any) -> None:
    """Every command and a break in every state, one at a time, in random order."""
    p = parameters()
    rng = random.Random(seed())
    await reset_and_clock(dut)
    log = Log(dut, p["stall"])
    commands = Source(dut, "command", shape=Command)
    breaks = [Source(dut, f"break___{n}", shape=Break) for n in range(p["breakers"])]
    state: dict[int, int] = {}
    seen = set()
    edge = RisingEdge(dut.clk)
    await cycles(dut, 2)
    for _ in range(p["rounds"]):
        vi = rng.choice([0, 3, p["vis"] - 1]) if rng.random() < 0.95 else 4095
        was = state.get(vi, CLOSED)
        if rng.random() < 0.25:
            event = rng.choice([Event.POST_DESC, Event.CONN_LOST, Event.VI_OVERRUN])
            rng.choice(breaks).send({"vi": vi, "event": event})
            expected = break_does(event, was, vi)
            seen.add(("break", was))
        else:
            command = rng.randrange(8)
            words = rng.getrandbits(48), rng.getrandbits(60)
            commands.send({"vi": vi, "command": command, "attributes": words[0],
                           "peer": words[1]})
            expected = command_does(command, was, vi, words)
            if vi >= p["vis"]:
                expected = []
            seen.add((command, was))
            await within(5, commands.drain())
            assert dut.busy.value == command
            # Taken over with the command.
            dut.command__payload.value = rng.getrandbits(len(dut.command__payload))

        async def end() -> None:
            await cycles(dut, 3)
            while dut.idle.value != 1:
                await edge
        await within(400, end())
        assert dut.busy.value == 0
        assert log.entries == expected, (vi, was)
        for entry in expected:
            if entry[0] == "state":
                state[vi] = entry[2]
        log.entries.clear()
    assert len(seen) == 4 * 9


@cocotb.test()
async def breaks_once(dut: Any) -> None:
    """Breaks from all ports, more than wait, while VIs are connected again: an event a connection,
    nothing mixed up, and commands go on."""
    p = parameters()
    rng = random.Random(seed())
    await reset_and_clock(dut)
    log = Log(dut, p["stall"])
    pool = [0, 1, 5, p["vis"] - 1]
    for vi in pool:
        log.contexts.states[vi] = ERROR
    commands = Source(dut, "command", shape=Command, seed=seed())
    breaks = [Source(dut, f"break___{n}", shape=Break, seed=seed() + n)
              for n in range(p["breakers"])]
    await cycles(dut, 2)
    for source in breaks:
        source.send(*({"vi": rng.choice(pool), "event": Event.CONN_LOST} for _ in range(600)))
    done = []
    words = rng.getrandbits(48), rng.getrandbits(60)
    for n in range(80):
        vi = pool[n // 2 % len(pool)]
        command = (ViCommand.CONNECT, ViCommand.IDLE)[n % 2 == 0]
        commands.send({"vi": vi, "command": command, "attributes": words[0], "peer": words[1]})
        await within(1000, commands.drain())
        done.append((vi, command))
        # Held at most for one turn of every port.
        await within(p["breakers"] * 200, _falls(dut))
    assert sum(source.sent for source in breaks) >= 60 + BREAKS
    # Every port had its turns.
    assert min(source.sent for source in breaks) > BREAKS + 20
    for source in breaks:
        await within(60000, source.drain())
    await cycles(dut, BREAKS * p["breakers"] * 60)
    assert dut.idle.value == 1
    state = dict.fromkeys(pool, int(ERROR))
    entries = log.entries
    events = connections = 0
    while entries:
        first = entries[0]
        if first[0] == "write":
            vi = first[1]
            expected = command_does(ViCommand.CONNECT, state[vi], vi, words)
            connections += 1
        elif first[0] == "event":
            vi = first[2]
            expected = break_does(Event.CONN_LOST, state[vi], vi)
            events += state[vi] == CONNECTED
        else:
            vi = first[1]
            expected = command_does(ViCommand.IDLE, state[vi], vi, words)
        assert expected and entries[:len(expected)] == expected
        del entries[:len(expected)]
        for entry in expected:
            if entry[0] == "state":
                state[vi] = int(entry[2])
    assert connections >= 30 and connections - events == sum(
        value == CONNECTED for value in state.values())


async def _falls(dut: Any) -> None:
    edge = RisingEdge(dut.clk)
    while dut.busy.value != 0:
        await edge


@pytest.mark.parametrize("vis, breakers, stall", [(8, 5, 0.0), more(1024, 2, 0.5)])
def test_does_one_thing(vis: int, breakers: int, stall: float) -> None:
    run_bench(Manager(vis=vis, breakers=breakers), __file__, testcase="does_one_thing", vis=vis,
              breakers=breakers, stall=stall, rounds=1200, seed=vis)


@pytest.mark.parametrize("vis, breakers, stall", [(8, 5, 0.0), more(64, 1, 0.4)])
def test_breaks_once(vis: int, breakers: int, stall: float) -> None:
    run_bench(Manager(vis=vis, breakers=breakers), __file__, testcase="breaks_once", vis=vis,
              breakers=breakers, stall=stall, seed=breakers)


def test_parameters() -> None:
    with pytest.raises(ValueError, match="vis must be a power of two, at least 2, not 9"):
        Manager(vis=9, breakers=1)
    with pytest.raises(ValueError, match="breakers must be at least 1, not 0"):
        Manager(vis=8, breakers=0)
    with pytest.raises(TypeError, match="breakers must be an integer, not None"):
        Manager(vis=8, breakers=None)  # type: ignore[arg-type]
