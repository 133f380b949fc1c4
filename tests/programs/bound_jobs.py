"""Gaps and their bounds under several settings, in one simulator."""

from typing import Any

from nicbed.testbench.benches.am.bulk import answer_gap
from nicbed.testbench.benches.common.streams import gap_of, measure_streams, stream_truth
from nicbed.testbench.benches.common.transfers import measure_transfers, transfer_truth
from nicbed.testbench.lab import Lab


class Set:
    """A lab with knobs set for all its runs."""

    def __init__(self, lab: Lab, settings: dict[str, Any]) -> None:
        self.description = lab.description
        self.parties = lab.parties
        self._lab, self._settings = lab, settings

    async def run(self, programs: Any, **options: Any) -> Any:
        return await self._lab.run(programs, settings=self._settings, **options)


async def gaps(lab: Lab, cases: dict[str, tuple[int, dict[str, Any]]]
               ) -> dict[str, tuple[float, str, float]]:
    """For each case, (bytes, settings): the gap in cycles, its bound, and how busy that is. 0 bytes
    are requests of one word."""
    found = {}
    for name, (size, settings) in cases.items():
        its = Set(lab, settings)
        if size:
            raw = await measure_transfers(its, "store_async", size, 48)
            gap = answer_gap(raw["answered"])
            bound = transfer_truth(raw, lab.description).bound
        else:
            raw = await measure_streams(its, "am", {0: [1]}, 256)
            gap = gap_of(raw["streams"][0]).slope
            bound = stream_truth(raw, 0, 1, lab.description.design).bound
        assert bound is not None
        found[name] = (float(gap) / 256, bound.block, float(bound.busy))
    return found
