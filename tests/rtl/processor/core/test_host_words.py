"""The core's own accesses to host memory: what they read and write, one burst each, given up."""

import random
from typing import Any

import cocotb
import pytest
from nicbed.rtl.processor.core.host_words import HostWords

from tests.labs.bench import parameters, reset_and_clock, run_bench, seed, within
from tests.models.nic import BurstMemory

HOST = 1 << 12


class Core:
    """A core's side: accesses, one after another."""

    def __init__(self, dut: Any) -> None:
        from cocotb.triggers import RisingEdge
        self.cycle = 0
        self._edge = RisingEdge(dut.clk)
        self._port = {part: getattr(dut, f"core__{part}") for part in (
            "valid", "write", "address", "data", "strobe", "ack", "read")}
        self._idle = dut.idle

    async def step(self) -> None:
        await self._edge
        self.cycle += 1

    async def access(self, address: int, data: int = 0, strobe: int = 0, *,
                     give_up: int | None = None) -> int | None:
        """A store if a byte is strobed, else a load: the word read; None if it was given up after
        ``give_up`` cycles."""
        port = self._port
        port["write"].value, port["address"].value = int(strobe != 0), address
        port["data"].value, port["strobe"].value = data, strobe
        port["valid"].value = 1
        begin = self.cycle
        while self.cycle - begin != give_up:
            await self.step()
            if port["ack"].value == 1:
                port["valid"].value = 0
                return int(port["read"].value)
        port["valid"].value = 0
        await self.step()
        return None

    async def rest(self) -> None:
        """Until nothing is under way."""
        await self.step()
        while self._idle.value != 1:
            await self.step()


@cocotb.test()
async def accesses(dut: Any) -> None:
    """Loads and stores at random; some are given up at any time, and may happen, but once."""
    values = parameters()
    rng = random.Random(seed())
    await reset_and_clock(dut)
    image = bytearray(rng.randbytes(HOST))
    bus = BurstMemory(dut, "bus", bytearray(image), stall=values["stall"], seed=seed(),
                      setup=rng.randrange(4), max_beats=1)
    core = Core(dut)
    given_up = 0
    for _ in range(values["count"]):
        at = 4 * rng.randrange(16)
        strobe = rng.choice([0, 0, 1, 2, 4, 8, 3, 12, 15])
        data = rng.getrandbits(32)
        give_up = rng.choice([None, None, None, rng.randrange(1, 12)])
        before = len(bus.requests)
        word = await within(2000, core.access(at, data, strobe, give_up=give_up))
        old = image[at:at + 4]
        new = bytes(data >> 8 * byte & 255 if strobe >> byte & 1 else old[byte]
                    for byte in range(4))
        if word is None:
            given_up += 1
            # Sometimes the next access comes at once.
            if rng.random() < 0.5:
                following = await within(2000, core.access(HOST - 4))
                assert following == int.from_bytes(image[HOST - 4:], "little")
                assert len(bus.requests) == before + 2
            else:
                await within(2000, core.rest())
                assert len(bus.requests) == before + 1
            assert bus.requests[before]["address"] == at & ~7
            image[at:at + 4] = new
        else:
            assert len(bus.requests) == before + 1
            if strobe:
                image[at:at + 4] = new
            else:
                assert word == int.from_bytes(old, "little")
        assert bus.image == image
    assert given_up > 10


@cocotb.test()
async def is_fast(dut: Any) -> None:
    """The request is offered in the cycle after the access begins; the access ends with its
    burst."""
    await reset_and_clock(dut)
    BurstMemory(dut, "bus", bytearray(HOST), max_beats=1)
    core = Core(dut)
    for strobe in (0, 15):
        for _ in range(3):
            await core.rest()
            begin = core.cycle
            await within(100, core.access(8, 1, strobe))
            # A burst of one beat takes the model 3 cycles.
            assert core.cycle - begin == 1 + 3


@pytest.mark.parametrize("stall, number", [(0.0, 1), (0.5, 2)])
def test_accesses(stall: float, number: int) -> None:
    run_bench(HostWords(), __file__, testcase="accesses", stall=stall, count=250, seed=number)


def test_is_fast() -> None:
    run_bench(HostWords(), __file__, testcase="is_fast")
