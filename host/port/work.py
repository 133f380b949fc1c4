"""A CPU's work: counts of cost items and paths, and their time in parts of a tick.

A part is 1/``costs.denominator`` of a tick, and a CPU cycle is ``costs.numerator`` parts: both are
whole numbers of them. An operation takes whole ticks, and what is below one stays: no time is ever
lost.
"""

from collections import Counter
from fractions import Fraction

from ...layouts.trace import TICKS
from .costs import Costs, Path

__all__ = ["Charge", "Work"]


class Charge:
    """A path as a port charges it, or several that are always charged one behind the other: how
    many ``cycles`` of the CPU they take, the ``parts`` of a tick that these are, and how often they
    were charged so far."""

    __slots__ = ("paths", "cycles", "parts", "count")

    def __init__(self, paths: tuple[Path, ...], cycles: int, parts: int) -> None:
        self.paths = paths
        self.cycles = cycles
        self.parts = parts
        self.count = 0


class Work:
    """The work of one CPU at the prices of ``costs``.

    Attributes
    ----------
    parts
        What was spent and is in no operation yet, in 1/``costs.denominator`` of a tick.
    rounded
        ``parts`` as they were where work was last rounded to ticks: at the last operation or mark,
        which rounds also if it is not kept.
    """

    __slots__ = ("costs", "parts", "rounded", "_numerator", "_denominator", "_charges", "_items",
                 "_price", "_check_count", "_fraction")

    def __init__(self, costs: Costs) -> None:
        self.costs = costs
        self.parts = 0
        self.rounded = 0
        self._numerator = costs.numerator
        self._denominator = costs.denominator
        self._charges: list[Charge] = []
        self._items: Counter[str] = Counter()
        self._price = {item: price * costs.numerator for item, price in costs.price.items()}
        """Parts of a tick that each item takes."""
        self._check_count = 0
        self._fraction = Fraction(0)
        """What :meth:`compute` has not charged yet, below one CPU cycle."""

    def work(self, item: str, count: int = 1) -> None:
        """Spend ``count`` of the cost item ``item``."""
        if count < 0:
            raise ValueError(f"count must not be negative, not {count}")
        try:
            self.parts += self._price[item] * count
        except KeyError:
            raise ValueError(f"unknown cost item {item!r}; there are {', '.join(self._price)}"
                             ) from None
        self._items[item] += count

    def compute(self, item: str, count: int) -> None:
        """Spend ``count`` of ``item``, one of APP_ITEMS. Fractions of a CPU cycle add up."""
        if item not in self.costs.rate:
            raise ValueError(f"unknown item {item!r}; there are {', '.join(self.costs.rate)}")
        if count < 0:
            raise ValueError(f"count must not be negative, not {count}")
        self._items[item] += count
        self._compute(self.costs.rate[item] * count)

    def compute_cycles(self, cycles: Fraction) -> None:
        """Spend ``cycles`` of the CPU that belong to no item. Fractions of a cycle add up."""
        if cycles < 0:
            raise ValueError(f"cycles must not be negative, not {cycles}")
        self._compute(cycles)

    def _compute(self, cycles: Fraction) -> None:
        whole, self._fraction = divmod(cycles + self._fraction, 1)
        self.parts += int(whole) * self._numerator

    def take(self) -> int:
        """Take back what was spent and is in no operation yet, but for the part below a cycle;
        return it in target cycles. The caller spends them in another way."""
        cycles, self.parts = divmod(self.parts, TICKS * self._denominator)
        return cycles

    def path(self, path: Path, scale: Fraction | None = None) -> Charge:
        """Register ``path``, with a factor ``scale`` in place of ``cpu.path_scale`` if given;
        return what :meth:`spend` takes."""
        return self._charge((path,), self.costs.cycles(path, scale))

    def joint(self, *charges: Charge) -> Charge:
        """One charge for registered paths that are always spent together, with no operation and no
        mark in between. Each counts as if it were spent alone."""
        return self._charge(sum((one.paths for one in charges), ()),
                            sum(one.cycles for one in charges))

    def _charge(self, paths: tuple[Path, ...], cycles: int) -> Charge:
        charge = Charge(paths, cycles, cycles * self._numerator)
        self._charges.append(charge)
        return charge

    def spend(self, charge: Charge) -> None:
        """Spend a path that was registered with this port."""
        charge.count += 1
        self.parts += charge.parts

    def tally(self) -> Counter[str]:
        """Returns how many of each cost item were spent so far. Of a spinning poll's checks, only
        the one that held counts."""
        tally = Counter(self._items)
        tally["poll_check"] += self._check_count
        for charge in self._charges:
            for path in charge.paths:
                for item, times in path.items.items():
                    tally[item] += times * charge.count
        return +tally

    def paths(self) -> Counter[str]:
        """Tells how often each path was spent so far."""
        counts: Counter[str] = Counter()
        for charge in self._charges:
            for path in charge.paths:
                counts[path.name] += charge.count
        return +counts

    def _pending(self) -> int:
        """What is in no operation yet, in ticks: it is rounded here."""
        self.rounded = self.parts
        return self.parts // self._denominator
