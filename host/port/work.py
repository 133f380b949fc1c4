"""A CPU's work: counts of cost items and paths, and CPU cycles converted into ticks.

The conversion from CPU cycles to ticks keeps the remainder, so no time is ever lost.
"""

from collections import Counter
from fractions import Fraction

from .costs import Costs, Path

__all__ = ["Charge", "Work"]


class Charge:
    """A path as a port charges it, or several that are always charged one behind the other: how
    many ``cycles`` of the CPU they take, and how often they were charged so far."""

    __slots__ = ("paths", "cycles", "count")

    def __init__(self, paths: tuple[Path, ...], cycles: int) -> None:
        self.paths = paths
        self.cycles = cycles
        self.count = 0


class Work:
    """The work of one CPU at the prices of ``costs``.

    Attributes
    ----------
    cpu_cycles
        All CPU cycles that were turned into time so far.
    untimed
        CPU cycles that were spent and not turned into time yet.
    """

    __slots__ = ("costs", "cpu_cycles", "untimed", "_ticks", "_remainder", "_numerator",
                 "_denominator", "_charges", "_items", "_price", "_check_count", "_part")

    def __init__(self, costs: Costs) -> None:
        self.costs = costs
        self.cpu_cycles = 0
        self.untimed = 0
        self._ticks = 0
        """Ticks not yet in an operation."""
        self._remainder = 0
        self._numerator = costs.numerator
        self._denominator = costs.denominator
        self._charges: list[Charge] = []
        self._items: Counter[str] = Counter()
        self._price = costs.price
        self._check_count = 0
        self._part = Fraction(0)
        """What :meth:`compute` has not charged yet, below one CPU cycle."""

    def work(self, item: str, count: int = 1) -> None:
        """Spend ``count`` of the cost item ``item``."""
        price = self._price.get(item)
        if price is None:
            raise ValueError(f"unknown cost item {item!r}; there are {', '.join(self._price)}")
        if count < 0:
            raise ValueError(f"count must not be negative, not {count}")
        self._items[item] += count
        self.untimed += price * count

    def compute(self, item: str, count: int) -> None:
        """Spend ``count`` of ``item``, one of APP_ITEMS. Fractions of a CPU cycle add up."""
        if item not in self.costs.rate:
            raise ValueError(f"unknown item {item!r}; there are {', '.join(self.costs.rate)}")
        if count < 0:
            raise ValueError(f"count must not be negative, not {count}")
        self._items[item] += count
        whole, self._part = divmod(self.costs.rate[item] * count + self._part, 1)
        self.untimed += int(whole)

    def compute_cycles(self, cycles: Fraction) -> None:
        """Spend ``cycles`` of the CPU that belong to no item. Fractions of a cycle add up."""
        if cycles < 0:
            raise ValueError(f"cycles must not be negative, not {cycles}")
        whole, self._part = divmod(cycles + self._part, 1)
        self.untimed += int(whole)

    def path(self, path: Path, scale: Fraction | None = None) -> Charge:
        """Register ``path``, with a factor ``scale`` in place of ``cpu.path_scale`` if given;
        return what :meth:`spend` takes."""
        charge = Charge((path,), self.costs.cycles(path, scale))
        self._charges.append(charge)
        return charge

    def joint(self, *charges: Charge) -> Charge:
        """One charge for registered paths that are always spent together, with no operation and no
        mark in between. Each counts as if it were spent alone."""
        charge = Charge(sum((one.paths for one in charges), ()),
                        sum(one.cycles for one in charges))
        self._charges.append(charge)
        return charge

    def spend(self, charge: Charge) -> None:
        """Spend a path that was registered with this port."""
        charge.count += 1
        self.untimed += charge.cycles

    def tally(self) -> Counter[str]:
        """How many of each cost item were spent so far. Of a spinning poll's checks, only the one
        that held counts."""
        tally = Counter(self._items)
        tally["poll_check"] += self._check_count
        for charge in self._charges:
            for path in charge.paths:
                for item, times in path.items.items():
                    tally[item] += times * charge.count
        return +tally

    def paths(self) -> Counter[str]:
        """How often each path was spent so far."""
        counts: Counter[str] = Counter()
        for charge in self._charges:
            for path in charge.paths:
                counts[path.name] += charge.count
        return +counts

    def _pending(self) -> int:
        """Work not yet in an operation, in ticks; keeps the remainder of the conversion."""
        if self.untimed:
            self.cpu_cycles += self.untimed
            done, self._remainder = divmod(self.untimed * self._numerator + self._remainder,
                                           self._denominator)
            self._ticks += done
            self.untimed = 0
        return self._ticks
