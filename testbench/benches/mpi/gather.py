"""Non-contiguous data: latency of a message of a derived type of 1 to 64 blocks, which are packed,
or become segments of the descriptor; beside the layer below."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ....layouts.description import Description
from ..benchmark import Tell
from ..common.bulk_report import size_text
from ..common.latencies import Latencies
from ..fields import setting
from .beside import Beside
from .names import shown, varies
from .pingpong import Plan, measure_below, measure_plan

__all__ = ["MpiGather", "MpiGatherParameters"]

WAYS = ("pack", "segments")
REPORT = Latencies("Derived types: latency over MPI of a message in n blocks", "blocks")


@dataclass(frozen=True)
class MpiGatherParameters:
    """256 B and 32 KB in 1 to 64 blocks."""

    totals: Sequence[int] = setting([256, 32768], "bytes of a message", unit="bytes")
    blocks: Sequence[int] = setting([1, 2, 4, 8, 16, 32, 64], "blocks of its type")
    channel: str = setting("", "the layer below (mpi.channel)")


class MpiGather(Beside):
    """Messages of a derived type, by how many blocks it has."""

    Parameters = MpiGatherParameters

    def parameters(self, description: Description) -> MpiGatherParameters:
        """Over the layer below that the description has."""
        return MpiGatherParameters(channel=description.mpi.channel)

    def report(self, parameters: MpiGatherParameters) -> Latencies:
        return REPORT

    def twins(self, parameters: MpiGatherParameters) -> dict[str, str]:
        """Only VIA has segments; the others' messages are in one piece."""
        how = "as many segments" if varies(parameters.channel) else "in one piece"
        below = shown(parameters.channel)
        return {f"{size_text(total)}, {way}": f"{below}, {size_text(total)}, {how}"
                for total in parameters.totals for way in WAYS}

    async def measure(self, lab: Any, layer: str, parameters: MpiGatherParameters, tell: Tell
                      ) -> dict[str, Any]:
        """One run for each total, number of blocks and way (mpi.derived), and one for each
        twin."""
        twins, pieces = self.twins(parameters), not varies(parameters.channel)
        steps = [(total, count) for total in parameters.totals for count in parameters.blocks]
        found: dict[str, Any] = {}
        below: dict[str, Any] = {}
        for index, (total, count) in enumerate(steps):
            tell(f"{total} bytes in {count} blocks", index, len(steps))
            for way in WAYS:
                found.setdefault(f"{size_text(total)}, {way}", {})[count] = await measure_plan(
                    lab, Plan(total, blocks=count, settings={"mpi.derived": way}))
            twin = below.setdefault(twins[f"{size_text(total)}, {WAYS[0]}"], {})
            if not pieces or not twin:
                twin[count] = await measure_below(
                    lab, total, **({} if pieces else {"segments": count}))
        return {"runs": found, "below": below}
