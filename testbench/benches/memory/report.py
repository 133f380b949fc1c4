"""Tables, plot and headline figures of the memory system's benchmark."""

from collections.abc import Mapping
from typing import Any

from ...results.tables import amount, percent, table
from ..common.headline import Headline, Series
from .accesses import ACCESSES
from .results import MemoryResults, PublishedMachine

__all__ = ["draw", "headline", "series", "tables"]


def _nanoseconds(cycles: float | None, clock_mhz: float) -> str:
    return "-" if cycles is None else amount(1000 * cycles / clock_mhz, 1)


def _each(found: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(found.items(), key=lambda item: int(item[0]))


def _sizes(cpu: Mapping[str, Any], results: MemoryResults) -> str:
    """KB of a CPU's cache, of two levels each."""
    levels = [results.cache_bytes]
    if cpu.get("l2_lines"):
        levels.insert(0, cpu["cache_lines"] * results.line_bytes)
    return " and ".join(amount(size / 1024) for size in levels)


def tables(document: Mapping[str, Any], results: MemoryResults) -> list[Any]:
    """Accesses; what is shared, by number of CPUs; published figures where there are some."""
    clock = document["clock_mhz"]
    ratio = _fraction(document["config"]["cpu"]["clock_mhz"]) / clock
    truth = document["truth"]["accesses"]
    before = {access.name: (access.operation, access.before) for access in ACCESSES}
    rows = []
    for name in [*before, "NIC read", "NIC write"]:
        cycles = results.accesses.get(name)
        if cycles is None:
            continue
        operation, where = before.get(name, (name.split()[1], "a register of the NIC"))
        rows.append((operation, where, amount(cycles), _nanoseconds(cycles, clock),
                     amount(cycles * ratio), amount(truth[name])))
    if results.ping_pong is not None:
        trip = results.ping_pong
        rows.append(("store, then load", "one word to another CPU", amount(trip),
                     _nanoseconds(trip, clock), amount(trip * ratio), "-"))
    sizes = _sizes(document["config"]["cpu"], results)
    found: list[Any] = [table(
        f"An access, lines of {results.line_bytes} bytes, caches of {sizes} KB",
        ["access", "the line is", "cycles", "ns", "CPU cycles", "contract"], rows, left=2)]
    columns = ["CPUs", "copy, MB/s", "of each", "CAS", *results.locks, "barrier"]
    rows = [(cpus, amount(rate * clock, 1), amount(rate * clock / int(cpus), 1),
             amount(results.cas[cpus]),
             *(amount(by_cpus[cpus]) for by_cpus in results.locks.values()),
             amount(results.barrier[cpus])) for cpus, rate in _each(results.copy)]
    found.append(table("CPUs at once (cycles: for a CAS that counts, for a lock's hand-over, for a "
                       "barrier)", columns, rows))
    if results.dma is not None:
        found.append(f"the NIC reads memory at {amount(results.dma * clock, 1)} MB/s in its "
                     "longest bursts")
    if results.published is not None:
        found.append(_published(results.published))
    return found


def _published(machine: PublishedMachine) -> Any:
    rows = [(one.name, one.unit, amount(one.published), amount(one.ours),
             percent(None if one.ours is None else one.ours / one.published - 1))
            for one in machine.figures]
    return table(f"Published figures of {machine.machine}",
                 ["figure", "unit", "published", "ours", "error"], rows, left=2)


def _fraction(text: Any) -> float:
    from fractions import Fraction

    return float(Fraction(text))


def draw(results: MemoryResults, clock: float, figure: Any) -> None:
    """Accesses as bars; beside them bandwidth and hand-over by number of CPUs."""
    from ...results.plots import PALETTE, line

    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    names = [access.name for access in ACCESSES if access.name in results.accesses]
    colours = {"load": PALETTE[0], "store": PALETTE[2], "cas": PALETTE[1],
               "block": PALETTE[3]}
    left.barh(names, [results.accesses[name] for name in names], height=0.66,
              color=[colours[name.split()[0]] for name in names])
    left.invert_yaxis()
    left.grid(axis="y", visible=False)
    left.set_xlabel("cycles")
    left.set_title("An access")
    copy = _each(results.copy)
    places = [int(cpus) for cpus, _ in copy]
    right.plot(places, [rate * clock for _, rate in copy], label="copy (MB/s)", **line(0, 3))
    handed = right.twinx()
    for index, (name, by_cpus) in enumerate(results.locks.items()):
        handed.plot(places, [cycles for _, cycles in _each(by_cpus)], label=f"{name} (cycles)",
                    **line(1 + index, 3))
    right.set_xticks(places)
    right.set_xlabel("CPUs")
    right.set_ylabel("MB/s copied by all")
    handed.set_ylabel("hand-over of a lock (cycles)")
    handed.grid(visible=False)
    right.set_ylim(bottom=0)
    handed.set_ylim(bottom=0)
    lines = [*right.get_lines(), *handed.get_lines()]
    right.legend(lines, [one.get_label() for one in lines], loc="best")
    right.set_title("CPUs at once")


def headline(results: MemoryResults, clock: float) -> list[Headline]:
    """Misses, CAS, a word to another CPU, copies, locks."""
    accesses, copy = results.accesses, _each(results.copy)
    found = [Headline(name, accesses.get(name)) for name in
             ("load miss", "load dirty elsewhere", "store hit, shared", "cas owned",
              "cas dirty elsewhere", "NIC read", "NIC write")]
    found.append(Headline("a word to another CPU", results.ping_pong))
    found += [Headline(f"{name}, hand-over, all CPUs", _each(by_cpus)[-1][1])
              for name, by_cpus in results.locks.items()]
    return [*found, Headline("copy, one CPU", copy[0][1] * clock, "MB/s"),
            Headline("copy, all CPUs", copy[-1][1] * clock, "MB/s")]


def series(results: MemoryResults, clock: float) -> Series:
    """Copy bandwidth by number of CPUs."""
    return Series("CPUs", "MB/s copied by all",
                  [(int(cpus), rate * clock) for cpus, rate in _each(results.copy)])
