"""The host port on a coherent bus: what stores cost, and which of them the watch is told of."""

from typing import Any

import cocotb
from nicbed.layouts.operations import Flag, Op

from tests.labs.bench import run_bench
from tests.labs.port_system import Engine, PortSystem, entry
from tests.rtl.cpu.test_host_port import listed, start, work


@cocotb.test()
async def stores_are_transactions(dut: Any) -> None:
    driver = await start(dut)
    engine = Engine(dut)
    engine.start(dut)
    told: list[tuple[int, int]] = []

    def each(cycle: int) -> None:
        if int(dut.taken__valid.value):
            told.append((cycle, int(dut.taken__address.value)))
        if cycle == 100:
            engine.fetch(0x40, 4)
        if cycle == 200:
            engine.write(0x48, [1])

    driver.on_cycle.append(each)
    store = Flag.STORE
    # Operation, its cycles, the line it takes.
    cases: list[tuple[bytes, int, list[int]]] = [
        (entry(Op.TOUCH, address=0x48, length=8, flags=store), 14, [0x40]),
        (entry(Op.TOUCH, address=0x40, length=32, flags=store), 1, []),
        (entry(Op.TOUCH, address=0x40, length=64, flags=store), 15, [0x60]),
        (entry(Op.TOUCH, address=0x80, length=8), 14, []),
        (entry(Op.TOUCH, address=0x80, length=8, flags=store), 2, [0x80]),
        (entry(Op.CAS, address=0x208, data=(0, 9)), 13, [0x200]),
        (entry(Op.CAS, address=0x208, data=(0, 9)), 11, []),
        (entry(Op.DELAY, work=work(80)), 80, []),  # to cycle 150: the line at 0x40 is read
        (entry(Op.TOUCH, address=0x40, length=8, flags=store), 2, [0x40]),
        (entry(Op.TOUCH, address=0x40, length=8, flags=store), 1, []),
        (entry(Op.DELAY, work=work(97)), 97, []),  # to cycle 250: and now written to
        (entry(Op.TOUCH, address=0x40, length=8, flags=store), 14, [0x40]),
    ]
    answers = await driver.run(listed([[case] for case, _, _ in cases]))
    ends = [answer.cycle for answer in answers]
    assert [end - begin for begin, end in zip([0, *ends], ends, strict=False)] == \
        [span for _, span, _ in cases]
    assert ends[7] == 150 and ends[10] == 250 and len(engine.done) == 2
    # Each in the last cycle of its operation, or of its line.
    assert told == [(end - 1, line) for end, (_, _, lines) in zip(ends, cases, strict=True)
                    for line in lines]
    engine.stop()


def test_stores() -> None:
    run_bench(PortSystem(nic__attachment="memory_bus"), __file__,
              testcase="stores_are_transactions")
