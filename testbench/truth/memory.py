"""What accesses to memory and NIC take by the contracts of the RTL's blocks, where nobody else uses
the bus and the memory: cycles from a description's knobs alone."""

from fractions import Fraction
from math import ceil

from ...layouts.description import Description
from ...layouts.operations import CACHE_LINE
from ...layouts.trace import TICKS

__all__ = ["contract", "copy_ticks", "port_bytes_per_cycle"]

_BEAT = 8


def port_bytes_per_cycle(description: Description) -> Fraction:
    """What the memory's port carries, one beat a cycle at most."""
    return min(Fraction(_BEAT), Fraction(description.memory.bytes_per_cycle))


def contract(description: Description) -> dict[str, int]:
    """Cycles of each access, by the names of the benchmark's accesses (rtl/cpu/tag_cache.py,
    rtl/cpu/host_port.py)."""
    memory, bus = description.memory, description.bus
    beats = CACHE_LINE // _BEAT
    pace = _BEAT / port_bytes_per_cycle(description)
    line = memory.latency + 3 + ceil((beats - 1) * pace)
    """A line's read burst: request, latency, first word, the others."""
    victim = 2 + ceil((beats - 1) * pace)
    """A dirty line written back before."""
    cas = memory.latency + 4 + ceil(pace)
    return {
        "load hit": 1, "store hit": 1, "store hit, exclusive": 1, "store hit, shared": 1,
        **dict.fromkeys(("load miss", "load clean elsewhere", "load dirty elsewhere", "store miss",
                         "store clean elsewhere", "store dirty elsewhere"), line),
        "load miss, dirty victim": victim + line,
        **dict.fromkeys(("cas owned", "cas clean", "cas shared", "cas miss",
                         "cas dirty elsewhere"), cas),
        "NIC read": 1 + bus.pio_read,
        "NIC write": 1 + bus.pio_write,
    }


def copy_ticks(description: Description, size: int) -> Fraction:
    """Ticks in which one CPU copies ``size`` bytes between lines in memory: each line is read in
    place of a dirty one, and read for ownership in place of a clean one."""
    cycles = contract(description)
    lines = size // CACHE_LINE
    work = Fraction(TICKS * description.cpu.copy_word * size // 8) * Fraction(
        description.nic.clock_mhz) / Fraction(description.cpu.clock_mhz)
    return lines * (cycles["load miss, dirty victim"] + cycles["store miss"]) * TICKS + work
