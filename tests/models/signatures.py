"""Results of ``bench logp`` with figures that a test chooses."""

from typing import Any

from nicbed.testbench.benches.common.gap_bound import GapBound
from nicbed.testbench.benches.common.logp_results import LogpResults, RegimeEnds
from nicbed.testbench.benches.fields import plain

__all__ = ["logp_results", "signature"]


def logp_results(**figures: Any) -> LogpResults:
    """``figures``, and small numbers for everything else that has to be there."""
    small: dict[str, Any] = {
        "o_s": 1, "o_r": 2, "g": 3, "L": 4, "rtt": 5, "idle": 0, "g_residual": 0,
        "g_visible": False, "o_r_by_delay": [], "regimes": RegimeEnds(1, 2), "knee": 5,
        "o_r_spread": 0, "bound": GapBound("host", 1.0, [])}
    return LogpResults(**{**small, **figures})


def signature(g: float, visible: bool) -> dict[str, Any]:
    """A gap of ``g`` cycles, ``visible`` or not, and small numbers, as the benchmark writes
    them."""
    return {"results": plain(logp_results(g=g, g_visible=visible, cost_by_delay=[]))}
