"""A program that spends no target time is ended, and one that only takes long is not."""

import time
from types import SimpleNamespace

import pytest
from nicbed.host.runtime import Stuck
from nicbed.host.serving import Server
from nicbed.layouts.description import Description
from nicbed.testbench.backends.session import RunError, run_job
from nicbed.testbench.run.watchdog import Watchdog


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
    return run_job(Description(), function=f"{__name__}:run", arguments={"name": name})


@pytest.mark.parametrize(("name", "cycle"), [("flushes", 0), ("computes", 10)])
def test_a_program_that_spends_no_time_is_ended(name, cycle, monkeypatch):
    with pytest.raises(RunError, match="spends no target time") as error:
        start(name, monkeypatch, "0.3")
    assert "node 0's program" in str(error.value)
    assert f"at cycle {cycle} " in str(error.value)
    assert "testbench/run/test_watchdog.py:" in str(error.value)


class Served:
    """A runtime and a mailbox at one attention, and a clock that a test sets."""

    def __init__(self):
        self.wakes, self.now, self.seconds = 7, 1234, 0.0
        self.lines = []
        self.dog = Watchdog(self, self, self.lines.append, told=30, patience=300,
                            clock=lambda: self.seconds)

    def cycle(self):
        return self.now

    def name(self, index):
        return f"node {index}"

    def look(self, seconds, node=3):
        """As if the runtime served ``node`` now."""
        self.seconds = seconds
        frame = SimpleNamespace(f_code=Server.serve.__code__, f_back=None,
                                f_locals={"self": SimpleNamespace(index=node)})
        self.dog.look(SimpleNamespace(f_code=(lambda: 0).__code__, f_lineno=5, f_back=frame))


def test_one_line_says_whose_program_computes_since_when():
    served = Served()
    for seconds in (10, 20, 39):
        served.look(seconds)
    assert not served.lines
    for seconds in (40, 50, 60):
        served.look(seconds)
    assert len(served.lines) == 1
    assert served.lines[0].startswith(
        "node 3's program has been computing in Python for 30 CPU seconds since cycle 1234, now at "
        f"{__file__}:5; ")
    with pytest.raises(Stuck, match="node 3's program spends no target time: at cycle 1234 "):
        served.look(310)


def test_an_operation_begins_the_wait_anew():
    served = Served()
    served.look(10)
    served.now += 1
    served.look(35)
    served.look(60)
    served.wakes += 1
    served.look(400)
    served.dog.look(None)
    served.look(420)
    assert not served.lines


def test_a_slow_program_is_left_alone(monkeypatch):
    assert start("is_slow", monkeypatch, "0.5") == 40
