"""An experiment for `nicbed run`: a LogP signature of few points, where a whole one takes long."""

from typing import Any

from nicbed.testbench.benches.am.logp import AmLogp, SignatureParameters
from nicbed.testbench.results.document import plain


async def measure(lab: Any) -> Any:
    """Round trips, and 12 issues back to back and with pauses: what they gave, as it is."""
    found = await AmLogp().measure(lab, "am", SignatureParameters(12, 1, ["0", "1"]),
                                   lab.progress)
    return plain(found)
