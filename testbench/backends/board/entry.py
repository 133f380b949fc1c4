"""The process that executes a job on a board, or on a board's top in a simulator."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from ...errors import UserError
from ..entry import Progress, carry_out
from .backend import BoardBackend
from .line import Line
from .ports import open_port, simulated_port

__all__ = ["main"]


def _backend(wanted: dict[str, Any], progress: Progress) -> BoardBackend:
    place = wanted["place"]
    if wanted["sim"] == "board":
        line = Line(open_port(place, wanted["baud"]))
        advice = "; program it: nicbed synth --program"
    else:
        # A simulated byte takes long on a busy machine.
        patience = 120.0 if wanted["sim"] == "uart" else 3600.0
        line = Line(simulated_port(Path(place)), patience, resend=patience / 2)
        advice = ""
    return BoardBackend(line, memory_bytes=wanted["description"].memory.bytes,
                        identity=wanted["identity"], advice=advice,
                        tell=lambda cycle: progress(f"cycle {cycle:,}", 0, 0))


def main() -> None:
    """Execute the job that NICBED_JOB names."""
    job = carry_out(_backend)
    with suppress(StopIteration):
        job.send(None)
        job.throw(UserError("an experiment on a board can await operations and lab.run alone"))


if __name__ == "__main__":
    main()
