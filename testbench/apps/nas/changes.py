"""Changes o, g or L, in each channel by the knob that bounds it.

As in the study of Martin, Vahdat, Culler and Anderson (ISCA 1997): o by code of the CPU at both
ends, g by a delay in the NIC behind a packet, L by a delay on the way.

=======  ==================================  ===============================  ============
channel  o                                   g                                L
=======  ==================================  ===============================  ============
via      mpi.path_scale: the library's code  link.bytes_per_cycle             link.latency
gm       the same                            gm.work_send: the NIC's          link.latency
                                             processor is the bound
tcp      mpi.path_scale and tcp.path_scale:  tcp.checksum_word: the CPU's     link.latency
         the kernel's code, too              work on each byte is the bound,
                                             and o of short messages has
                                             next to none of it
=======  ==================================  ===============================  ============

All are knobs of timing or cost, so that one simulator runs all.
"""

from fractions import Fraction
from typing import Any

from ....host.vmmc.knobs import Knobs as Vmmc
from ....layouts.description import Description

__all__ = ["PARAMETERS", "SIZES", "changes"]

PARAMETERS = ("o", "g", "L")
SIZES = (1, 2)
"""Of a change; the effects of both must lie on a line."""
QUARTER = Fraction(1, 4)
PATHS = 2
"""Times that the library's code takes longer."""
GAP = 1000
"""NIC processor cycles."""
WORD = 8
"""CPU cycles for each 8 bytes."""
LATENCY = {"via": 20, "gm": 250, "vmmc": 250, "tcp": 250}
"""Cycles of each link. More takes rate from it, where packets follow each other fast."""


def changes(description: Description, size: int = 1) -> dict[str, dict[str, Any]]:
    """The knobs that change each parameter that can be changed alone, and their values with a
    change of ``size``."""
    channel, mpi, link = description.mpi.channel, description.mpi, description.link
    found: dict[str, dict[str, Any]] = {}
    if channel == "tcp":
        more = 1 + size * QUARTER
        found["o"] = {"mpi.path_scale": mpi.path_scale * more,
                      "tcp.path_scale": description.tcp.path_scale * more}
    else:
        found["o"] = {"mpi.path_scale": mpi.path_scale + size * PATHS}
    if channel == "via":
        found["g"] = {"link.bytes_per_cycle": link.bytes_per_cycle / (1 + size * QUARTER)}
    elif channel == "gm":
        found["g"] = {"gm.work_send": description.gm.work_send + size * GAP}
    elif channel == "vmmc":
        found["g"] = {"vmmc.work_send": description.section(Vmmc).work_send + size * GAP}
    else:
        found["g"] = {"tcp.checksum_word": description.tcp.checksum_word + size * WORD}
    found["L"] = {"link.latency": link.latency + size * LATENCY[channel]}
    return found

