"""A component is converted once, and never taken for another."""

from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib.wiring import Component, Out

from tests.labs import netlists


class Counter(Component):
    def __init__(self, width: int, step: Any = 1, start: int = 0) -> None:
        super().__init__({"o": Out(width)})
        self.step = step
        self.value = Signal(width, init=start)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        step = self.step() if callable(self.step) else self.step
        m.d.sync += self.value.eq(self.value + step)
        m.d.comb += self.o.eq(self.value)
        return m


def inverted(component: Any) -> Any:
    component.step = -1
    return component


@pytest.fixture
def converted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The netlists that were made."""
    made: list[str] = []

    def rtlil(component: Any, name: str) -> str:
        made.append(real(component, name))
        return made[-1]

    real = netlists.rtlil
    monkeypatch.setattr(netlists, "rtlil", rtlil)
    monkeypatch.setattr(netlists, "_CONVERTED", {})
    return made


def test_an_equal_one_is_not_converted_again(converted: list[str]) -> None:
    one, equal = (netlists.netlist(Counter(8, lambda: 3)) for _ in range(2))
    assert one is equal and len(converted) == 1


def test_another_one_is_another(converted: list[str]) -> None:
    found = [netlists.netlist(one) for one in (
        Counter(8), Counter(9), Counter(8, 2), Counter(8, start=7), Counter(8, lambda: 4),
        Counter(8, lambda: 5), *(Counter(8, lambda by=by: by) for by in (6, 7)))]
    found.append(netlists.netlist(Counter(8), inverted))
    assert len(converted) == len(set(found)) == len(found)


def test_blocks_without_a_key_are_always_converted(converted: list[str]) -> None:
    for _ in range(2):
        netlists.netlist(Counter(8, b"four".__len__))
    assert len(converted) == 2
