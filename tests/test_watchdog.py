"""A program that spends no target time is ended, and one that only takes long is not."""

import time

import pytest
from nicbed.layouts.description import Description
from nicbed.testbench.session import RunError, run_job


async def flushes(node):
    while True:
        await node.port.flush()


async def computes(node):
    await node.port.delay(10)
    await node.port.flush()
    while True:
        pass


async def is_slow(node):
    """Longer in Python than the timer's period, but with operations between."""
    for _ in range(4):
        end = time.process_time() + 0.4
        while time.process_time() < end:
            pass
        await node.port.delay(10)
        await node.port.flush()
    return node.port.cycle


async def run(lab, name):
    return (await lab.run([globals()[name], None])).results[0]


def start(name, monkeypatch, patience):
    monkeypatch.setenv("NICBED_PATIENCE", patience)
    return run_job(Description(), function=f"{__file__}:run", arguments={"name": name})


@pytest.mark.parametrize(("name", "cycle"), [("flushes", 0), ("computes", 10)])
def test_a_program_that_spends_no_time_is_ended(name, cycle, monkeypatch):
    with pytest.raises(RunError, match="spends no target time") as error:
        start(name, monkeypatch, "0.3")
    assert f"at cycle {cycle} " in str(error.value)
    assert "test_watchdog.py:" in str(error.value)


def test_a_slow_program_is_left_alone(monkeypatch):
    assert start("is_slow", monkeypatch, "0.5") == 40
