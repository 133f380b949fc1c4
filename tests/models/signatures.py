"""Outcomes of ``bench logp`` with a gap that a test chooses, as the benchmark writes them."""

from typing import Any

from nicbed.testbench.benches.common.gap_bound import GapBound
from nicbed.testbench.benches.common.logp_results import LogpResults, RegimeEnds
from nicbed.testbench.benches.fields import plain

__all__ = ["signature"]


def signature(g: float, visible: bool) -> dict[str, Any]:
    """A gap of ``g`` cycles, ``visible`` or not, and small numbers for everything else."""
    return {"results": plain(LogpResults(
        o_s=1, o_r=2, g=g, L=4, rtt=5, idle=0, g_residual=0, g_visible=visible, o_r_by_delay=[],
        regimes=RegimeEnds(1, 2), cost_by_delay=[], knee=5, o_r_spread=0,
        bound=GapBound("host", 1.0, [])))}
