"""The register file against its declaration."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.layouts.registers import REGISTERS, Access, Register
from nicbed.rtl.parts.csr_file import CsrFile

from tests.labs.bench import cycles, parameters, reset_and_clock, run_bench, seed
from tests.labs.rows import more

SMALL = (
    Register("free", 0x00, Access.RW, 7, "", 0x55),
    Register("fixed", 0x08, Access.RO, 32, "", 0xCAFE),
    Register("seen", 0x10, Access.RO, 64, ""),
    Register("flags", 0x18, Access.W1C, 5, ""),
    Register("hits", 0x20, Access.RO, 6, ""),
    Register("kept", 0x28, Access.RW, 16, ""),
    Register("kick", 0x30, Access.WO, 8, ""),
)
OFFSETS = {register.name: register.offset for register in SMALL}


@cocotb.test()
async def follows_the_model(dut: Any) -> None:
    """Random accesses and events in every cycle; every read compared."""
    await reset_and_clock(dut)
    rng = random.Random(seed())
    edge = RisingEdge(dut.clk)
    free, flags, hits = 0x55, 0, 0
    expected = 0
    for _ in range(3000):
        select, write = rng.random() < 0.7, rng.random() < 0.5
        offset = rng.choice((*OFFSETS.values(), 0x38, 0x100))
        data, seen, kept = rng.getrandbits(64), rng.getrandbits(64), rng.getrandbits(16)
        new_flags = rng.getrandbits(5) & rng.getrandbits(5) & rng.getrandbits(5)
        new_hits = rng.getrandbits(3) & rng.getrandbits(3)
        dut.access__select.value, dut.access__write.value = select, write
        dut.access__offset.value = offset
        dut.access__data.value, dut.values__seen.value, dut.values__kept.value = data, seen, kept
        dut.sets__flags.value, dut.counts__hits.value = new_flags, new_hits
        await edge
        assert int(dut.access__read.value) == expected
        for name, value in (("free", free), ("flags", flags), ("hits", hits)):
            assert int(getattr(dut, f"values__{name}").value) == value, name
        for name in ("kept", "kick", "flags"):
            told = int(getattr(dut, f"writes__{name}").value)
            assert told == int(select and write and offset == OFFSETS[name]), name
        values = {0x00: free, 0x08: 0xCAFE, 0x10: seen, 0x18: flags, 0x20: hits, 0x28: kept}
        expected = values.get(offset, 0) if select and not write else 0
        if select and write and offset == OFFSETS["free"]:
            free = data & 0x7F
        if select and write and offset == OFFSETS["flags"]:
            flags &= ~data
        flags |= new_flags
        hits = (hits + new_hits.bit_count()) & 0x3F


@cocotb.test()
async def has_every_register(dut: Any) -> None:
    """Each register of the NIC at its offset, with its width and its reset value."""
    await reset_and_clock(dut)
    edge = RisingEdge(dut.clk)
    ones = (1 << 64) - 1
    for register in REGISTERS:
        if register.access is Access.RO and not register.reset:
            getattr(dut, f"values__{register.name}").value = (
                (0x123456789ABCDEF0 + register.offset) & ((1 << register.width) - 1))
    for register in REGISTERS:
        mask = (1 << register.width) - 1
        for attempt in ("reset", "written"):
            dut.access__select.value, dut.access__write.value = 1, 0
            dut.access__offset.value = register.offset
            await edge
            dut.access__select.value = 0
            await edge
            if register.access is Access.WO:
                want = 0
            elif register.access is Access.RW:
                want = register.reset if attempt == "reset" else mask
            elif register.access is Access.W1C or register.reset:
                want = register.reset
            else:
                want = (0x123456789ABCDEF0 + register.offset) & mask
            assert int(dut.access__read.value) == want, (register.name, attempt)
            dut.access__select.value, dut.access__write.value, dut.access__data.value = 1, 1, ones
            await edge
            dut.access__select.value = 0
            await cycles(dut, 1)
    assert parameters() == {}


@pytest.mark.parametrize("number", [1, more(2)])
def test_follows_the_model(number: int) -> None:
    run_bench(CsrFile(registers=SMALL, counters={"hits": 3}, external=("kept",)), __file__,
              testcase="follows_the_model", seed=number)


def test_has_every_register() -> None:
    run_bench(CsrFile(), __file__, testcase="has_every_register")


def test_names_exist() -> None:
    with pytest.raises(ValueError, match="counter 'free': no ro register of that name"):
        CsrFile(registers=SMALL, counters={"free": 1})
    with pytest.raises(ValueError, match="external 'hits': no rw register of that name"):
        CsrFile(registers=SMALL, external=("hits",))
    assert CsrFile(registers=SMALL).registers == SMALL
