"""Computes what accesses to memory and NIC take by the contracts of the RTL's blocks, where nobody
else uses the bus and the memory: cycles from a description's knobs alone."""

from fractions import Fraction

from ...layouts.description import Description
from ...layouts.rate import fixed_point
from ...layouts.trace import TICKS

__all__ = ["contract", "copy_ticks", "port_bytes_per_cycle"]

_BEAT = 8


class _Port:
    """The memory's port: when it carries the beats of an access that begins in cycle 0.

    A beat occupies the port for ``memory.width`` / ``memory.bytes_per_cycle`` cycles; fractions add
    up. Of a line it has ``memory.width`` bytes.
    """

    def __init__(self, description: Description) -> None:
        memory, cpu = description.memory, description.cpu
        self._rate = fixed_point(memory.word_rate)
        self._beat_costs = fixed_point(Fraction(_BEAT))
        self._owed = self._at = 0
        self._latency = memory.latency
        self._beats = cpu.line_bytes // memory.width
        self._cas = cpu.cas
        self._last = "read"

    def _free(self, earliest: int) -> int:
        """The cycle, from ``earliest`` on, in which a beat may be carried."""
        cycle = earliest
        while True:
            self._owed = max(0, self._owed - self._rate * (cycle - self._at))
            self._at = cycle
            if self._owed <= self._rate:
                return cycle
            cycle += 1

    def beat(self, earliest: int) -> int:
        """The cycle, from ``earliest`` on, in which a beat is carried."""
        cycle = self._free(earliest)
        self._owed += self._beat_costs - (self._rate if self._owed else 0)
        self._at = cycle + 1
        return cycle

    def _burst(self, first: int) -> int:
        """The last beat of a line whose first is carried in ``first`` or later."""
        for _ in range(self._beats):
            first = self.beat(first) + 1
        return first - 1

    def read(self, begin: int) -> int:
        """The cycle after a line's read: request, latency, beats, handed over a cycle later."""
        return self._burst(begin + self._latency + 1) + 2

    def write_and_read(self, write: int | None, begin: int) -> tuple[int, int]:
        """The cycles after the write of a line that a block store put into its buffer in cycle
        ``write`` (None: nothing is there), and after a line's read that begins later, in
        ``begin``. They take turns if both want the port."""
        wants = {"read": begin + self._latency + 1}
        if write is not None:
            wants["write"] = write + 2
        left = dict.fromkeys(wants, self._beats)
        ends = {"write": 0}
        while left:
            cycle = self._free(min(wants.values()))
            ready = [name for name in left if wants[name] <= cycle]
            turn = next((name for name in ready if name != self._last), ready[0])
            self._last = turn
            wants[turn] = self.beat(cycle) + 1
            left[turn] -= 1
            if not left[turn]:
                ends[turn] = wants.pop(turn)
                del left[turn]
        return ends["write"], ends["read"] + 1

    def write_back(self, begin: int) -> int:
        """The cycle after a line's write: request, beats."""
        return self._burst(begin + 1) + 1

    def swap(self, begin: int) -> int:
        """The cycle after a compare-and-swap past the cache: request, latency, word, write."""
        return self.beat(self.beat(begin + self._latency + 1) + 3) + 1

    def owned_swap(self, begin: int) -> int:
        """The cycle after a compare-and-swap of a line that is owned from ``begin`` on."""
        return self.beat(self.beat(begin + self._cas - 4) + 3) + 1


def port_bytes_per_cycle(description: Description) -> Fraction:
    """Returns what the memory's port carries of lines, one beat a cycle at most."""
    return Fraction(description.memory.bytes_per_cycle)


def contract(description: Description) -> dict[str, int]:
    """Cycles of each access, by the names of the benchmark's accesses (rtl/cpu/host_port.py;
    rtl/cpu/tag_cache.py, of several CPUs rtl/cpu/coherent_cache.py; of two levels
    rtl/cpu/inner_cache.py, too)."""
    memory, bus = description.memory, description.bus
    several = description.node.cpus > 1
    upgrade = (memory.upgrade if several else 2 if description.nic.attachment == "memory_bus"
               else 1)
    stores = {"hit": 1, "hit, exclusive": 1 if several else upgrade, "hit, shared": upgrade}
    reads = {"miss": 0, "clean elsewhere": 0,
             "dirty elsewhere": memory.intervention if several else 0}
    """Misses, and what comes before the line's read."""
    victim = _Port(description)
    found = {"load hit": 1, "load miss, dirty victim": victim.read(victim.write_back(0)),
             "NIC read": 1 + bus.pio_read_cycles, "NIC write": 1 + bus.pio_write_cycles}
    if description.cpu.l2_lines:
        found["load second level"] = description.cpu.l2_hit
    found |= {f"store {name}": cycles for name, cycles in stores.items()}
    for name, before in reads.items():
        for access in ("load", "store"):
            found[f"{access} {name}"] = _Port(description).read(before)
    if description.cpu.copy_by == "block":
        found |= dict.fromkeys(("block store", "block store hit", "block store dirty elsewhere"), 1)
        # It is in the buffer from cycle 1 on.
        port = _Port(description)
        free = port.write_back(1)
        found |= {"block store behind another": free,
                  "load behind a block store": port.read(free) - 1}
    for name, store in (("owned", "hit"), ("clean", "hit, exclusive"), ("shared", "hit, shared"),
                        ("miss", "miss"), ("dirty elsewhere", "dirty elsewhere")):
        port = _Port(description)
        if not several and description.cpu.cas_place == "memory":
            found[f"cas {name}"] = port.swap(0)
            continue
        # The swap begins in the last cycle of the store that takes the line.
        taken = port.read(reads[store]) if store in reads else stores[store]
        found[f"cas {name}"] = port.owned_swap(taken - 1)
    return found


def copy_ticks(description: Description, size: int) -> Fraction:
    """Ticks in which one CPU copies ``size`` bytes between lines in memory: each line is read in
    place of a dirty one, and read for ownership in place of a clean one. By block stores it is read
    in place of a clean one, while the line before is written, and stored in a cycle if that has
    passed."""
    cost = Fraction(description.nic.clock_mhz) / Fraction(description.cpu.clock_mhz)
    line = description.cpu.line_bytes
    block = description.cpu.copy_by == "block"
    work = (description.cpu.copy_line if block else
            description.cpu.copy_word * line // _BEAT) * cost
    port, cycle, spent = _Port(description), 0, Fraction(0)
    posted: int | None = None
    for _ in range(size // line):
        spent += work
        cycle += int(spent)
        spent -= int(spent)
        if block:
            written, cycle = port.write_and_read(posted, cycle)
            posted = max(cycle, written)
            cycle = posted + 1
        else:
            cycle = port.read(port.read(port.write_back(cycle)))
    return (cycle + spent) * TICKS
