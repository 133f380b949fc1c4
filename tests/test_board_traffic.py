"""How much an experiment says over a board's line: what an hour of a board's time is worth."""

import asyncio
from typing import Any

import pytest
import target_jobs
from nicbed.layouts.board import BAUD
from nicbed.testbench.backends.board.backend import BoardBackend
from nicbed.testbench.backends.board.line import Line
from nicbed.testbench.backends.board.memory import PagedMemory
from nicbed.testbench.benches import get
from nicbed.testbench.benches import run as run_bench
from test_board_identity import lab

pytestmark = pytest.mark.xdist_group("board")
SLOTS = 10
"""Bits of a byte on the line."""
LATENCY = 0.001
"""Seconds of a round trip over USB."""


class Counter:
    """A port that counts the bytes of both ways."""

    def __init__(self, port: Any) -> None:
        self._port = port
        self.sent = self.received = 0

    timeout = property(lambda self: self._port.timeout,
                       lambda self, value: setattr(self._port, "timeout", value))
    in_waiting = property(lambda self: self._port.in_waiting)

    def read(self, size: int) -> bytes:
        found = self._port.read(size)
        self.received += len(found)
        return found

    def write(self, data: bytes) -> int:
        self.sent += len(data)
        return self._port.write(data)

    def reset_input_buffer(self) -> None:
        self._port.reset_input_buffer()


class Traffic:
    """A lab on a board's top whose frames, attentions and pages are counted, resets left out."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.lab, self.port = lab(Counter)
        self.frames = self.attentions = self.pages = 0
        transact, load = Line.transact, PagedMemory.load
        serve, reset = BoardBackend.serve, BoardBackend.reset

        def transacting(line: Line, words: Any, **more: Any) -> Any:
            self.frames += 1
            return transact(line, words, **more)

        def loading(memory: PagedMemory, page: int) -> Any:
            self.pages += 1
            return load(memory, page)

        async def serving(backend: BoardBackend, attention: Any) -> None:
            def one() -> bool:
                self.attentions += 1
                return attention()
            await serve(backend, one)

        async def resetting(backend: BoardBackend, switches: Any) -> None:
            before = self.frames, self.port.sent, self.port.received
            await reset(backend, switches)
            self.frames, self.port.sent, self.port.received = before

        patch.setattr(Line, "transact", transacting)
        patch.setattr(PagedMemory, "load", loading)
        patch.setattr(BoardBackend, "serve", serving)
        patch.setattr(BoardBackend, "reset", resetting)

    def seconds(self) -> float:
        """At BAUD and LATENCY."""
        return (self.port.sent + self.port.received) * SLOTS / BAUD + self.frames * LATENCY


def test_one_round_trip_an_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was read and written: a page that is wanted, or a log that is full, is one more."""
    traffic = Traffic(monkeypatch)
    asyncio.run(target_jobs.exchanges(traffic.lab, requests=20))
    assert traffic.attentions > 100
    assert traffic.frames <= traffic.attentions + traffic.pages
    assert traffic.port.sent < 80 * traffic.attentions + 1500 * traffic.pages
    assert traffic.port.received < 130 * traffic.attentions


@pytest.mark.full
@pytest.mark.parametrize("name", ["rtt", "logp"])
def test_what_a_benchmark_takes(name: str, monkeypatch: pytest.MonkeyPatch,
                                capsys: pytest.CaptureFixture[str]) -> None:
    """Printed, for docs/board.md."""
    traffic = Traffic(monkeypatch)
    found = traffic.lab
    parameters = get(name).module("am").parameters(found.description)
    asyncio.run(run_bench(found, name=name, layer="am", parameters=parameters))
    with capsys.disabled():
        print(f"\n{name}: {traffic.attentions} attentions, {traffic.frames} frames, "
              f"{traffic.pages} pages, {traffic.port.sent} bytes to the board, "
              f"{traffic.port.received} from it: {traffic.seconds():.1f} s, "
              f"{3600 / traffic.seconds():.0f} an hour")
    assert traffic.frames <= traffic.attentions + traffic.pages
