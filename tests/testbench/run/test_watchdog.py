"""A program that spends no target time is ended, and one that only takes long is not."""

import threading
import time
from types import SimpleNamespace

import pytest
from nicbed.host.mpi.sync.folders import Folders
from nicbed.host.mpi.sync.stack import Stack, Surroundings
from nicbed.host.port.serving import Server
from nicbed.host.port.watch import Watch
from nicbed.host.runtime import Stuck
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


async def sleeps(node):
    threading.Event().wait()


async def catches(node):
    """Whatever is raised in it."""
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


async def ends_badly(node):
    """Computes when it is to end."""
    try:
        while True:
            await node.port.delay(100)
            await node.port.flush()
    finally:
        while True:
            pass


async def on_a_stack(node):
    def body():
        while True:
            pass

    await Stack(body, None, 0, Surroundings(), Folders()).drive()


async def is_slow(node):
    """Longer in Python than is allowed, but with operations between."""
    for _ in range(4):
        end = time.process_time() + 0.6
        while time.process_time() < end:
            pass
        await node.port.delay(10)
        await node.port.flush()
    return node.port.cycle


async def run(lab, name):
    return (await lab.run([globals()[name], None])).results[0]


def start(name, monkeypatch, patience, **options):
    monkeypatch.setenv("NICBED_PATIENCE", patience)
    return run_job(Description(), function=f"{__name__}:run", arguments={"name": name}, **options)


@pytest.mark.parametrize(("name", "cycle"), [
    ("flushes", 0), ("computes", 10), ("sleeps", 0), ("catches", 0), ("on_a_stack", 0)])
def test_a_program_that_spends_no_time_is_ended(name, cycle, monkeypatch):
    with pytest.raises(RunError) as error:
        start(name, monkeypatch, "0.3")
    assert error.value.kind == "Stuck"
    done = "waited for something outside the target" if name == "sleeps" else "computed"
    assert str(error.value).startswith(
        f"node 0's program has {done} for 0.3 s since cycle {cycle}, in {__file__}:")
    assert "\n" not in str(error.value)


def test_a_program_that_does_not_end_at_the_limit_is_ended(monkeypatch):
    with pytest.raises(RunError, match="stopped at cycle 1000") as error:
        start("ends_badly", monkeypatch, "0.3", limit=1000)
    assert "being closed, raised Stuck(\"node 0's program has computed" in str(error.value)


class Served:
    """A runtime and a mailbox at one attention, and clocks that a test sets."""

    def __init__(self, monkeypatch, patience="300"):
        monkeypatch.setenv("NICBED_PATIENCE", patience)
        self.wakes, self.now, self.seconds, self.passed = 7, 1234, 0.0, 0.0
        self.lines, self.given_up = [], []
        self.watch = Watch()
        self.watch.names[3] = "node 3"
        self.dog = Watchdog(self, self, self.lines.append, self.given_up.append,
                            clock=lambda: (self.seconds, self.passed))

    def cycle(self):
        return self.now

    def look(self, seconds, passed=None):
        """As if node 3 was served now, after so many seconds of CPU and of wall time."""
        self.seconds, self.passed = seconds, seconds if passed is None else passed
        frame = SimpleNamespace(f_code=Server.serve.__code__, f_back=None,
                                f_locals={"self": SimpleNamespace(index=3)})
        self.dog.look(SimpleNamespace(f_code=(lambda: 0).__code__, f_lineno=5, f_back=frame))


def test_one_line_says_whose_program_computes_since_when(monkeypatch):
    served = Served(monkeypatch)
    for seconds in (10, 20, 39):
        served.look(seconds)
    assert not served.lines
    for seconds in (40, 50, 60):
        served.look(seconds)
    line = f"node 3's program has computed for 30 s since cycle 1234, in {__file__}:5"
    assert served.lines == [line]
    with pytest.raises(Stuck, match=line.replace("for 30 s", "for 300 s")):
        served.look(310)


def test_a_program_that_waits_is_ended_and_one_on_a_busy_machine_is_not(monkeypatch):
    served = Served(monkeypatch, "20")
    served.look(0)
    served.look(4, 39)
    with pytest.raises(Stuck, match="has waited for something outside the target for 20 s"):
        served.look(4, 41)


def test_a_program_that_goes_on_after_its_end_is_given_up(monkeypatch):
    served = Served(monkeypatch, "20")
    served.look(0)
    for seconds in (20, 21):
        assert not served.given_up
        with pytest.raises(Stuck) as error:
            served.look(seconds)
    assert str(served.given_up[0]) == str(error.value)


def test_an_operation_begins_the_wait_anew(monkeypatch):
    served = Served(monkeypatch, "100")
    served.look(10)
    served.now += 1
    served.look(35)
    served.look(60)
    served.wakes += 1
    served.look(400)
    served.dog.look(None)
    served.look(420)
    served.dog.begin()
    served.look(800)
    assert not served.lines


def test_a_slow_program_is_left_alone(monkeypatch):
    assert start("is_slow", monkeypatch, "1") == 40


@pytest.mark.parametrize("patience", ["0", "-1", "inf", "soon"])
def test_patience_is_a_number_of_seconds(patience, monkeypatch):
    with pytest.raises(RunError, match="NICBED_PATIENCE must be a number of seconds above 0, not "):
        start("computes", monkeypatch, patience)
