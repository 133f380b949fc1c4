"""The receive DMA engine: slots, bursts, completion words."""

import random
from typing import Any

import cocotb
import pytest
from nicbed.layouts.rings import COMPLETION
from nicbed.layouts.trace import Kind
from nicbed.rtl.nic.rings.receive_dma import ReceiveDma
from nicbed.rtl.parts.receive_word import ReceiveWord

from tests.labs.bench import Source, cycles, parameters, reset_and_clock, run_bench, seed
from tests.labs.rows import more
from tests.models.nic import BurstMemory, Events, packet

BASE = 0x4000


def words_of(data: list[int], trace: int) -> list[dict[str, int]]:
    """A packet as the receive FIFO offers it."""
    return [{"data": word, "following": len(data) - 1 if n == 0 else 0x1234, "first": int(n == 0),
             "last": int(n == len(data) - 1), "trace": trace} for n, word in enumerate(data)]


@cocotb.test()
async def fills_slots(dut: Any) -> None:
    values = parameters()
    ring, slot_bytes, burst = values["ring"], values["slot"], values["burst"]
    await reset_and_clock(dut, registers__base=BASE, max_beats=burst // 8)
    rng = random.Random(seed())
    image = bytearray(rng.randbytes(BASE + ring * slot_bytes + 64))
    before = bytes(image)
    memory = BurstMemory(dut, "bus", image, stall=values["stall"], seed=seed(),
                         setup=rng.randrange(5), max_beats=burst // 8)
    source = Source(dut, "i", shape=ReceiveWord, stall=values["stall"], seed=seed() + 1)
    events = Events(dut, "event")
    count = 3 * ring + 1
    longest = values["mtu"] + 16
    sizes = [0, 1, longest, *(rng.randrange(longest + 1) for _ in range(count - 3))]
    packets = [packet(rng.randbytes(size)) for size in sizes]
    for trace, words in enumerate(packets, 1):
        source.send(*words_of(words, trace))
    await cycles(dut, 20)
    assert memory.requests == [] and int(dut.registers__filled.value) == 0, "off"
    dut.registers__enable.value = 1
    landed = 0
    for filled in range(1, count + 1):
        for _ in range(5000 + 2 * slot_bytes):
            landed += int(dut.registers__landed.value)
            if int(dut.registers__filled.value) == filled:
                break
            await cycles(dut, 1)
        index = (filled - 1) % ring
        at = BASE + index * slot_bytes
        words = packets[filled - 1]
        assert COMPLETION.unpack(int.from_bytes(image[at:at + 8], "little")) == {
            "phase": 1 - (filled - 1) // ring % 2, "reserved": 0, "length": sizes[filled - 1],
            "trace": filled, "index": index}
        assert [int.from_bytes(image[at + 8 * n:at + 8 * n + 8], "little")
                for n in range(1, len(words) + 1)] == words
        mine = memory.writes[-1 - len(words):]
        assert [place for place, _ in mine] == [*range(at + 8, at + 8 + 8 * len(words), 8), at]
        if filled % ring == 0:
            # The ring is full until software takes a slot.
            requests = len(memory.requests)
            dut.registers__taken.value = filled - ring
            await cycles(dut, 30)
            assert int(dut.registers__filled.value) == filled and len(memory.requests) == requests
            assert dut.idle.value == 1
            dut.registers__taken.value = filled
    assert landed == count
    for index in range(ring):
        at = BASE + index * slot_bytes
        top = max(16 + 8 * (len(packets[n]) - 1) for n in range(index, count, ring))
        assert image[at + top:at + slot_bytes] == before[at + top:at + slot_bytes], index
    assert image[:BASE] == before[:BASE]
    assert [(kind, number) for _, _, kind, number, _ in events.seen] == [
        (kind, number) for number in range(1, count + 1) for kind in (Kind.BEGIN, Kind.END)]
    assert [request["trace"] for request in memory.requests if request["address"] % slot_bytes
            == (BASE + 8) % slot_bytes] == [*range(1, count + 1)]
    want = [-(-(len(words) + 1) * 8 // burst) for words in packets]
    assert len(memory.requests) == sum(want), "as few bursts as max_burst allows"


@pytest.mark.parametrize("ring, mtu, burst, stall", [
    more(4, 64, 256, 0.0), (4, 64, 8, 0.2),
    more(8, 96, 40, 0.4),
    more(4, 1024, 256, 0.1), (2, 64, 64, 0.5),
    more(2, 1500, 256, 0.1), (2, 9000, 4096, 0.0)])
def test_fills_slots(ring: int, mtu: int, burst: int, stall: float) -> None:
    slot = -(-(32 + mtu) // 64) * 64
    run_bench(ReceiveDma(ring=ring, slot_bytes=slot), __file__, ring=ring, slot=slot, mtu=mtu,
              burst=burst, stall=stall)


def test_refuses_odd_rings() -> None:
    with pytest.raises(ValueError, match="ring must be a power of two, at least 2, not 6"):
        ReceiveDma(ring=6, slot_bytes=128)
    with pytest.raises(ValueError, match="slot_bytes must be a multiple of 8, not 100"):
        ReceiveDma(ring=4, slot_bytes=100)
    made = ReceiveDma(ring=4, slot_bytes=128)
    assert (made.ring, made.slot_bytes) == (4, 128)
