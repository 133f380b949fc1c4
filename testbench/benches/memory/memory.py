"""The benchmark of a node's memory system: measurement and evaluation."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ....layouts.description import Description
from ....layouts.trace import TICKS
from ...errors import UserError
from ...estimate.compare import check
from ...results.document import cycles, number
from ...truth.memory import contract, copy_ticks, port_bytes_per_cycle
from ...wording import counted
from ..benchmark import Benchmark, Tell
from ..common.headline import Headline, Series
from ..fields import Outcome
from . import report
from .accesses import ACCESSES, measure_access, samples
from .machines import compared
from .nic import DMA_BYTES, measure_dma, measure_pio
from .results import MemoryParameters, MemoryResults
from .sharing import (
    LOCKS,
    copied_bytes,
    measure_barrier,
    measure_cas,
    measure_copy,
    measure_lock,
    measure_ping_pong,
)

__all__ = ["Memory"]

REST = 1 << 18
"""Bytes of host memory for what is not sized by the caches: rings, a message, shared words."""


class Memory(Benchmark):
    """A node's memory system."""

    Parameters = MemoryParameters
    Results = MemoryResults

    def parameters(self, description: Description) -> MemoryParameters:
        """Each access on up to 16 lines; what is shared by 1 to ``node.cpus`` CPUs."""
        cpus, cache = description.node.cpus, description.cpu.cache_bytes
        needed = (2 * cpus + 2) * cache + REST
        if needed > description.memory.bytes:
            knob = "l2_lines" if description.cpu.l2_lines else "cache_lines"
            raise UserError(f"memory needs {needed} bytes of host memory for caches of {cache} "
                            f"bytes (cpu.{knob}): memory.bytes = {description.memory.bytes}")
        return MemoryParameters(samples(description), list(range(1, cpus + 1)),
                                copied_bytes(description),
                                dma=DMA_BYTES if _sends_by_dma(description) else 0)

    async def measure(self, lab: Any, layer: str, parameters: MemoryParameters, tell: Tell
                      ) -> dict[str, Any]:
        """One run for each access, and for each number of CPUs."""
        every, rounds = parameters.cpus, parameters.rounds
        accesses = [access for access in ACCESSES if access.possible(lab.description)]
        steps = len(accesses) + len(every) + 2
        found: dict[str, Any] = {"accesses": {}, "copy": {}, "cas": {}, "barrier": {},
                                 "locks": {name: {} for name in LOCKS}, "ping-pong": None,
                                 "dma": None}
        for index, access in enumerate(accesses):
            tell(access.name, index, steps)
            found["accesses"][access.name] = await measure_access(lab, access, parameters.lines)
        for cpus in every:
            tell(f"{counted(cpus, 'CPU')} at once", len(accesses) + cpus - 1, steps)
            found["copy"][cpus] = await measure_copy(lab, cpus)
            found["cas"][cpus] = await measure_cas(lab, cpus, rounds)
            for name, kind in LOCKS.items():
                found["locks"][name][cpus] = await measure_lock(lab, kind, cpus, rounds)
            found["barrier"][cpus] = await measure_barrier(lab, cpus, rounds)
        tell("the NIC", steps - 2, steps)
        if len(every) > 1:
            found["ping-pong"] = await measure_ping_pong(lab, parameters.trips)
        found["pio"] = await measure_pio(lab)
        if parameters.dma:
            found["dma"] = await measure_dma(lab, parameters.dma)
        return found

    def evaluate(self, raw: Mapping[str, Any], description: Description,
                 parameters: MemoryParameters) -> Outcome:
        """Cycles of each access beside the contract's, bandwidth and times by number of CPUs,
        published figures."""
        truth, rounds = contract(description), parameters.rounds
        accesses, checks = _accesses(raw, truth)
        copy = {cpus: Fraction(cpus * parameters.copied * TICKS, ticks)
                for cpus, ticks in raw["copy"].items()}
        checks += _copy_checks(raw, copy, description, parameters)
        checks += _sharing_checks(raw, rounds)
        trip = None if raw["ping-pong"] is None else Fraction(raw["ping-pong"],
                                                              2 * parameters.trips)
        if trip is not None:
            least = truth["load dirty elsewhere"]
            checks.append(check("a word to another CPU takes at least a line's transfer",
                                trip >= least * TICKS, f"{cycles(trip)} cycles, a load of the line "
                                f"{cycles(least * TICKS)}"))

        def each(by_cpus: Mapping[int, Mapping[str, Any]]) -> dict[str, float]:
            return {str(cpus): cycles(Fraction(one["ticks"], cpus * rounds))
                    for cpus, one in by_cpus.items()}

        results = MemoryResults(
            accesses={name: cycles(ticks) for name, ticks in accesses.items()},
            ping_pong=None if trip is None else cycles(trip),
            copy={str(cpus): number(rate) for cpus, rate in copy.items()}, cas=each(raw["cas"]),
            locks={name: each(by_cpus) for name, by_cpus in raw["locks"].items()},
            barrier={str(cpus): cycles(Fraction(ticks, rounds))
                     for cpus, ticks in raw["barrier"].items()},
            dma=None if raw["dma"] is None else number(raw["dma"]),
            cache_bytes=description.cpu.cache_bytes, line_bytes=description.cpu.line_bytes)
        return Outcome(
            results=replace(results, published=compared(description, results)),
            truth={"accesses": {name: cycles(truth[name] * TICKS) for name in accesses},
                   "copy": cycles(copy_ticks(description, parameters.copied))},
            points={"accesses": {name: [cycles(one) for one in ticks]
                                 for name, ticks in raw["accesses"].items()},
                    "cas_attempts": {str(cpus): one["attempts"]
                                     for cpus, one in raw["cas"].items()}},
            checks=checks)

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """Accesses; what is shared, by number of CPUs; published figures where there are some."""
        return report.tables(document, self.results(document))

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """Accesses as bars; beside them bandwidth and hand-over by number of CPUs."""
        report.draw(self.results(document), document["clock_mhz"], figure)

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """Misses, CAS, a word to another CPU, copies, locks."""
        return report.headline(self.results(document), document["clock_mhz"])

    def series(self, document: Mapping[str, Any]) -> Series:
        """Copy bandwidth by number of CPUs."""
        return report.series(self.results(document), document["clock_mhz"])


def _sends_by_dma(description: Description) -> bool:
    """Whether a NIC fetches bulk data of Active Messages, which a CPU sends by itself."""
    return description.nic.processor != "none" or description.nic.send_ring > 0


def _accesses(raw: Mapping[str, Any], truth: Mapping[str, Any]
              ) -> tuple[dict[str, Fraction], list[dict[str, Any]]]:
    """The mean ticks of each access, and whether all are what the contract says."""
    accesses, checks = {}, []
    for name, ticks in {**raw["accesses"], **raw["pio"]}.items():
        accesses[name] = Fraction(sum(ticks), len(ticks))
        wrong = [one for one in ticks if one != truth[name] * TICKS]
        checks.append(check(f"{name}: as the contract says", not wrong,
                            f"{cycles(wrong[0] if wrong else ticks[0])} cycles, and the contract "
                            f"says {cycles(truth[name] * TICKS)}"))
    return accesses, checks


def _sharing_checks(raw: Mapping[str, Any], rounds: int) -> list[dict[str, Any]]:
    lost = {cpus: one["word"] for cpus, one in raw["cas"].items() if one["word"] != cpus * rounds}
    checks = [check("CAS loses no count", not lost, f"of {rounds} a CPU: {lost or 'none'} lost")]
    for name, by_cpus in raw["locks"].items():
        shared = {cpus: one["together"] for cpus, one in by_cpus.items() if one["together"]}
        checks.append(check(f"{name}: one CPU at a time", not shared,
                            f"two had it, by number of CPUs: {shared}" if shared else "always"))
    return checks


def _copy_checks(raw: Mapping[str, Any], copy: Mapping[int, Fraction], description: Description,
                 parameters: MemoryParameters) -> list[dict[str, Any]]:
    expected = copy_ticks(description, parameters.copied)
    port = port_bytes_per_cycle(description)
    # Each line copied is read twice, once for the store, and written back once; by block stores
    # read and written once. A line more or less is carried at the ends of the time; where its
    # write is posted, one a CPU, and most of the beat before it.
    block, line = description.cpu.copy_by == "block", description.cpu.line_bytes
    carried = max(Fraction(((2 if block else 3) * cpus * parameters.copied
                            - (cpus * line + 8 if block else line)) * TICKS, ticks)
                  for cpus, ticks in raw["copy"].items())
    return [
        check("one CPU copies as fast as its accesses add up to",
              abs(raw["copy"][1] - expected) <= TICKS,
              f"{cycles(raw['copy'][1])} cycles, and they take {cycles(expected)}"),
        check("no more is copied than the memory carries", carried <= port,
              f"{float(carried):.3f} bytes a cycle to and fro, {float(port):.3f} carried"),
        check("more CPUs copy no less", min(copy.values()) >= copy[1] * Fraction(98, 100),
              f"{float(min(copy.values())):.3f} bytes a cycle, one CPU {float(copy[1]):.3f}"),
    ]
