"""What accesses to memory and NIC take by the contracts of the RTL's blocks, where nobody else uses
the bus and the memory: cycles from a description's knobs alone."""

from fractions import Fraction
from math import ceil

from ...layouts.description import Description
from ...layouts.trace import TICKS

__all__ = ["contract", "copy_ticks", "port_bytes_per_cycle"]

_BEAT = 8


def port_bytes_per_cycle(description: Description) -> Fraction:
    """What the memory's port carries, one beat a cycle at most."""
    return min(Fraction(_BEAT), Fraction(description.memory.bytes_per_cycle))


def contract(description: Description) -> dict[str, int]:
    """Cycles of each access, by the names of the benchmark's accesses (rtl/cpu/host_port.py;
    rtl/cpu/tag_cache.py, of several CPUs rtl/cpu/coherent_cache.py)."""
    memory, cpu, bus = description.memory, description.cpu, description.bus
    beats = cpu.line_bytes // _BEAT
    pace = _BEAT / port_bytes_per_cycle(description)
    several = description.node.cpus > 1
    # A line's read burst: request, latency, first word, the others; a dirty line written back.
    line = memory.latency + 3 + ceil((beats - 1) * pace)
    victim = 2 + ceil((beats - 1) * pace)
    # A line that this CPU's cache has dirty or as the only one; that others have, too.
    owned = 1
    shared = memory.upgrade if several else owned
    if description.nic.attachment == "memory_bus":
        shared = exclusive = 2
    else:
        exclusive = owned
    dirty = line + memory.intervention
    found = {
        "load hit": 1, "load miss": line, "load miss, dirty victim": victim + line,
        "load clean elsewhere": line, "load dirty elsewhere": dirty,
        "store hit": owned, "store hit, exclusive": exclusive, "store hit, shared": shared,
        "store miss": line, "store clean elsewhere": line, "store dirty elsewhere": dirty,
        "NIC read": 1 + bus.pio_read, "NIC write": 1 + bus.pio_write,
    }
    for name, access in (("owned", "hit"), ("clean", "hit, exclusive"), ("shared", "hit, shared"),
                         ("miss", "miss"), ("dirty elsewhere", "dirty elsewhere")):
        found[f"cas {name}"] = (found[f"store {access}"] + cpu.cas - 1 if several
                                else memory.latency + 5)
    return found


def copy_ticks(description: Description, size: int) -> Fraction:
    """Ticks in which one CPU copies ``size`` bytes between lines in memory: each line is read in
    place of a dirty one, and read for ownership in place of a clean one."""
    cycles = contract(description)
    lines = size // description.cpu.line_bytes
    work = Fraction(TICKS * description.cpu.copy_word * size // 8) * Fraction(
        description.nic.clock_mhz) / Fraction(description.cpu.clock_mhz)
    return lines * (cycles["load miss, dirty victim"] + cycles["store miss"]) * TICKS + work
