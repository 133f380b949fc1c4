"""The CPU cost model: named items, each a number of CPU cycles, and the paths made of them.

A layer charges *paths*: declared sums of items, such as "a request with two words". A port counts
how often each was charged, so what a program's CPU did can be listed item by item and added up.
"""

from collections.abc import Mapping
from fractions import Fraction

from ...layouts.description import Apps, Cpu, Description, Section
from ...layouts.trace import TICKS

__all__ = ["APP_ITEMS", "CPU_ITEMS", "Path", "Costs"]

CPU_ITEMS = Cpu.cost_items()
"""Names of the cost items in a NIC description's ``[cpu]``, which every layer's code is made of."""
APP_ITEMS = tuple(name for name in Apps.model_fields if name != "poll_interval")
"""Names of the items that programs charge by the number of their data, as in ``[apps]``. Their
prices may be fractions; no path has them."""


class Path:
    """``name``: what the CPU does; the items, and how many of each the path takes.

    Raises
    ------
    ValueError
        An item's count is negative, or the path costs nothing by declaration. An item that no
        section has is found when the path is registered (:meth:`Costs.cycles`).
    """

    __slots__ = ("name", "items")

    def __init__(self, name: str, **items: int) -> None:
        for item, count in items.items():
            if count < 0:
                raise ValueError(f"path {name!r}: {item} = {count}: must not be negative")
        if not any(items.values()):
            raise ValueError(f"path {name!r} has no items")
        self.name = name
        self.items: Mapping[str, int] = {item: n for item, n in items.items() if n}

    def __repr__(self) -> str:
        return f"Path({self.name!r}, {', '.join(f'{k}={v}' for k, v in self.items.items())})"


class Costs:
    """Prices of a description, and the ratio that turns CPU cycles into target time.

    Attributes
    ----------
    price
        CPU cycles of each item, of all sections (:meth:`.Section.cost_items`).
    scale
        Factor on what a path takes (``cpu.path_scale``).
    rate
        CPU cycles of each of the APP_ITEMS.
    flush_bytes
        Bytes of a line where the bus is not coherent (``bus.coherent``), so that lines have to be
        flushed, else 0.
    posted
        Whether CPU writes to the NIC are posted (``bus.posted``).
    block_bytes
        Bytes of a line where there are block stores (``cpu.copy_by``), else 0.
    numerator, denominator
        Ticks (1/TICKS of a target cycle) a CPU cycle, as a fraction in lowest terms.
    """

    def __init__(self, description: Description) -> None:
        cpu = description.cpu
        self.price: dict[str, int] = {
            item: getattr(section, item) for _, section in description
            if isinstance(section, Section) for item in section.cost_items()}
        self.scale = Fraction(cpu.path_scale)
        self.flush_bytes = 0 if description.bus.coherent else cpu.line_bytes
        self.posted = description.bus.posted
        if self.flush_bytes:
            self.price["poll_check"] += cpu.flush_line
        self.block_bytes = cpu.line_bytes if cpu.copy_by == "block" else 0
        self.rate: dict[str, Fraction] = {item: getattr(description.apps, item)
                                          for item in APP_ITEMS}
        ratio = TICKS * Fraction(description.nic.clock_mhz) / Fraction(cpu.clock_mhz)
        self.numerator = ratio.numerator
        self.denominator = ratio.denominator

    def cycles(self, path: Path, scale: Fraction | None = None) -> int:
        """CPU cycles of ``path``: what its items take, times the factor (``scale`` if given), to
        the nearest cycle.

        Raises
        ------
        ValueError
            An item is unknown.
        """
        price = self.price
        for item in path.items:
            if item not in price:
                raise ValueError(f"path {path.name!r}: unknown cost item {item!r}; there are "
                                 f"{', '.join(price)}")
        return round((self.scale if scale is None else scale)
                     * sum(price[item] * count for item, count in path.items.items()))

    def ticks(self, cpu_cycles: int) -> Fraction:
        """Exact ticks of ``cpu_cycles``."""
        return Fraction(cpu_cycles * self.numerator, self.denominator)
