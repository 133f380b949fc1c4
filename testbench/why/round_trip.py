"""A round trip of the smallest message and its echo, traced: the CPU's time at both ends and the
stages of the flights, which add up to it.

What the CPU was charged in it is the difference of a long run and a short one, so that opening and
closing the layer do not count.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...layouts.description import Description
from ...layouts.doors import LAYERS, Layer, NicDesign
from ...layouts.trace import TICKS, Event
from ..benches.latency import trips_of
from ..truth.breakdown import lives, mean_life, one_way_stages, request_stages, via_lives
from ..truth.echoes import echoes
from ..truth.exchange import exchanges, mean_legs
from ..truth.messages import Trip, trips
from ..truth.spans import spans

__all__ = ["OPERATIONS", "Parts", "RoundTrip", "beside", "in_simulator", "split", "traced",
           "traced_layers"]

SIZE = 4
"""Bytes of a message of the round trip."""
FEW, MANY = 8, 24
"""Round trips of the short run and the long one."""
WARM = 2

Parts = list[tuple[str, Fraction]]
OPERATIONS = "operations: loads, stores, PIO, waiting for them"
_NODES = ("requester", "echo")


@dataclass(frozen=True, kw_only=True)
class RoundTrip:
    """A round trip. Times in cycles.

    Attributes
    ----------
    total
        All of it.
    cpus
        The CPU's time in it at both ends: of node 0 and of node 1.
    flights
        Stages of the flight out, and of the flight back.
    work
        Of each node: how many of each cost item it takes, and cycles of one.
    """

    total: Fraction
    cpus: tuple[Fraction, Fraction]
    flights: tuple[Parts, Parts]
    work: tuple[dict[str, tuple[Fraction, Fraction]], dict[str, tuple[Fraction, Fraction]]]

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"total": str(self.total), "cpus": [str(one) for one in self.cpus],
                "flights": [[[name, str(value)] for name, value in parts]
                            for parts in self.flights],
                "work": [{item: [str(count), str(price)] for item, (count, price) in one.items()}
                         for one in self.work]}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "RoundTrip":
        """Returns what :meth:`plain` wrote."""
        return RoundTrip(**read(plain))


def read(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of what :meth:`RoundTrip.plain` wrote."""
    out, back = ([(name, Fraction(value)) for name, value in parts] for parts in plain["flights"])
    first, second = ({item: (Fraction(count), Fraction(price))
                      for item, (count, price) in one.items()} for one in plain["work"])
    one, other = map(Fraction, plain["cpus"])
    return {"total": Fraction(plain["total"]), "cpus": (one, other), "flights": (out, back),
            "work": (first, second)}


def split(found: RoundTrip) -> Parts:
    """A round trip in parts: what each CPU was charged, item by item, and its operations; the
    stages of both flights. They add up to it.

    What a CPU is charged off the path, behind a call that the next message does not wait for, is
    taken out of its operations.
    """
    parts: Parts = []
    for name, cpu, work, flight, way in zip(_NODES, found.cpus, found.work, found.flights,
                                            ("out", "back"), strict=True):
        charged = [(f"{name}: {item}", count * price) for item, (count, price) in work.items()]
        parts += charged
        parts.append((f"{name}: {OPERATIONS}", cpu - sum((one for _, one in charged), Fraction(0))))
        parts += [(f"{way}: {stage}", cycles) for stage, cycles in flight]
    return parts


def beside(sides: Sequence[Parts]) -> list[tuple[str, list[Fraction | None]]]:
    """Each part with its cycles on every side, None where a side has no such part: the parts of
    the first side in order, those of the others among them."""
    names: list[str] = []
    for parts in sides:
        at = 0
        for name, _ in parts:
            if name in names:
                at = names.index(name) + 1
            else:
                names.insert(at, name)
                at += 1
    cycles = [dict(parts) for parts in sides]
    return [(name, [one.get(name) for one in cycles]) for name in names]


def traced(layer: str) -> bool:
    """Tells whether round trips of ``layer`` are traced, with the figures of ``logp``. What only
    programs run on, such as Split-C, is no layer."""
    return (LAYERS.is_path(layer) or layer in LAYERS.names()) and _traced(LAYERS.get(layer))


def traced_layers() -> list[str]:
    """The layers that are."""
    return [name for name, layer in LAYERS.working() if _traced(layer)]


def _traced(layer: Layer) -> bool:
    return layer.endpoint_class is not None and layer.endpoint_class.traced


def _by_requests(layer: str) -> bool:
    """Whether a round trip is a request and its reply."""
    return LAYERS.get(layer).endpoint_class.replies


async def in_simulator(lab: Any, layer: str) -> dict[str, Any]:
    """The round trips' part of an observation."""
    from ..benches.common.processes import as_counted

    lab = as_counted(lab, layer)
    few, _ = await _rounds(lab, layer, FEW)
    many, raw = await _rounds(lab, layer, MANY)
    design = lab.description.design
    if _by_requests(layer):
        found = _of_requests(raw, design)
    else:
        found = _of_messages(_trips(raw, design), raw["events"], design)
    work = [_charged(lab.description, before, after)
            for before, after in zip(few.counters, many.counters, strict=True)][:2]
    return {**found, "work": tuple(work), "events": raw["events"],
            "clock_mhz": Fraction(lab.description.nic.clock_mhz)}


class _Kept:
    """A lab that keeps its last run."""

    def __init__(self, lab: Any) -> None:
        self._lab = lab
        self.description = lab.description
        self.parties = lab.parties
        self.last: Any = None

    async def run(self, programs: Any, **more: Any) -> Any:
        self.last = await self._lab.run(programs, **more)
        return self.last


async def _rounds(lab: Any, layer: str, count: int) -> tuple[Any, dict[str, Any]]:
    """A run of ``count`` round trips, and what it returned."""
    kept = _Kept(lab)
    if _by_requests(layer):
        from ..benches.am.logp import measure_trips

        raw = await measure_trips(kept, layer, count=count)
    else:
        raw = await trips_of(layer)(kept, SIZE, count, WARM, trace=True)
    return kept.last, raw


def _charged(description: Description, few: Mapping[str, int], many: Mapping[str, int]
             ) -> dict[str, tuple[Fraction, Fraction]]:
    """Of each item: how many in a round trip, and target cycles of one."""
    from ...host.port.costs import Costs

    costs = Costs(description)
    more = Counter(many)
    more.subtract(few)
    scale = costs.scale * Fraction(costs.numerator, costs.denominator * TICKS)
    return {item: (Fraction(count, MANY - FEW), costs.price.get(item, 0) * scale)
            for item, count in sorted(more.items()) if count}


def _of_requests(raw: Mapping[str, Any], design: NicDesign) -> dict[str, Any]:
    """Of requests of Active Messages and their replies."""
    found = spans(raw["marks"])
    pairs = [pair for pair in exchanges(found, raw["events"], design)
             if raw["begin"] <= pair.begin < raw["end"]]
    legs = mean_legs(pairs)
    ways = [mean_life(lives(found, raw["events"], numbers, design), request_stages(design)[1:-1])
            for numbers in ([pair.request for pair in pairs], [pair.reply for pair in pairs])]
    return {"total": Fraction(legs.total) / TICKS,
            "cpus": (Fraction(legs.o_s_request + legs.o_r_reply) / TICKS,
                     Fraction(legs.o_r_request + legs.o_s_reply) / TICKS),
            "flights": tuple(_parts(way) for way in ways)}


def _trips(raw: Mapping[str, Any], design: NicDesign) -> list[Trip]:
    """The round trips of a layer whose messages go one way: by the programs' clocks where these
    were read, else by the layer's marks."""
    if "times" in raw:
        client, server = raw["times"]
        return echoes(client, server, raw["events"], design)
    return trips(spans(raw["marks"]), raw["events"], raw["begin"], raw["end"], design,
                 raw.get("stops"))


def _of_messages(pairs: Sequence[Trip], events: Sequence[Event], design: NicDesign
                 ) -> dict[str, Any]:
    """Of messages one way and their echoes."""
    each = via_lives(pairs, events, design)
    count = len(pairs) * TICKS
    return {"total": Fraction(sum(pair.total for pair in pairs), count),
            "cpus": (Fraction(sum(pair.out.o_s + pair.back.o_r + pair.after for pair in pairs),
                              count),
                     Fraction(sum(pair.out.o_r + pair.turn + pair.back.o_s for pair in pairs),
                              count)),
            "flights": tuple(_parts(mean_life(way, one_way_stages(design)[1:-1]))
                             for way in (each[::2], each[1::2]))}


def _parts(life: Sequence[Mapping[str, Any]]) -> Parts:
    return [(str(stage["stage"]), Fraction(stage["cycles"])) for stage in life]
