"""An experiment for `nicbed run`: a LogP signature of few points, where a whole one takes long."""

from typing import Any

from nicbed.testbench.benches.am.logp import measure as measure_signature
from nicbed.testbench.results.document import plain


async def measure(lab: Any) -> Any:
    """Round trips, and 12 issues back to back and with pauses: what they gave, as it is."""
    found = await measure_signature(lab, "am", {"issues": 12, "words": 1, "delays": ["0", "1"]},
                                    lab.progress)
    return plain(found)
