"""The share of NIC memory's port: the window first, the others in turn."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.rtl.processor.memory.memory_share import MemoryShare

from tests.labs.bench import parameters, reset_and_clock, run_bench, seed
from tests.models.processor_engines import GARBAGE, WideMemory

CLIENTS, NIC = 6, 1 << 12


@cocotb.test()
async def shares(dut: Any) -> None:
    """Everybody gets what is theirs, within the promised number of accesses."""
    rng = random.Random(seed())
    values = parameters()
    await reset_and_clock(dut)
    image = bytearray(rng.randbytes(NIC))
    memory = WideMemory(dut, "memory", bytearray(image), stall=values["stall"], seed=seed() + 1)
    edge = RisingEdge(dut.clk)
    ports = [{part: getattr(dut, f"client__{n}__{part}") for part in (
        "valid", "write", "address", "data", "strobe", "ready", "read")} for n in range(CLIENTS)]
    busy = [values["window"], *[values["busy"]] * (CLIENTS - 1)]
    asks: list[dict[str, int] | None] = [None] * CLIENTS
    reads: list[int | None] = [None] * CLIENTS
    waited, served = [0] * CLIENTS, [0] * CLIENTS
    for _ in range(4000):
        for number, port in enumerate(ports):
            if asks[number] is None and rng.random() < busy[number]:
                asks[number] = {"write": rng.getrandbits(1), "address": rng.randrange(NIC // 8),
                                "data": rng.getrandbits(64), "strobe": rng.getrandbits(8)}
            ask = asks[number]
            port["valid"].value = int(ask is not None)
            for part, value in (ask or {"address": 0x1FFFF}).items():
                port[part].value = value
        await edge
        took = [n for n in range(CLIENTS)
                if asks[n] is not None and ports[n]["ready"].value == 1]
        assert len(took) == int(dut.memory__ready.value == 1 and any(asks)), "one, if any asks"
        for number, want in enumerate(reads):
            if want is not None:
                assert ports[number]["read"].value == want
        reads = [None] * CLIENTS
        for number in took:
            ask = asks[number]
            assert ask is not None
            at = 8 * ask["address"]
            if ask["write"]:
                for byte in range(8):
                    if ask["strobe"] >> byte & 1:
                        image[at + byte] = ask["data"] >> 8 * byte & 0xFF
            else:
                reads[number] = int.from_bytes(image[at:at + 8], "little")
            if asks[0] is not None:
                assert number == 0, "the window first"
            else:
                for other in range(1, CLIENTS):
                    waited[other] += asks[other] is not None
            assert number == 0 or waited[number] <= CLIENTS - 1, "at most CLIENTS - 2 others"
            waited[number] = 0
            asks[number] = None
            served[number] += 1
    for port in ports:
        port["valid"].value = 0
    await edge
    await edge
    assert memory.image == image and dut.memory__read.value == GARBAGE
    if values["busy"] == 1:
        # All others alike, to one access.
        assert max(served[1:]) - min(served[1:]) <= 1 and served[1] > 200


@pytest.mark.parametrize("window, busy, stall", [
    (0.0, 1, 0.0), (0.3, 1, 0.0), (0.5, 0.1, 0.3), (0.1, 0.5, 0.5)])
def test_shares(window: float, busy: float, stall: float) -> None:
    run_bench(MemoryShare(clients=CLIENTS), __file__, testcase="shares", window=window, busy=busy,
              stall=stall, seed=int(100 * window) + 3)


def test_parameters() -> None:
    with pytest.raises(ValueError, match="clients must be at least 2, not 1"):
        MemoryShare(clients=1)
    with pytest.raises(TypeError, match="clients must be an integer"):
        MemoryShare(clients="2")  # type: ignore[arg-type]
