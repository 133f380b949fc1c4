"""How much an experiment says over a board's line: what an hour of a board's time is worth."""

import asyncio
from typing import Any

import pytest
from nicbed.host.am.endpoint import buffer_of
from nicbed.testbench.benches import get
from nicbed.testbench.benches import run as run_bench
from nicbed.testbench.descriptions import load as descriptions

from tests.labs.board.lab import Traffic
from tests.programs import target_jobs


def test_one_round_trip_an_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was read and written: a page that is wanted, or a log that is full, is one more."""
    traffic = Traffic(monkeypatch)
    asyncio.run(target_jobs.exchanges(traffic.lab, requests=20))
    assert traffic.attentions > 80
    assert traffic.frames <= traffic.attentions + traffic.pages
    assert traffic.port.sent < 80 * traffic.attentions + 1500 * traffic.pages
    assert traffic.port.received < 150 * traffic.attentions


def test_buffers_of_bulk_benchmarks() -> None:
    """As docs/how-to/board.md says."""
    assert buffer_of(descriptions.load("default")) == 1 << 20
    assert buffer_of(descriptions.load("board-via")) == 512 << 10


@pytest.mark.full
@pytest.mark.parametrize("name, nic, layer, parameters", [
    ("rtt", "default", "am", {}), ("logp", "default", "am", {}),
    ("latency", "board-via", "via", {"sizes": [4]})])
def test_what_a_benchmark_takes(name: str, nic: str, layer: str, parameters: dict[str, Any],
                                monkeypatch: pytest.MonkeyPatch,
                                capsys: pytest.CaptureFixture[str]) -> None:
    """Printed, for docs/how-to/board.md."""
    description = descriptions.for_layer(descriptions.load(nic), layer)
    traffic = Traffic(monkeypatch, description)
    parameters = get(name).module(layer).parameters(description) | parameters
    asyncio.run(run_bench(traffic.lab, name=name, layer=layer, parameters=parameters))
    with capsys.disabled():
        print(f"\n{name}, {nic}: {traffic}")
    assert traffic.frames <= traffic.attentions + traffic.pages
