"""Notes on a description: what it implies, and that the target agrees."""

from fractions import Fraction

import pytest
from nicbed.layouts import fabric
from nicbed.layouts.description import Description
from nicbed.rtl.fabric.link import Link
from nicbed.testbench.backends.job import Job
from nicbed.testbench.backends.session import run_job
from nicbed.testbench.benches.am.logp import issues
from nicbed.testbench.commands.output import Terminal
from nicbed.testbench.descriptions.advice import (
    CONTROL_BYTES,
    credit_bound,
    least_window,
    notes,
    window_bound,
)
from nicbed.testbench.descriptions.load import for_layer, load
from nicbed.testbench.testbed.bed import Testbed
from nicbed.testbench.testbed.options import Options

from tests.programs import via_ideal_jobs


def described(**link: object) -> Description:
    return Description.model_validate({"link": link})


def test_the_default_link_is_not_credit_bound() -> None:
    assert credit_bound(Description()) is None
    assert notes(Description()) == []


@pytest.mark.parametrize(("link", "allowed"), [
    ({"latency": 500}, Fraction(131 * 8, 1006)),
    ({"latency": 20, "buffer": 64, "bytes_per_cycle": 8}, Fraction(88, 43)),
])
def test_a_buffer_too_small_is_said(link: dict, allowed: Fraction) -> None:
    description = described(**link)
    assert credit_bound(description) == allowed
    (line,) = notes(description)
    assert "credit-bound" in line and f"link.buffer = {description.link.buffer}" in line


def test_link_and_note_count_the_same_places(monkeypatch) -> None:
    """Of the declaration in layouts, wherever it is used: one more place is one more for both."""
    description = described(latency=500, buffer=64)
    wide, bound = [], []
    for slack in 3, 4:
        monkeypatch.setattr(fabric, "_SLACK", slack)
        wide.append(Link(buffer=64).depth)
        bound.append(credit_bound(description))
    assert wide == [11, 12]
    assert bound == [Fraction(8 * places, 1006) for places in wide]


def engine(window: int = 8, latency: int = 4, **more: object) -> Description:
    return Description.model_validate({
        "link": {"latency": latency}, **more,
        "via": {"design": "engine", "window": window, "send_slots": max(16, 2 * window)}})


def test_a_window_too_small_is_said() -> None:
    assert [least_window(engine(latency=latency)) for latency in (4, 200, 500)] == [2, 8, 16]
    assert notes(engine()) == []
    (line,) = window_bound(engine(latency=500))
    assert "via.window = 8 packets" in line and "via.window = 16 and via.send_slots = 32" in line
    assert window_bound(engine(latency=500, window=16)) == []
    assert window_bound(described(latency=500)) == [], "no engine"


LATENCIES = 40, 200
"""Of links: a window of 2 lasts, and does not."""


def narrow(latency: int) -> Description:
    ideal = for_layer(load("ideal"), "via")
    return ideal.model_copy(update={
        "via": ideal.via.model_copy(update={"window": 2}),
        "link": ideal.link.model_copy(update={"latency": latency})})


def test_the_least_window_depends_on_the_way() -> None:
    assert [least_window(narrow(latency)) for latency in LATENCIES] == [2, 8]
    assert notes(narrow(LATENCIES[0])) == []


@pytest.mark.full
def test_the_target_is_as_fast_as_the_window_says() -> None:
    near, far = (run_job(narrow(latency), function=f"{via_ideal_jobs.__name__}:windows")
                 for latency in LATENCIES)
    full = narrow(LATENCIES[0]).link.bytes_per_cycle * 1024 / (1024 + CONTROL_BYTES)
    assert near >= 0.98 * full
    assert far <= 0.8 * full


def test_a_time_out_shorter_than_a_round_trip_is_said() -> None:
    lines = notes(described(latency=20000))
    assert any("am.retry_timeout = 20000" in line and "80008" in line for line in lines)


def test_long_runs_are_announced(monkeypatch, capsys) -> None:
    monkeypatch.setattr("nicbed.testbench.testbed.bed.perform",
                        lambda job, **_: {"limit": job.limit})
    monkeypatch.setattr("nicbed.testbench.testbed.bed.built_simulator", lambda *_, **__: None)

    def job(description: Description, limit: int | None = None) -> dict[str, int]:
        bed = Testbed(description, limit=limit, options=Options(listener=Terminal()))
        return bed.job(Job(description, function=""), label="logp")

    far = described(latency=20000)
    assert job(far, 7) == {"limit": 7}
    (line,) = capsys.readouterr().err.splitlines()
    assert "am.retry_timeout = 20000" in line and "--set am.retry_timeout=160016" in line
    patient = Description.model_validate({"link": {"latency": 20000},
                                          "am": {"retry_timeout": 160016}})
    for description in Description(), patient:
        job(description)
        assert capsys.readouterr().err == ""


def test_long_delays_have_fewer_issues() -> None:
    assert [issues(512, delay) for delay in (0, 400, 20000, 160000)] == [512, 512, 100, 16]


async def stream(lab, latency: int) -> tuple[int, int]:
    """Cycles of 16 and of 48 full packets on the way to node 1, which takes none of the data."""
    async def run(packets: int) -> int:
        async def sender(node):
            from nicbed.host.am import Gam
            gam = Gam(node, [lambda *_: None])
            await gam.enable()
            took = 0
            if node.number == 0:
                source = node.allocate(1024 * packets)
                begin = await node.port.flush()
                await gam.store(1, source, 1 << 20, 1024 * packets, 0, 0)
                took = await node.port.flush() - begin
            await gam.disable()
            return took
        return (await lab.run([sender, sender], settings={
            "link.latency": latency, "am.chunk_packets": 16, "am.chunks": 7,
            "memory.latency": 0})).results[0]
    return await run(16), await run(48)


@pytest.mark.parametrize("latency", [1500, 3000])
def test_the_target_is_bound_by_that(latency: int) -> None:
    """A flight so long that credits are the slowest thing there is: they give the slope."""
    description = described(latency=latency)
    few, many = run_job(description, function=f"{__name__}:stream",
                        arguments={"latency": latency})
    allowed = credit_bound(description)
    assert allowed is not None
    # Headers and CRC take room of their own; the last flit of a packet takes a whole flit's.
    wire = (1024 + 24 + 8) * 32
    assert (many - few) * allowed == pytest.approx(wire, rel=0.06)
