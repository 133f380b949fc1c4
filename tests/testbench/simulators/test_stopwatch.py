"""What a reading of the clock takes does not count as Python's time."""

import subprocess
from pathlib import Path

from nicbed.testbench.simulators.verilator import toolchain
from nicbed.testbench.simulators.verilog import SOURCES

READING = 370
"""Nanoseconds that a reading of the thread's clock takes here."""

PROGRAM = """
#include <cstdio>
#include <initializer_list>
#include "mailbox.h"

static uint64_t now = 5;

extern "C" int clock_gettime(clockid_t, timespec* time) noexcept {
    now += READING;
    *time = {static_cast<time_t>(now / 1000000000), static_cast<long>(now % 1000000000)};
    return 0;
}

int main() {
    for (const unsigned work : {0, 1, 1000}) {
        Stopwatch watch;
        watch.stop();  // never started
        watch.start();
        now += work;
        watch.stop();
        now += 77;  // somebody else's
        watch.stop();
        std::printf("%llu ", static_cast<unsigned long long>(mailbox.python_ns));
    }
}
"""


def test_a_reading_does_not_count(tmp_path: Path) -> None:
    source, program = tmp_path / "watch.cpp", tmp_path / "watch"
    source.write_text(PROGRAM)
    subprocess.run([*toolchain().compiler, "-O3", "-std=c++20", f"-DREADING={READING}",
                    f"-I{SOURCES}", str(source), "-o", str(program)], check=True)
    told = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    assert [int(one) for one in told.split()] == [0, 1, 1001]
