"""The runs of a check, and the rule that each of them is about."""

from dataclasses import dataclass, replace

from ...host.nic.kinds import Frames
from ...host.port.node import Programs
from ...layouts.description import Description
from . import traffic
from .bench import How

__all__ = ["COMPARED", "RULES", "Scenario", "scenarios"]

COMPARED = "frames, short"
"""The title of the run that is repeated on another simulator."""

RULES = {
    "register reset": "registers have their declared values after reset",
    "register width": "registers read as no more bits than declared",
    "register rw": "a read-write register keeps what is written",
    "register ro": "a read-only register ignores writes",
    "register w1c": "a one written clears a bit, a zero does not",
    "driver": "the driver raises no error",
    "delivery": "each frame arrives once, with its source and its bytes",
    "ends": "something moves, until all frames are there",
    "reset": "after a reset in the middle of traffic all is as after the first one",
    "sleep": "with its clock stopped while it is idle, it does the same in the same cycles",
    "simulators": "it does the same on Verilator and on Icarus",
}
"""Rules that runs show, besides those of the ports, by their names."""


@dataclass(frozen=True)
class Scenario:
    """A run of a kind: "registers", "used", "latency", "stream", "short" or "frames"."""

    title: str
    kind: str
    how: How
    few: bool = True

    def programs(self, description: Description) -> Programs:
        """The actions of the nodes."""
        mtu = description.nic.mtu
        if self.kind == "registers":
            return traffic.registers(description.design.registers_of(description), self.how.seed)
        if self.kind == "latency":
            return traffic.one_frame(8)
        if self.kind == "stream":
            return traffic.one_frame(mtu, 16)
        if self.kind == "short":
            return traffic.frames([8, 1, 17, 64], self.how.seed)
        if self.kind == "used":
            return traffic.used_registers(description.design.registers_of(description),
                                          self.how.seed)
        return traffic.frames(traffic.lengths(mtu, self.few), self.how.seed)


def scenarios(description: Description, seed: int, quick: bool) -> list[Scenario]:
    """The runs of a check of ``description`` with ``seed``; ``quick``: fewer of them."""
    found = []
    if description.design.registers_of(description):
        found.append(Scenario("registers", "registers", How(seed, stall=0.3)))
    if Frames not in description.design.offered(description):
        return found
    found += [
        Scenario("registers, used", "used", How(seed, stall=0.1)),
        Scenario("latency", "latency", How(seed)),
        Scenario("throughput", "stream", How(seed)),
        Scenario(COMPARED, "short", How(seed, stall=0.1)),
        Scenario("frames", "frames", How(seed)),
        Scenario("frames, asleep", "frames", How(seed, asleep=True)),
        Scenario("frames, stalls of 50 %", "frames", How(seed, stall=0.5)),
        Scenario("frames, one bus", "frames", How(seed, stall=0.2, shared=True)),
        Scenario("frames, link at 1/4", "frames", How(seed, every=4, shared=True)),
        Scenario("frames, reset", "frames", How(seed, stall=0.2, reset_at=300 + 37 * seed % 400)),
    ]
    if not quick:
        found += [
            Scenario("frames of every length", "frames", How(seed), few=False),
            Scenario("frames of every length, stalls", "frames",
                     How(seed + 1, stall=0.3, shared=True), few=False),
            *(Scenario(f"frames, link at 1/{every}", "frames",
                       How(seed, every=every, shared=True)) for every in (2, 8, 16)),
            *(Scenario(f"frames, stalls, seed {seed + more}", "frames",
                       replace(How(stall=0.6), seed=seed + more, shared=bool(more % 2)))
              for more in range(1, 4)),
            *(Scenario(f"frames, reset at {at}", "frames", How(seed, stall=0.2, reset_at=at))
              for at in (150, 450, 900, 2000)),
        ]
    return found

