"""LogGP's parameters of MPI, measured: o_s from the first sends of a stream, o_r from a ping-pong
with a delay, g from the stream's end, L from what is left of half a round trip, G from the growth
of half round trips over sizes, of messages that go eagerly and of longer ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ....host.mpi import Mpi
from ....host.port.node import Node
from ....layouts.description import Description
from ....layouts.trace import TICKS
from ...estimate.fits import fit
from ...estimate.loggp import LogGP
from ...estimate.one_way import few_sends, flight, half_trip, receive_overhead
from ...results.document import number
from ...truth.steady import true_gap
from ..common.programs import programs, stamp
from ..fields import figure
from .pingpong import Plan, measure_plan

__all__ = ["LEAST", "MpiLoggp", "measure_loggp", "parameters_of"]

LEAST = 8
"""Bytes of the messages that o, g and L are of."""
MESSAGES, FEW = 128, 4
BEYOND = Fraction(5, 4)
"""The delay of the ping-pong, in round trips."""


@dataclass(frozen=True, kw_only=True)
class MpiLoggp:
    """LogGP's parameters as a result has them."""

    o_s: float = figure("cycles", "send overhead")
    o_r: float = figure("cycles", "receive overhead")
    g: float = figure("cycles", "gap of a long stream")
    L: float = figure("cycles", "latency")
    per_byte: float = figure("cycles/byte", "G of messages that go eagerly")
    per_byte_long: float = figure("cycles/byte", "G of longer ones")
    least: int = figure("bytes", "length of the messages that o, g and L are of")
    eager: int = figure("bytes", "longest message that goes eagerly")

    @classmethod
    def of(cls, found: LogGP) -> "MpiLoggp":
        """The parameters ``found``, rounded."""
        return cls(o_s=number(found.o_s), o_r=number(found.o_r), g=number(found.g),
                   L=number(found.L), per_byte=number(found.per_byte),
                   per_byte_long=number(found.per_byte_long), least=found.least,
                   eager=found.eager)


def _sizes(description: Description) -> tuple[list[int], list[int]]:
    """Of messages that go eagerly, and of longer ones; with hardly any that go eagerly all are
    alike."""
    eager = description.mpi.eager_of(description.mpi.channel)
    if eager < 8 * LEAST:
        return [LEAST, 64 * LEAST, 1024 * LEAST], []
    return [LEAST, eager // 4, eager], [2 * eager, 8 * eager, 32 * eager]


async def measure_loggp(lab: Any, tell: Any) -> dict[str, Any]:
    """Ping-pongs over sizes, one with a delay, and a stream."""
    every = [size for sizes in _sizes(lab.description) for size in sizes
             if size <= lab.description.memory.bytes // 16]
    found: dict[str, Any] = {"trips": {}}
    for index, size in enumerate(every):
        tell(f"round trips of {size} bytes", index, len(every) + 2)
        found["trips"][size] = (await measure_plan(lab, Plan(size)))["trips"]
    delay = int(BEYOND * max(found["trips"][LEAST]) / TICKS) + 1
    tell("round trips with a delay", len(every), len(every) + 2)
    found["delay"] = delay
    found["delayed"] = (await measure_plan(lab, Plan(LEAST, delay=delay)))["trips"]
    tell("a stream", len(every) + 1, len(every) + 2)
    found["issued"] = await _stream(lab)
    return found


async def _stream(lab: Any) -> list[int]:
    """Ticks from the first send to the end of each, rank 0 to rank 1."""
    async def program(node: Node) -> Any:
        async with Mpi(node) as mpi:
            comm, data = mpi.COMM_WORLD, mpi.empty(LEAST, np.uint8)
            await comm.Barrier()
            times = [stamp(node)]
            for _ in range(MESSAGES):
                if comm.rank:
                    await comm.Recv(data, 0)
                else:
                    await comm.Send(data, 1)
                    times.append(stamp(node))
            return times

    run = await lab.run(programs(lab, {0: program, 1: program}))
    begin, *sent = run.results[0]
    return [time[0] - begin[0] for time in sent]


def parameters_of(raw: Mapping[str, Any], description: Description) -> LogGP:
    """The parameters, in cycles."""
    halves = {size: half_trip(trips).mean / TICKS for size, trips in raw["trips"].items()}
    o_s = few_sends(raw["issued"], 0, FEW) / TICKS
    o_r = receive_overhead(raw["delayed"], raw["delay"] * TICKS, o_s * TICKS) / TICKS
    short, long = ([size for size in sizes if size in halves] for sizes in _sizes(description))
    growth = _growth(short, halves)
    # Without long ones nobody is asked.
    return LogGP(o_s, o_r, true_gap(raw["issued"]) / TICKS, flight(halves[LEAST], o_s, o_r),
                 growth, _growth(long, halves) if len(long) > 1 else growth, LEAST,
                 max(short) if len(long) > 1 else description.memory.bytes)


def _growth(sizes: Sequence[int], halves: Mapping[int, Fraction]) -> Fraction:
    return fit(sizes, [halves[size] for size in sizes]).slope
