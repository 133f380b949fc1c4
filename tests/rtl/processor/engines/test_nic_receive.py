"""The engine RECEIVE: packets into buffers, what does not fit, refusals, speed."""

import random
from typing import Any

import cocotb
import pytest
from nicbed.layouts.rings import COMPLETION
from nicbed.layouts.trace import Kind
from nicbed.rtl.parts.receive_word import ReceiveWord
from nicbed.rtl.processor.engines.nic_receive import NicReceive

from tests.labs.bench import Source, cycles, parameters, reset_and_clock, run_bench, seed
from tests.models.nic import Events, packet
from tests.models.processor_engines import Firmware, WideMemory

NIC = 1 << 14


def words_of(words: list[int], trace: int) -> list[dict[str, int]]:
    last = len(words) - 1
    return [{"data": word, "following": 0 if n else last, "first": int(n == 0),
             "last": int(n == last), "trace": trace} for n, word in enumerate(words)]


def land(image: bytearray, at: int, length: int, words: list[int], trace: int) -> bool:
    """A buffer of ``length`` bytes at ``at`` with the packet in it; whether all of it fitted."""
    content = b"".join(word.to_bytes(8, "little") for word in words)
    fitting = content[:length - 8]
    completion = COMPLETION.pack(length=words[0] >> 16 & 0xFFFF, trace=trace)
    image[at:at + 8 + len(fitting)] = completion.to_bytes(8, "little") + fitting
    return len(fitting) == len(content)


@cocotb.test()
async def receives(dut: Any) -> None:
    values = parameters()
    rng = random.Random(seed())
    await reset_and_clock(dut)
    image = bytearray(rng.randbytes(NIC))
    memory = WideMemory(dut, "memory", bytearray(image), stall=values["stall"], seed=seed() + 1)
    source = Source(dut, "i", shape=ReceiveWord, stall=values["i_stall"], seed=seed() + 2)
    events = Events(dut, "events__0", "events__1")
    firmware = Firmware(dut, stall=values["stall"], seed=seed() + 3)
    want_events, accesses = [], 0
    for _ in range(values["packets"]):
        words = packet(rng.randbytes(rng.choice([0, 1, rng.randrange(64), rng.randrange(1000)])))
        trace = rng.randrange(1 << 24)
        length = max(24, rng.choice([24, 8 * len(words), 8 * len(words) + 8, 1040]))
        at = rng.randrange(0, NIC - length + 1, 8)
        firmware.post({"local": at, "length": length})
        source.send(*words_of(words, trace))
        fits = land(image, at, length, words, trace)
        accesses += min(len(words) + 1, length // 8)
        want_events += [("events__0", Kind.BEGIN, trace, 0),
                        *([] if fits else [("events__1", Kind.DROP, trace, 0)]),
                        ("events__1", Kind.END, trace, 0)]
    await firmware.finish(values["packets"], 60_000)
    assert memory.image == image
    assert [event[1:] for event in events.seen] == want_events
    assert {kind for _, kind, _, _ in want_events} == {Kind.BEGIN, Kind.END, Kind.DROP}
    assert len(memory.accesses) == accesses and firmware.errors == []


@cocotb.test()
async def waits_and_refuses(dut: Any) -> None:
    """Packets wait for a buffer; bad ones are refused, packet or not; what belongs to no packet is
    thrown away."""
    await reset_and_clock(dut)
    image = bytearray(NIC)
    memory = WideMemory(dut, "memory", bytearray(image))
    source = Source(dut, "i", shape=ReceiveWord)
    firmware = Firmware(dut)
    words = packet(b"0123456789")
    source.send(*words_of(words, 5)[1:], *words_of(words, 6))
    await cycles(dut, 20)
    assert memory.accesses == [] and source.sent == 2, "the first two belong to none"
    assert dut.port__idle.value == 1
    firmware.post({"local": NIC - 16, "length": 24}, {"local": 12, "length": 24},
                  {"local": 16, "length": 28}, {"local": 24, "length": 16},
                  {"local": 0xF_FFF8, "length": 65528}, {"local": NIC - 32, "length": 32})
    await firmware.finish(6, 100)
    assert [at for _, at in firmware.errors] == [NIC - 16, 12, 16, 24, 0xF_FFF8]
    assert land(image, NIC - 32, 32, words, 6) and memory.image == image
    # The word with the completion comes last.
    assert [at for _, _, at in memory.accesses] == [NIC - 24, NIC - 16, NIC - 8, NIC - 32]
    firmware.post({"local": 4, "length": 24})
    await firmware.finish(7, 100)
    assert firmware.errors[-1][1] == 4


@cocotb.test()
async def is_fast(dut: Any) -> None:
    """2 cycles a packet beside those of its words."""
    await reset_and_clock(dut)
    memory = WideMemory(dut, "memory", bytearray(NIC))
    source = Source(dut, "i", shape=ReceiveWord)
    firmware = Firmware(dut)
    words = packet(bytes(400))
    for _ in range(4):
        source.send(*words_of(words, 0))
        firmware.post({"local": 0, "length": 1024})
    await firmware.finish(4, 400)
    # From the first word of one packet to that of the next.
    starts = [cycle for cycle, _, at in memory.accesses if at == 8]
    assert [b - a for a, b in zip(starts, starts[1:], strict=False)] == [len(words) + 2] * 3
    source.send(*words_of(words, 0))
    await cycles(dut, 5)
    firmware.source.cycles.clear()
    memory.accesses.clear()
    firmware.post({"local": 0, "length": 1024})
    await firmware.finish(5, 100)
    assert memory.accesses[0][0] - firmware.source.cycles[0] == 2


@pytest.mark.parametrize("stall, i_stall", [(0.0, 0.0), (0.5, 0.0), (0.0, 0.75), (0.4, 0.3)])
def test_receives(stall: float, i_stall: float) -> None:
    run_bench(NicReceive(memory_bytes=NIC), __file__, testcase="receives", stall=stall,
              i_stall=i_stall, packets=150, seed=int(stall * 10 + i_stall * 100))


@pytest.mark.parametrize("testcase", ["waits_and_refuses", "is_fast"])
def test_rules(testcase: str) -> None:
    run_bench(NicReceive(memory_bytes=NIC), __file__, testcase=testcase)
