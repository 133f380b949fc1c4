"""Tests of echo_firmware: python -m pytest echo_firmware (it builds a simulator, once)."""

import runpy
from pathlib import Path

from nicbed import Testbed

HERE = Path(__file__).parent


def test_each_packet_comes_back():
    program = runpy.run_path(str(HERE / "program.py"))["program"]
    run = Testbed(str(HERE / "echo_firmware.toml")).run(program)
    assert len(run.results[0]) == 10 and min(run.results[0]) > 0
