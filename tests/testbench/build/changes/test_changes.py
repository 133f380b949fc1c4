"""Evaluating only what has changed: every output of random logic, in every cycle, is that of the
same model as Verilator has it."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from nicbed.layouts.description import Description
from nicbed.testbench.backends.session import run_job
from nicbed.testbench.build import simulator
from nicbed.testbench.build.changes import rewrite
from nicbed.testbench.build.changes.clusters import Cluster
from nicbed.testbench.build.verilator import Compilation, compile_all, toolchain, verilate

from tests.labs.rows import more
from tests.models.random_logic import INPUTS, outputs, random_logic

CYCLES = 4000

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


def verilated(work: Path, seed: int, name: str) -> list[Path]:
    (work / f"{name}.v").write_text(random_logic(seed, name))
    return verilate([work / f"{name}.v"], work, top=name, vpi=False, name=f"V{name}",
                    options=[rewrite.MEMBERS_ONLY])


def run(work: Path, seed: int, check: bool = False) -> subprocess.CompletedProcess[str]:
    """Build the logic of ``seed`` as Verilator has it and with the pass, and compare them."""
    sources = [file for name in ("plain", "partly") for file in verilated(work, seed, name)]
    written = rewrite.evaluate_changes(work, "Vpartly", "engine", check=check)
    assert written, "the pass does not know this C++"
    (work / "main.cpp").write_text(_main())
    compile_all(Compilation(work, [*sources, *written, work / "main.cpp"], defines=[f"-I{work}"]),
                work / "simulator")
    return subprocess.run([work / "simulator"], capture_output=True, text=True, timeout=120)


@pytest.fixture(autouse=True)
def _known() -> None:
    if toolchain().release != rewrite.VERSION:
        pytest.skip("the C++ of this Verilator stays as it is")


@pytest.mark.parametrize("seed", [0, *(more(seed) for seed in range(1, 12))])
def test_the_same_in_every_cycle(seed: int, tmp_path: Path) -> None:
    done = run(tmp_path, seed)
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
    real = Cluster.take

    def take(self: Cluster, one: Any) -> None:
        real(self, one)
        self.reads = {key for key in self.reads if not key.endswith("__DOT__r7")}

    monkeypatch.setattr(Cluster, "take", take)
    done = run(tmp_path, 0, check)
    assert done.returncode != 0
    assert ("was missed" if check else " in cycle ") in done.stderr


@pytest.mark.parametrize(("known", "strange"), [
    ("VL_REDXOR_32(", "VL_REDXOR_OF("),
    ("___eval_nba(Vpartly___024root* vlSelf) {", "___eval_more(Vpartly___024root* vlSelf) {"),
    ("__VnbaTriggered[0U]))", "__VnbaTriggers[0U]))"),
    ("// Body", "// Body\n    strange();"),
])
def test_what_is_not_known_stays_as_it_is(known: str, strange: str, tmp_path: Path) -> None:
    files = {file: file.read_text() for file in verilated(tmp_path, 0, "partly")}
    assert any(known in text for text in files.values())
    files = {file: text.replace(known, strange) for file, text in files.items()}
    for file, text in files.items():
        file.write_text(text)
    assert rewrite.evaluate_changes(tmp_path, "Vpartly", "engine") == []
    assert {file: file.read_text() for file in files} == files


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
