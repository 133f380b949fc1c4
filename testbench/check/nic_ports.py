"""The ports of a NIC in a check, and the record of their transfers."""

from collections.abc import Callable

from amaranth.lib import data

from .pair import Fields

__all__ = ["NicPorts"]


class NicPorts:
    """A NIC's ports as numbers, by their flat names.

    Parameters
    ----------
    number
        Of the NIC.
    inputs, outputs
        Where each port lies.
    report
        Called with a rule that was broken, the port, and what happened there.

    Attributes
    ----------
    word, seen
        All inputs, and all outputs as they were in the last cycle.
    now
        The cycle.
    spans
        By port: transfers, and the cycles of the first and the last.
    log
        All transfers: cycle, port, value.
    allow
        Whether the NIC was given so many bytes at an address of host memory.
    shared
        Its accesses and bursts go over one bus.
    """

    def __init__(self, number: int, inputs: Fields, outputs: Fields,
                 report: Callable[[str, str, str], None]) -> None:
        self.number = number
        self.broken = report
        self._inputs, self._outputs = inputs.places, outputs.places
        self._layouts = outputs.layouts
        self.word = 0
        self.seen = 0
        self.now = 0
        self.spans: dict[str, list[int]] = {}
        self.log: list[tuple[int, str, int]] = []
        self.allow: Callable[[int, int], bool]
        self._owner: object | None = None
        self.shared = False

    def values(self, port: str) -> str:
        """Describes the content of ``port`` in words."""
        prefix = port.replace("[", "__").replace("]", "").replace(".", "__")
        found = {}
        for name in self._outputs:
            if not name.startswith(prefix) or name == "broken":
                continue
            value, layout = self.get(name), self._layouts.get(name)
            if layout is None:
                found[name[len(prefix):].lstrip("_").replace("__", ".") or prefix] = value
                continue
            for field, place in iter(data.Layout.cast(layout)):  # type: ignore[call-overload]
                found[str(field)] = value >> place.offset & (1 << place.width) - 1
        return ", ".join(f"{name} = {value:#x}" for name, value in found.items())

    def set(self, name: str, value: int) -> None:
        at, mask = self._inputs[name]
        self.word = self.word & ~(mask << at) | value << at

    def get(self, name: str) -> int:
        at, mask = self._outputs[name]
        return self.seen >> at & mask

    @property
    def irq(self) -> bool:
        return "irq" in self._outputs and bool(self.get("irq"))

    def moved(self, port: str, value: int) -> None:
        """A transfer at ``port``."""
        span = self.spans.setdefault(port, [0, self.now, self.now])
        span[0] += 1
        span[2] = self.now
        self.log.append((self.now, port, value))

    def bus_for(self, who: object, asks: int | bool) -> bool:
        """Tells whether the bus is free for ``who``, and its from now on if it ``asks``."""
        if not self.shared:
            return True
        if self._owner is None and asks:
            self._owner = who
        return self._owner is who

    def bus_free(self, who: object) -> None:
        if self._owner is who:
            self._owner = None
