"""Evaluating only what has changed: every output of random logic, in every cycle, is that of the
same model as Verilator has it."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from nicbed.layouts.description import Description
from nicbed.rtl.instances.station import Station
from nicbed.testbench.backends.session import run_job
from nicbed.testbench.changes import rewrite
from nicbed.testbench.changes.model import NotKnown
from nicbed.testbench.simulators import instances, simulator
from nicbed.testbench.simulators.verilator import Compilation, compile_all, toolchain, verilate
from nicbed.testbench.simulators.verilog import module_files, to_verilog

from tests.labs.rows import more
from tests.models.random_logic import INPUTS, outputs, random_logic
from tests.programs.am import describe

CYCLES = 4000

SEEDS = [*range(1, 6), *range(7, 13)]
"""In the logic of 6 Verilator calls a function from two places: it stays as it is."""

_MAIN = """
#include <cstdio>
#include <cstring>
#include "Vplain.h"
#include "Vpartly.h"
double sc_time_stamp() { return 0; }
static unsigned long long state = 1;
static unsigned next() {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return state >> 33;
}
int main() {
    Vplain plain;
    Vpartly partly;
    const auto both = [&](auto set) { set(plain); set(partly); plain.eval(); partly.eval(); };
    const auto equal = [&](int cycle) {
        COMPARE
        return true;
    };
    both([](auto& top) { top.clk = top.clk_rest = 0; top.rst = 1; });
    both([](auto& top) { top.rst = 0; });
    for (int cycle = 0; cycle < CYCLES; cycle++) {
        // Long pauses in which little changes, and short times in which all does.
        const bool rest = next() % 3, lively = next() % 64 < 8, again = next() % 997 == 0;
        CHANGE
        both([&](auto& top) { top.rst = again; top.clk = 1; top.clk_rest = rest; });
        if (!equal(cycle)) return 1;
        both([](auto& top) { top.rst = 0; top.clk = 0; top.clk_rest = 0; });
        if (!equal(cycle)) return 1;
    }
    return 0;
}
"""


def _main() -> str:
    compare = "\n".join(
        f'if (std::memcmp(&plain.{name}_o, &partly.{name}_o, sizeof plain.{name}_o)) '
        f'{{ std::fprintf(stderr, "{name} in cycle %d\\n", cycle); return false; }}'
        for name in outputs())
    words = {name: -(-width // 32) for name, width in INPUTS.items()}
    change = []
    for name, width in INPUTS.items():
        keep = (1 << (width - 1) % 32 + 1) - 1
        if width > 64:
            set_ = " ".join(f"plain.{name}[{at}] = partly.{name}[{at}] = next()"
                            f"{f' & {keep:#x}' if at == words[name] - 1 else ''};"
                            for at in range(words[name]))
        elif width > 32:
            set_ = f"plain.{name} = partly.{name} = (uint64_t(next()) << 32 | next());"
        else:
            set_ = f"plain.{name} = partly.{name} = next() & {keep:#x};"
        change.append(f"if (next() % 16 == 0 || (lively && next() % 2)) {{ {set_} }}")
    return (_MAIN.replace("COMPARE", compare).replace("CHANGE", "\n".join(change))
            .replace("CYCLES", str(CYCLES)))


def verilated(work: Path, text: str, name: str) -> list[Path]:
    (work / f"{name}.v").write_text(text)
    return verilate([work / f"{name}.v"], work, top=name, vpi=False, name=f"V{name}",
                    options=[rewrite.MEMBERS_ONLY])


def run(work: Path, seed: int, check: bool = False, registered: bool = False
        ) -> subprocess.CompletedProcess[str]:
    """Build the logic of ``seed`` as Verilator has it and with the pass, and compare them."""
    sources = [file for name in ("plain", "partly")
               for file in verilated(work, random_logic(seed, name, registered), name)]
    written = rewrite.evaluate_changes(work, "Vpartly", {"engine"}, check=check)
    (work / "main.cpp").write_text(_main())
    compile_all(Compilation(work, [*sources, *written, work / "main.cpp"], defines=[f"-I{work}"]),
                work / "simulator")
    return subprocess.run([work / "simulator"], capture_output=True, text=True, timeout=120)


def pinned() -> tuple[int, ...]:
    """The release of Verilator in the lock file."""
    lock = Path(__file__).parents[3] / "requirements" / "core.txt"
    found = re.search(r"^verilator==(\d+)\.(\d+)", lock.read_text(), re.MULTILINE)
    assert found
    return int(found[1]), int(found[2])


@pytest.fixture(autouse=True)
def _known() -> None:
    assert pinned() == rewrite.VERSION, "the pass must know the C++ of the Verilator in use"
    if toolchain().release != rewrite.VERSION:
        pytest.skip("the C++ of this Verilator stays as it is")


@pytest.mark.parametrize(("seed", "registered"), [
    (0, False), *(more(seed, False) for seed in SEEDS),
    *(more(seed, True) for seed in range(3))])
def test_the_same_in_every_cycle(seed: int, registered: bool, tmp_path: Path) -> None:
    done = run(tmp_path, seed, registered=registered)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("seed", [more(0), more(1)])
def test_a_model_that_checks_itself_finds_nothing(seed: int, tmp_path: Path) -> None:
    done = run(tmp_path, seed, check=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("check", [more(False), True])
def test_a_change_that_wakes_nobody_is_noticed(check: bool, tmp_path: Path,
                                               monkeypatch: pytest.MonkeyPatch) -> None:
    """One register's readers left asleep: the outputs differ, and a model that checks itself names
    a variable."""
    real = rewrite._Writer.__init__

    def init(self: rewrite._Writer, *arguments: Any) -> None:
        real(self, *arguments)
        del self.readers["partly__DOT__engine__DOT__r7"]

    monkeypatch.setattr(rewrite._Writer, "__init__", init)
    done = run(tmp_path, 0, check)
    assert done.returncode != 0
    assert ("was missed" if check else " in cycle ") in done.stderr


@pytest.fixture(scope="module")
def translated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The C++ of random logic, by the files' names."""
    work = tmp_path_factory.mktemp("translated")
    return {file.name: file.read_text()
            for file in [*verilated(work, random_logic(0, "partly"), "partly"),
                         *work.glob("V*.h")]}


@pytest.mark.parametrize(("function", "known", "strange"), [
    ("ico_sequent__TOP__0", "VL_REDXOR_32(", "VL_REDXOR_OF("),
    ("nba_comb__TOP__2", "VL_REDXOR_32(", "VL_REDXOR_OF("),
    ("nba_sequent__TOP__0", "// Body", "// Body\n    strange();"),
    ("nba_sequent__TOP__0", "// Body", ""),
    ("ico_sequent__TOP__0", "// Body", ""),
    ("eval_nba", "eval_nba(Vpartly___024root* vlSelf) {",
     "eval_more(Vpartly___024root* vlSelf) {"),
    ("eval_nba", "__VnbaTriggered[0U]))", "__VnbaTriggers[0U]))"),
    ("eval_nba", "// Body", "// Body\n    strange();"),
    ("eval_nba", "// Body", "// Body\n    vlSelfRef.clk = 1U;"),
    ("eval_nba", "// Body", ""),
    ("eval_nba", "Vpartly___024root___nba_sequent__TOP__0(vlSelf);",
     "Vpartly___024root___nba_missing(vlSelf);"),
    ("eval_phase__nba", "// Body", "// Body\n    vlSelfRef.i0 = 1U;"),
    ("eval_phase__nba", "// Body", "// Body\n    vlSelfRef.i0++;"),
    ("eval_phase__nba", "// Body", "// Body\n    fill(vlSelfRef.i4);"),
    ("eval_phase__nba", "// Body", "// Body\n    VL_ZERO_W(100, vlSelfRef.i4);"),
])
def test_unknown_code_stays_as_it_is(function: str, known: str, strange: str, tmp_path: Path,
                                          translated: dict[str, str]) -> None:
    files = dict(translated)
    opening = re.compile(rf"^\w+ Vpartly___024root___{function}\(Vpartly___024root\* vlSelf\) {{",
                         re.MULTILINE)
    name, place = next((name, found.start()) for name, text in files.items()
                       if "__Slow" not in name and (found := opening.search(text)))
    text = files[name]
    at = text.index(known, place, text.index("\n}", place))
    files[name] = text[:at] + strange + text[at + len(known):]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(NotKnown):
        rewrite.evaluate_changes(tmp_path, "Vpartly", {"engine"})
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == files


ENDING = """
module partly_logic(input clk, input [31:0] a, output [31:0] w_o);
reg [31:0] q, t, w;
assign w_o = ~w;
always @(posedge clk) q <= a;
always_comb begin t = q; if (q[0]) t = q + 7; end
always_comb w = (^t) ? t : ~t;
FINAL
endmodule
module partly(input clk, input [31:0] a, output [31:0] w_o);
partly_logic engine(.*);
endmodule
"""


@pytest.mark.parametrize(("final", "own"), [("", True), ("final $display(t);", False)])
def test_what_is_used_at_the_end_stays_a_variable_of_the_model(final: str, own: bool,
                                                               tmp_path: Path) -> None:
    verilated(tmp_path, ENDING.replace("FINAL", final), "partly")
    written = rewrite.evaluate_changes(tmp_path, "Vpartly", {"engine"})
    texts = "".join(file.read_text() for file in written)
    assert ("IData partly__DOT__engine__DOT__t{};" in texts) == own


def test_blocks_that_are_not_there_are_told(tmp_path: Path) -> None:
    verilated(tmp_path, ENDING.replace("FINAL", ""), "partly")
    with pytest.raises(NotKnown, match="no block engine_0"):
        rewrite.evaluate_changes(tmp_path, "Vpartly", {"engine", "engine_0"})


@pytest.mark.parametrize(("knobs", "found"), [
    ({"via.design": "engine"}, ["nic_0", "faults_0", "uplink_0", "downlink_0"]),
    ({"via.design": "engine", "node.nics": 2},
     ["nic_0", "faults_0", "uplink_0", "downlink_0", "nic_1", "faults_1", "uplink_1",
      "downlink_1"]),
    ({}, [])])
def test_the_blocks_of_each_nic_rest(knobs: dict[str, Any], found: list[str]) -> None:
    assert instances._resting(describe(knobs)) == found


@pytest.mark.full
def test_the_blocks_of_several_nics_are_there(tmp_path: Path) -> None:
    """Else the pass refuses."""
    description = describe({"via.design": "engine", "node.nics": 2})
    text, around = instances._converted(Station(description=description, cpus=1), "station",
                                        instances._held)
    (tmp_path / "station.v").write_text(to_verilog(text, processes=True) + around)
    files = [tmp_path / "station.v", *module_files(text, tmp_path)]
    verilate(files, tmp_path, top="station", vpi=False, name="Vstation",
             options=[rewrite.MEMBERS_ONLY])
    assert rewrite.evaluate_changes(tmp_path, "Vstation", {*instances._resting(description)})


def test_the_user_is_told_that_all_is_evaluated(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    """C++ for the pass is no use without it."""
    def make(options: list[str]) -> list[Path]:
        (tmp_path / "Vpartly_left.cpp").write_text("")
        return []

    def refuse(*_: Any, **__: Any) -> list[Path]:
        raise NotKnown("strange();\n  more")

    monkeypatch.setattr(instances, "evaluate_changes", refuse)
    assert instances._changing(make, tmp_path, "partly", ["engine"]) == []
    assert not list(tmp_path.iterdir())
    told = capsys.readouterr().err
    assert told.startswith("nicbed: all of a partly is evaluated")
    assert told.endswith("strange(); more\n") and told.count("\n") == 1
    monkeypatch.setattr(instances, "VERSION", (4, 9))
    assert instances._changing(make, tmp_path, "partly", ["engine"]) == []
    assert f"Verilator {toolchain().version}" in capsys.readouterr().err


def test_of_an_engine_only_what_has_changed_is_evaluated() -> None:
    """Nothing that Verilator makes of it is unknown to the pass. The simulator is one that other
    tests build."""
    place = simulator.build(describe({"via.design": "engine"})).place
    found = set(re.findall(rb"Vstation_cluster_\d+", (place / "simulator").read_bytes()))
    assert len(found) > 500


@pytest.mark.parametrize(("value", "check"), [("1", True), ("0", False), ("", False)])
def test_a_simulator_checks_itself_where_it_is_asked_to(value: str, check: bool,
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(rewrite.CHECKED, value)
    assert rewrite.checked() == check


@pytest.mark.full
def test_an_engine_that_checks_itself_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulator of a VI engine that runs what need not run, too: nothing was missed, and all is
    the same as in one that does not."""
    description = Description.model_validate({
        "via": {"design": "engine"}, "faults": {"drop": 0.05, "corrupt": 0.05, "duplicate": 0.1}})
    job = "tests.programs.target_jobs:pairs_over_via"
    plain = run_job(description, function=job)
    monkeypatch.setenv(rewrite.CHECKED, "1")
    known = simulator.build(description).place
    assert b"a change of %s was missed" in (known / "simulator").read_bytes()
    assert run_job(description, function=job) == plain
