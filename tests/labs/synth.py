"""Common parts of the tests of ``nicbed synth``."""

from collections.abc import Callable
from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from nicbed.rtl.boards.devices.top import SIDE

__all__ = ["Blinker", "failure"]


class Blinker(wiring.Component):
    """The smallest thing that is behind a board's pins: counters, one within the other."""

    def __init__(self, width: int = 8, depth: int = 0) -> None:
        self.width, self.depth = width, depth
        super().__init__(dict(SIDE.members))

    def elaborate(self, platform):
        m = Module()
        count = Signal(self.width)
        m.d.sync += count.eq(count * (count if self.depth else 1) + self.rx)
        m.d.comb += [self.tx.eq(count[-1]), self.running.eq(count[0])]
        if self.depth:
            m.submodules.inner = inner = Blinker(self.width, self.depth - 1)
            m.d.comb += [inner.rx.eq(count.xor()), self.tx.eq(inner.tx)]
        return m


def failure(capsys: Any, run: Callable[..., Any], *arguments: str) -> tuple[int, str]:
    """Status and line of a command that is to fail."""
    with pytest.raises(SystemExit) as ended:
        run(*arguments)
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return ended.value.code, error
