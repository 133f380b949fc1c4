"""The time that a CPU spent: by the counts of its port, and by the operations that it gave to its
target."""

from collections import Counter
from fractions import Fraction
from types import TracebackType
from typing import Any
from unittest.mock import patch

from nicbed.host.port.port import Port
from nicbed.host.port.work import Work
from nicbed.layouts.operations import Op
from nicbed.layouts.trace import TICKS

__all__ = ["Spent", "cpu_cycles"]

_WATCH, _POLL = int(Op.WATCH), int(Op.POLL)


def cpu_cycles(port: Work) -> int:
    """CPU cycles of all cost items and paths that ``port`` has charged so far. Computation
    (``[apps]``) is not among them."""
    price = port.costs.price
    return (sum(charge.count * charge.cycles for charge in port._charges)
            + sum(price.get(item, 0) * count for item, count in port._items.items())
            + port._check_count * price["poll_check"])


class Spent:
    """Inside this context all that makes time pass is noted: what ports are given (:meth:`given`),
    delays, computation, what ports take back."""

    def __init__(self) -> None:
        self._ticks: Counter[int] = Counter()
        self._delayed: Counter[Any] = Counter()
        self._computed: Counter[Any] = Counter()
        self._taken: Counter[Any] = Counter()
        delay, compute, take = Port.delay, Work._compute, Work.take

        async def delaying(port: Port, cycles: int) -> None:
            self._delayed[id(port)] += max(cycles, 0)
            await delay(port, cycles)

        def computing(port: Work, cycles: Fraction) -> None:
            before = port._fraction
            compute(port, cycles)
            self._computed[id(port)] += cycles + before - port._fraction

        def taking(port: Work) -> int:
            cycles = take(port)
            self._taken[id(port)] += cycles
            return cycles

        self._patches = [patch.object(Port, "delay", delaying),
                         patch.object(Work, "_compute", computing),
                         patch.object(Work, "take", taking)]

    def __enter__(self) -> "Spent":
        for one in self._patches:
            one.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        for one in self._patches:
            one.stop()

    def given(self, port: int, entries: list[tuple[Any, ...]]) -> None:
        """``port`` got ``entries``: the work before each, in ticks. That of a watch is what a check
        takes, and that of a poll before it is elsewhere."""
        for word, work, *_, before, _, _ in entries:
            op = word & 15
            self._ticks[port] += 0 if op == _WATCH else before if op == _POLL else work

    def check(self, port: Port) -> None:
        """All that ``port`` charged, and delays, are in its operations, or still to come, or were
        taken back for waits; and nothing else is."""
        costs = port.costs
        check = costs.price["poll_check"] * costs.numerator // costs.denominator
        took = (self._ticks[port.number] + check * port._check_count
                + Fraction(port.parts, costs.denominator)
                + TICKS * self._taken[id(port)])
        spent = (costs.ticks(cpu_cycles(port) + int(self._computed[id(port)]))
                 + TICKS * self._delayed[id(port)])
        assert took == spent, (f"port {port.number}: operations, and what is still to come, took "
                               f"{took} ticks, and {spent} were spent")
