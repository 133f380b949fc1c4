"""A core from outside: a folder with an object, a component and Verilog."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from nicbed import Testbed
from nicbed.firmware import build
from nicbed.layouts.description import Description
from nicbed.layouts.doors import CORES
from nicbed.layouts.errors import UserError
from nicbed.rtl.processor.core.cores import make_core
from nicbed.testbench.descriptions.load import load
from nicbed.testbench.simulators.simulator import structure
from nicbed.testbench.simulators.verilog import foreign_sources, rtlil
from nicbed.testbench.store import keys

WRAPPER = """
module wrapped (
  input clk, input resetn, output trap, output valid, output instr, input ready,
  output [31:0] addr, output [31:0] wdata, output [3:0] wstrb, input [31:0] rdata);
  picorv32 #(.ENABLE_COUNTERS(0), .ENABLE_COUNTERS64(0), .BARREL_SHIFTER(1), .ENABLE_FAST_MUL(1),
             .ENABLE_DIV(1), .REGS_INIT_ZERO(1)) core (
    .clk(clk), .resetn(resetn), .trap(trap), .mem_valid(valid), .mem_instr(instr),
    .mem_ready(ready), .mem_addr(addr), .mem_wdata(wdata), .mem_wstrb(wstrb), .mem_rdata(rdata),
    .pcpi_wr(1'b0), .pcpi_rd(32'b0), .pcpi_wait(1'b0), .pcpi_ready(1'b0), .irq(32'b0));
endmodule
"""

CORE = '''
from pathlib import Path
from nicbed.layouts.doors import Core
from nicbed.rtl.processor.core.published import published

def build(*, step=None):
    from .component import Wrapped
    return Wrapped(step)

CORE = Core("my_core", "a wrapper", isa="generic_rv32+m", module="wrapped", build=build, cycles=6,
            files=lambda: (published("picorv32") / "picorv32.v",
                           Path(__file__).with_name("wrapped.v")))
'''

COMPONENT = '''
from amaranth.hdl import Module
from amaranth.lib import wiring
from nicbed.rtl.processor.core.enabled_core import core_instance
from nicbed.rtl.processor.types import CoreSide

class Wrapped(wiring.Component):
    def __init__(self, step):
        self._step = step
        super().__init__(CoreSide)

    def elaborate(self, platform):
        m = Module()
        bus = self.bus
        m.submodules.core = core_instance(
            "wrapped", edge=self.edge, step=self._step, i_clk=self.clk, i_resetn=~self.reset,
            o_trap=self.trap, o_valid=bus.valid, o_instr=bus.fetch, i_ready=bus.ack & bus.valid,
            o_addr=bus.address, o_wdata=bus.data, o_wstrb=bus.strobe, i_rdata=bus.read)
        m.d.comb += bus.write.eq(bus.strobe != 0)
        return m
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with the core's folder in it."""
    monkeypatch.setattr(CORES, "_loaded", {})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    for name, text in (("core.py", CORE), ("component.py", COMPONENT), ("wrapped.v", WRAPPER)):
        (tmp_path / "mine" / name).write_text(text)
    return tmp_path


def described(**more: str) -> Description:
    return load("default", ["nic.processor=./mine/core.py",
                            *(f"{name}={value}" for name, value in more.items())])


def test_the_description_has_the_core_by_name(folder: Path) -> None:
    description = described()
    assert description.nic.processor == "my_core" and str(folder) not in repr(description)
    assert description.core is CORES.get("my_core") and description.core.title == "a wrapper"
    assert Description().core is None
    assert Description().with_({"nic.processor": "serv"}).core is CORES.get("serv")


def test_firmware_is_compiled_for_its_instructions(folder: Path) -> None:
    core = described().nic.processor
    assert build.compiled_for(core) == ("generic_rv32+m", ())
    (folder / "mine" / "core.py").write_text(
        CORE.replace("+m", "").replace("cycles=6", "traps=True"))
    other = described().nic.processor
    assert build.compiled_for(other) == ("generic_rv32+zicsr", ("-DNICBED_MTVEC",))
    assert build.place("am", core, 65536) != build.place("am", other, 65536)


def test_its_sources_go_with_what_instantiates_it(folder: Path) -> None:
    core = described().nic.processor
    found = foreign_sources(rtlil(make_core(core), "top"))
    assert set(found) == {"wrapped"}
    assert "module picorv32" in found["wrapped"] and WRAPPER in found["wrapped"]


def test_keys_depend_on_the_bytes_of_its_verilog(folder: Path) -> None:
    def key() -> tuple[str, dict[str, str]]:
        with Testbed("default", {"nic.processor": "./mine/core.py"}, store=None) as bed:
            wanted = bed.benchmark("rtt")
            return keys.key(wanted), structure(wanted.description)

    first, built = key()
    assert key() == (first, built)
    file = folder / "mine" / "wrapped.v"
    file.write_text(WRAPPER + "// another\n")
    other, rebuilt = key()
    assert other != first and rebuilt["core"] != built["core"]
    assert rebuilt["nic.processor"] != built["nic.processor"]


@pytest.mark.parametrize("old, new, said", [
    ('isa="generic_rv32+m"', 'isa="mips"', "isa = 'mips': must be generic_rv32"),
    ('module="wrapped"', 'module="a b"', "module = 'a b': must be the name of a module"),
    ("cycles=6", "cycles=0", "cycles = 0: must be 1 to 1000"),
    ('"my_core"', '"serv"', "a core of this name is built in"),
])
def test_a_wrong_declaration_is_refused_in_a_line(folder: Path, old: str, new: str, said: str
                                                  ) -> None:
    (folder / "mine" / "core.py").write_text(CORE.replace(old, new))
    with pytest.raises(UserError) as caught:
        described()
    assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("file, old, new, said", [
    ("component.py", "(CoreSide)", '({**CoreSide.members, "irq": In(1)})', "has a member irq"),
    ("component.py", "(CoreSide)",
     '({n: m for n, m in CoreSide.members.items() if n != "pc"})', "has no member pc"),
    ("core.py", "return Wrapped(step)", "return 3", "build gives int, no component"),
    ("core.py", "wrapped.v", "absent.v", "absent.v: cannot be read"),
    ("wrapped.v", "module wrapped", "module other", "the source has no module wrapped"),
])
def test_a_core_that_does_not_fit_is_refused_in_a_line(folder: Path, file: str, old: str, new: str,
                                                       said: str) -> None:
    path = folder / "mine" / file
    path.write_text(path.read_text().replace(old, new).replace(
        "from amaranth.lib import wiring\n",
        "from amaranth.lib import wiring\nfrom amaranth.lib.wiring import In\n"))
    with pytest.raises(UserError) as caught:
        make_core(described().nic.processor)
    assert "core my_core: " in str(caught.value) and said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_core_is_named_with_the_nearest(folder: Path) -> None:
    with pytest.raises(UserError, match="no core is called picorv3.*picorv32"):
        load("default", ["nic.processor=picorv3"])


@pytest.mark.full
def test_firmware_runs_on_it_as_on_the_published_one(folder: Path) -> None:
    """The wrapper adds no cycle: the same results."""
    found = [json.loads(subprocess.run(
        [sys.executable, "-m", "nicbed.testbench.cli", "bench", "rtt", "--json", "--fresh",
         "--set", f"nic.processor={core}"],
        capture_output=True, text=True, check=True, cwd=folder).stdout)["results"]
        for core in ("picorv32", "./mine/core.py")]
    assert found[0] == found[1]
