"""The best of several placings: placings are made up."""

import json
import threading
import time
from pathlib import Path

import pytest
from nicbed.testbench.synth.flow import tools
from nicbed.testbench.synth.flow.placement import Placement
from nicbed.testbench.synth.flow.routing import DoesNotRoute
from nicbed.testbench.synth.seeds import best_of

from tests.testbench.commands.test_synth import (  # noqa: F401
    reaches,
    small,
)  # noqa: F401

LIMIT = 60
"""Seconds that nothing here takes."""


def placement(mhz, place=Path()):
    return Placement(place, {"fmax": {"clk": {"achieved": mhz}}, "critical_paths": []})


def placer(reached):
    """Places a seed with what ``reached`` has for it: MHz, or an exception."""
    def place(seed, progress, alive):
        found = reached[seed]
        if isinstance(found, BaseException):
            raise found
        return placement(found)

    return place


def test_the_best_is_kept():
    found = best_of([3, 4, 5], placer({3: 24.5, 4: 29.0, 5: 28.0}))
    assert (found.seed, found.reached) == (4, {3: 24.5, 4: 29.0, 5: 28.0})
    assert found.placed == placement(29.0)


def test_the_first_of_equal_seeds_wins():
    assert best_of([7, 8], placer({7: 25.0, 8: 25.0})).seed == 7


def test_one_that_does_not_route_is_left_out():
    found = best_of([1, 2], placer({1: DoesNotRoute(5, 10, 99), 2: 20.0}))
    assert (found.seed, found.reached) == (2, {1: None, 2: 20.0})


def test_no_seed_routes():
    with pytest.raises(DoesNotRoute) as raised:
        best_of([1, 2], placer({1: DoesNotRoute(5, 10, 99), 2: DoesNotRoute(6, 10, 99)}))
    assert raised.value.left == 5


def test_no_seeds():
    with pytest.raises(ValueError, match="^seeds must have at least one"):
        best_of([], placer({}))


@pytest.mark.parametrize("error", [tools.ToolError("ERROR: no", "log"), KeyboardInterrupt()])
def test_a_failure_ends_the_others(error):
    begun, ended = threading.Event(), threading.Event()

    def place(seed, progress, alive):
        if seed == 1:
            assert begun.wait(LIMIT)
            raise error
        begun.set()
        try:
            for _ in range(100 * LIMIT):
                alive()
                time.sleep(0.01)
        finally:
            ended.set()
        raise AssertionError("was not ended")

    with pytest.raises(type(error)):
        best_of([1, 2], place, at_once=2)
    assert ended.is_set()


def test_no_more_at_once_than_allowed():
    running, most, lock = 0, 0, threading.Lock()

    def place(seed, progress, alive):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1
        return placement(float(seed))

    assert best_of(range(1, 7), place, at_once=2).seed == 6
    assert most == 2


def test_progress_is_that_of_all():
    told = []

    def place(seed, progress, alive):
        progress("placing", 500, 1000)
        progress("routing", 1000, 1000)
        return placement(1.0)

    best_of([1, 2], place, lambda *what: told.append(what), at_once=1)
    assert told == [("seed 1: placing", 250, 1000), ("seed 1: routing", 500, 1000),
                    ("seed 2: placing", 750, 1000), ("seed 2: routing", 1000, 1000)]


def test_an_exception_of_the_caller_ends_a_tool(tmp_path, monkeypatch):
    file = tmp_path / "pnr"
    file.write_text("#!/bin/sh\nexec sleep 600\n")
    file.chmod(0o755)
    monkeypatch.setenv("NICBED_NEXTPNR", str(file))

    def alive():
        raise InterruptedError

    begin = time.monotonic()
    with pytest.raises(InterruptedError):
        tools.run("nextpnr", [], tmp_path, log="log", alive=alive)
    assert time.monotonic() - begin < LIMIT


def test_the_command_keeps_the_best(small, reaches, tmp_path, monkeypatch, capsys):  # noqa: F811
    reaches(0.0)
    place = {}
    for seed, mhz in (4, 25.0), (5, 31.0):
        folder = tmp_path / f"seed{seed}"
        folder.mkdir()
        (folder / "top.bit").write_text(f"of seed {seed}")
        place[seed] = placement(mhz, folder)
    monkeypatch.setattr("nicbed.testbench.synth.flow.placement.place",
                        lambda *_, seed, **__: place[seed])
    small("--board", "ecpix5", "--seed", "4", "--seeds", "2")
    shown = capsys.readouterr().out.splitlines()
    document, bitstream = map(Path, shown[-2:])
    found = json.loads(document.read_text())
    assert (found["seed"], found["seeds"], found["fmax_mhz"]) == (5, {"4": 25, "5": 31}, 31)
    assert bitstream.read_text() == "of seed 5"
    assert ["5", "31.0", "in", "the", "bitstream"] in [line.split() for line in shown]
