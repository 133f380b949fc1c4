"""Node and target: what they are made of, and a packet's way from host to host."""

from typing import Any

import cocotb
import pytest
from cocotb.triggers import FallingEdge
from nicbed.layouts.description import Description
from nicbed.layouts.operations import (
    ANSWER,
    ANSWER_WORDS,
    BLOCK,
    ENTRY_WORDS,
    NIC_BASE,
    Answer,
    Flag,
    Op,
    Status,
)
from nicbed.layouts.packet import HEADER
from nicbed.layouts.registers import SEND_WINDOW, address
from nicbed.layouts.rings import COMPLETION
from nicbed.layouts.timing import timing_values
from nicbed.layouts.trace import Block
from nicbed.rtl.cpu.mailbox import Mailbox
from nicbed.rtl.machine import NODE_MODULE
from nicbed.rtl.node.node import Node
from nicbed.rtl.parts.trace_sink import TraceSink
from nicbed.rtl.target import TARGET_MODULE, Target

from tests.labs.bench import reset_and_clock, run_bench
from tests.labs.port_system import entry

ALL = (1 << 64) - 1
RING = 0x4000


def description(**knobs: Any) -> Description:
    return Description.model_validate({"memory": {"bytes": 1 << 16}, **knobs})


async def run(dut: Any, programs: list[Any], *, settings: Description, skip: bool = False,
              limit: int = 20000) -> list[list[Answer]]:
    """Runs a program a node, each serving by level while the clock is low; all their answers."""
    falling = FallingEdge(dut.clk)
    dut.rst.value = 1
    dut.cfg_we.value = 1
    for index, value in enumerate(timing_values(settings)):
        dut.cfg_index.value, dut.cfg_data.value = index, value
        await falling
    dut.cfg_we.value = 0
    dut.skip_enable.value, dut.limit.value = int(skip), limit
    await falling
    dut.rst.value = 0
    logs: list[list[Answer]] = [[] for _ in programs]
    counts = [0] * len(programs)
    go = int(dut.go.value)
    while True:
        await cocotb.triggers.Timer(1, "ns")
        assert not int(dut.expired.value), f"expired at {int(dut.cycle.value)}: {logs}"
        waiting = int(dut.waiting.value)
        assert int(dut.stall.value) == int(waiting != 0)
        if int(dut.stopped.value) == (1 << len(programs)) - 1:
            return logs
        for port, program in enumerate(programs):
            if not waiting >> port & 1:
                continue
            raw = int(getattr(dut, f"port{port}_answers").value).to_bytes(BLOCK * ANSWER.size,
                                                                         "little")
            answers = [Answer(*item) for item in ANSWER.iter_unpack(raw)][:counts[port]]
            logs[port] += answers
            try:
                block = program.send(answers) if counts[port] else next(program)
            except StopIteration:
                block = [entry(Op.STOP)]
            counts[port] = len(block)
            getattr(dut, f"port{port}_entries").value = int.from_bytes(b"".join(block), "little")
            getattr(dut, f"port{port}_count").value = len(block)
            go ^= 1 << port
        dut.go.value = go
        await falling


def sender(target: Target, words: tuple[int, ...]) -> Any:
    """Sends a packet by the PIO window once the receiver is ready."""
    header = HEADER.pack(route=target.topology.route(0, 1), length=8 * len(words), source=0,
                         destination=1)
    answers = yield [entry(Op.DELAY, work=150 << 8),
                     entry(Op.PIO_WRITE, address=NIC_BASE + SEND_WINDOW, count=1 + len(words),
                           flags=Flag.POSTED, data=(header, *words), trace=77),
                     entry(Op.PIO_READ, address=address("send_space"))]
    assert answers[1].cycle == 150 + 1 + len(words)
    answers = yield [entry(Op.DELAY, work=500 << 8),
                     entry(Op.PIO_READ, address=address("packets_sent"))]
    assert answers[1].data == 1


def receiver(words: tuple[int, ...], ways: list[str]) -> Any:
    """Waits for the packet in the ring, by polling or by its interrupt, and reads it."""
    # Memory outlives a reset: the former run's completion word goes.
    answers = yield [entry(Op.POLL, address=RING, data=(0, 0))]
    yield [entry(Op.CAS, address=RING, data=(answers[0].data, 0))]
    yield [entry(Op.PIO_WRITE, address=address(name), count=1, data=(value,))
           for name, value in (("receive_base", RING), ("irq_enable", 1), ("control", 2))]
    poll = entry(Op.POLL, address=RING, data=(1, 1), work=256, length=2000)
    wait = entry(Op.WAIT_IRQ, length=2000)
    answers = yield [poll if ways[0] == "poll" else wait, poll]
    assert not answers[0].status & Status.TIMEOUT, "nothing came"
    assert COMPLETION.unpack(answers[1].data) == {
        "phase": 1, "reserved": 0, "length": 8 * len(words), "trace": 77, "index": 0}
    answers = yield [entry(Op.POLL, address=RING + 8 * (2 + at), data=(0, 0))
                     for at in range(len(words))]
    assert [answer.data for answer in answers] == list(words)
    answers = yield [entry(Op.PIO_READ, address=address(name))
                     for name in ("packets_received", "crc_errors", "misrouted", "node", "id")]
    assert [answer.data for answer in answers] == [1, 0, 0, 1, 0x6263696E]


@cocotb.test()
async def carries_a_packet(dut: Any) -> None:
    await reset_and_clock(dut)
    words = (0x1111_2222_3333_4444, 0x5555, 0x6666_0000_0000_7777)
    target = Target(description=description(), memory="array")
    arrivals = {}
    for latency in (4, 24):
        for way in ("poll", "irq"):
            for skip in (False, True):
                logs = await run(dut, [sender(target, words), receiver(words, [way])],
                                 skip=skip,
                                 settings=description(link={"latency": latency}))
                # Skipping changes nothing; nor does a former run, but for what is in memory.
                cycles = [[answer.cycle for answer in log] for log in logs]
                assert arrivals.setdefault((latency, way), cycles) == cycles
    # Two links on the way.
    for way, slack in (("irq", 0), ("poll", 2)):
        moved = arrivals[24, way][1][6] - arrivals[4, way][1][6]
        assert abs(moved - 40) <= slack


def test_carries_a_packet() -> None:
    run_bench(Target(description=description(), memory="array", inline=True), __file__,
              testcase="carries_a_packet")


def test_modules() -> None:
    target = Target(description=description(), memory="dpi")
    assert [name for name, _ in target.modules] == [NODE_MODULE, TARGET_MODULE]
    assert isinstance(target.modules[0][1], Node) and target.modules[1][1] is target
    inline = Target(description=description(), memory="array", inline=True)
    assert [name for name, _ in inline.modules] == [TARGET_MODULE]


def test_ports_of_every_node() -> None:
    target = Target(description=description(fabric={"nodes": 5}), memory="dpi")
    assert (target.ports, len(target.go), len(target.waiting)) == (5, 5, 5)
    smp = Target(description=description(fabric={"nodes": 3}, node={"cpus": 4}), memory="dpi")
    assert smp.ports == 12 and len(smp.go) == 12
    assert len(target.port4_entries) == BLOCK * ENTRY_WORDS * 32
    assert len(target.port4_answers) == BLOCK * ANSWER_WORDS * 32
    assert target.memory == "dpi" and target.description.fabric.nodes == 5


@pytest.mark.parametrize("make, error, text", [
    (lambda: Target(description=None, memory="dpi"), TypeError, "description must be a Desc"),
    (lambda: Target(description=Description(), memory="ram"), ValueError,
     "memory must be 'array' or 'dpi', not 'ram'"),
    (lambda: Node(description=3), TypeError, "description must be a Description, not 3"),
    (lambda: Node(description=description(node={"cpus": 3}), cpus=2), ValueError,
     "cpus must be at least node.cpus = 3, not 2"),
    (lambda: TraceSink(block="1"), TypeError, "block must be an integer, not '1'"),
])
def test_refuses(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()
    assert TraceSink(block=Block.BUS).block == Block.BUS


@cocotb.test()
async def keeps_answers(dut: Any) -> None:
    await reset_and_clock(dut)
    falling = FallingEdge(dut.clk)
    dut.entries.value = int.from_bytes(
        b"".join(entry(Op.DELAY, address=slot, data=(slot << 9,)) for slot in range(BLOCK)),
        "little")
    for slot in range(BLOCK):
        dut.index.value = slot
        await falling
        assert int(dut.entry.value) == int.from_bytes(
            entry(Op.DELAY, address=slot, data=(slot << 9,)), "little")
    expected = [(0, 0, 0)] * BLOCK
    for slot, discard in ((0, 0), (3, 1), (1, 0), (5, 1), (0, 1)):
        answer = (slot + 7, 1 << 24 | slot, ALL - slot)
        dut.answer.value = int.from_bytes(ANSWER.pack(*answer), "little")
        dut.slot.value, dut.store.value, dut.discard.value = slot, 1, discard
        await falling
        dut.store.value = 0
        await falling
        expected[slot] = answer
        if discard:
            expected[slot + 1:] = [(0, Status.DISCARDED, 0)] * (BLOCK - slot - 1)
        raw = int(dut.answers.value).to_bytes(BLOCK * ANSWER.size, "little")
        assert list(ANSWER.iter_unpack(raw)) == expected


def test_mailbox() -> None:
    run_bench(Mailbox(), __file__, testcase="keeps_answers")
