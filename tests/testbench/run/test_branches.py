"""Runs that begin alike and go on in forks are the runs from reset that they stand for."""

import os
import time

import pytest
from nicbed.host.am import Gam
from nicbed.layouts.description import Description
from nicbed.testbench.backends.session import RunError, run_job
from nicbed.testbench.lab import Lab
from nicbed.testbench.run.branches import branches

CHOICES = [5, 1, 3]


def exchange(choose, asks):
    """Node 0 sends four requests, and then as many as were chosen. Nodes of ``asks`` ask."""
    async def program(node):
        answers = 0

        def on_request(am, source, word):
            return am.reply(1, word)

        def on_reply(am, source, word):
            nonlocal answers
            answers += 1

        gam = Gam(node, [on_request, on_reply])
        await gam.enable()
        process, chosen = os.getpid(), 0
        if node.number == 0:
            for word in range(4):
                await gam.request(1, 0, word)
            await gam.wait(lambda: answers == 4)
        if node.number in asks:
            chosen = choose()
        if chosen < 0:
            raise ValueError(f"{chosen} messages")
        if chosen == 1000:
            end = time.process_time() + 3
            while time.process_time() < end:
                pass
        if node.number == 0:
            for word in range(chosen):
                await gam.request(1, 0, word)
        await gam.disable()
        return chosen, process, os.getpid()
    return program


async def measured(lab, choices, asks, forks=True):
    """Of each branch: cycles, events, results; which of them began, and runs of the account."""
    if not forks:
        type(lab).forks = False
    began = []

    async def run(choose):
        done = await lab.run([exchange(choose, asks)] * 2, trace=True)
        return done.cycles, done.events, done.results, dict(done.again), done.counters
    await run(lambda: 0)
    found = await branches(lab, choices, run, began.append)
    return found, began, lab.account.runs, os.getpid()


def branched(choices=CHOICES, asks=(0, 1), **more):
    forks = {"forks": more.pop("forks")} if "forks" in more else {}
    return run_job(Description(), function=f"{__file__}:measured",
                   arguments={"choices": choices, "asks": asks, **forks}, **more)


def apart(found):
    """The runs without the numbers of processes."""
    return [(cycles, events, [chosen for chosen, *_ in results], *rest)
            for cycles, events, results, *rest in found]


@pytest.mark.parametrize("asks", [(0, 1), (0,), (1,)])
def test_branches_are_runs_from_reset(asks):
    found, began, runs, job = branched(asks=asks)
    alone, *same, _ = branched(asks=asks, forks=False)
    assert apart(found) == apart(alone) and [began, runs] == same == [[0, 1, 2], 4]
    assert [results[asks[0]][0] for _, _, results, *_ in found] == CHOICES
    # The job's process simulates the beginning and the last run; the others are forks of it.
    ends = [{end for _, _, end in results} for _, _, results, *_ in found]
    assert ends[-1] == {job} and len(set.union(*ends)) == 3
    if asks == (0,):
        assert {results[0][1] for _, _, results, *_ in found} == {job}


def test_a_time_line_has_all_runs(tmp_path):
    """One process draws it, so there are no forks."""
    found, *_, job = branched(timeline=tmp_path / "line")
    assert {end for _, _, results, *_ in found for _, _, end in results} == {job}
    assert (tmp_path / "line").stat().st_size


def test_what_one_process_writes_is_of_one_process():
    alone = Lab(Description(), "verilator", None)
    assert alone.forks
    assert not Lab(Description(), "verilator", None, wave=True).forks
    assert not Lab(Description(), "one-design", None).forks
    alone.timeline = object()
    assert not alone.forks


@pytest.mark.full
def test_a_waveform_has_all_runs(tmp_path):
    """One process records it, so there are no forks."""
    found, *_, job = branched(wave=tmp_path / "waves")
    assert {end for _, _, results, *_ in found for _, _, end in results} == {job}
    assert (tmp_path / "waves").stat().st_size


@pytest.mark.parametrize("choices", [[-7, 1, 2], [1, -7, 2], [1, 2, -7]])
def test_a_run_that_fails_is_told_as_ever(choices):
    with pytest.raises(RunError, match="ValueError: -7 messages; raised by the program of node 1"):
        branched(choices)


def test_some_program_has_to_ask():
    with pytest.raises(RunError, match="no program of the run has asked for its choice"):
        branched(asks=())


def test_a_fork_that_spends_no_time_is_stopped(monkeypatch):
    monkeypatch.setenv("NICBED_PATIENCE", "0.6")
    with pytest.raises(RunError, match="node 1's program has computed for 0.6 s"):
        branched([1000, 1])
