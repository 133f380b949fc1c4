"""Parts of the sender: what their constructors refuse, and the gatherer and the merger alone."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.rtl.parts.stream_merge import StreamMerge
from nicbed.rtl.vi.records import ViRecords
from nicbed.rtl.vi.send.acknowledgements import Acknowledgements
from nicbed.rtl.vi.send.fetch import SendFetch
from nicbed.rtl.vi.send.packet_build import PacketBuild
from nicbed.rtl.vi.send.packet_gather import PacketGather
from nicbed.rtl.vi.send.read_responder import ReadResponder
from nicbed.rtl.vi.send.sender import Sender
from nicbed.rtl.vi.send.slots import SendSlots
from nicbed.rtl.vi.send.transmit import SendTransmit
from nicbed.rtl.vi.send.turn import SendTurn
from nicbed.rtl.vi.send.unacknowledged import Unacknowledged

from tests.labs.bench import Sink, Source, parameters, reset_and_clock, run_bench, seed, within
from tests.models.nic import BurstMemory


@pytest.mark.parametrize("make, error", [
    (lambda: Sender(description=None), "description must be a Description, not None"),
    (lambda: SendSlots(slots=True, words=8), "slots must be an integer"),
    (lambda: SendTransmit(slots="4"), "slots must be an integer"),
    (lambda: StreamMerge(shape=8, inputs=1.0), "inputs must be an integer"),
    (lambda: ReadResponder(vis=None), "vis must be an integer"),
])
def test_wrong_kind(make: Any, error: str) -> None:
    with pytest.raises(TypeError, match=error):
        make()


@pytest.mark.parametrize("make, error", [
    (lambda: SendSlots(slots=6, words=8), "slots must be a power of two"),
    (lambda: SendSlots(slots=8, words=0), "words must be at least 1"),
    (lambda: Unacknowledged(vis=8, window=64), "window must be at most 32"),
    (lambda: Unacknowledged(vis=9, window=4), "vis must be a power of two"),
    (lambda: SendFetch(vis=8, window=4, mtu=4), "mtu must be at least 8"),
    (lambda: SendTurn(window=3, mtu=64), "window must be a power of two"),
    (lambda: PacketBuild(mtu=64, slots=0), "slots must be a power of two"),
    (lambda: Acknowledgements(vis=8, window=0, slots=8), "window must be a power of two"),
    (lambda: ViRecords(shape=8, vis=8, readers=0), "readers must be at least 1"),
])
def test_bad_value(make: Any, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        make()


@cocotb.test()
async def gathers(dut: Any) -> None:
    """Pieces of any length and place, one behind the other."""
    values = parameters()
    await reset_and_clock(dut, max_beats=values["beats"])
    image = bytearray(random.Random(seed()).randbytes(1 << 14))
    BurstMemory(dut, "bus", image, stall=values["stall"], seed=seed(), max_beats=values["beats"])
    rng = random.Random(seed())
    edge = RisingEdge(dut.clk)
    words: dict[int, int] = {}

    async def watch() -> None:
        while True:
            await edge
            if dut.write.value == 1:
                assert int(dut.index.value) == len(words)
                words[len(words)] = int(dut.data.value)

    cocotb.start_soon(watch())
    for _ in range(60):
        dut.clear.value = 1
        await edge
        dut.clear.value = 0
        words.clear()
        want = b""
        while len(want) < 1000 and rng.random() < 0.8:
            size = rng.choice((1, 2, 7, 8, 9, rng.randrange(1, 300)))
            place = rng.randrange(len(image) - size)
            want += bytes(image[place:place + size])
            dut.place.value, dut.bytes.value, dut.start.value = place, size, 1
            await edge
            dut.start.value = 0
            for _ in range(4000):
                await edge
                if dut.done.value == 1:
                    break
            assert dut.done.value == 1, "never done"
        dut.flush.value = 1
        await edge
        dut.flush.value = 0
        await edge
        padded = want + bytes(-len(want) % 8)
        assert [words[n] for n in range(len(words))] == [
            int.from_bytes(padded[at:at + 8], "little") for at in range(0, len(padded), 8)]


@pytest.mark.parametrize("beats, stall", [(32, 0.0), (1, 0.2), (5, 0.4)])
def test_gathers(beats: int, stall: float) -> None:
    run_bench(PacketGather(), __file__, testcase="gathers", beats=beats, stall=stall, seed=beats)


@cocotb.test()
async def merges(dut: Any) -> None:
    """Nothing is lost, nothing out of order; the first input goes first."""
    await reset_and_clock(dut)
    sources = [Source(dut, f"i__{n}", stall=0.6, seed=n) for n in range(3)]
    sink = Sink(dut, "o", stall=0.3, seed=9)
    for n, source in enumerate(sources):
        source.send(*(n * 64 + k for k in range(50)))
    got = await within(2000, sink.receive(150))
    for n in range(3):
        assert [value for value in got if value // 64 == n] == [n * 64 + k for k in range(50)]


def test_merges() -> None:
    run_bench(StreamMerge(shape=8, inputs=3), __file__, testcase="merges")
