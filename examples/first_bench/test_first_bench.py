"""Tests of first_bench: python -m pytest first_bench (it builds a simulator, once)."""

from pathlib import Path

from nicbed import Testbed

BENCH = str(Path(__file__).parent / "bench.py")


def test_more_messages_take_longer():
    last = Testbed("default").bench(BENCH).results["last"]
    assert last["1"] < last["2"] < last["8"]
