"""The process that executes a job on the functional target."""

from contextlib import suppress
from typing import Any

from ...errors import UserError
from ..entry import Progress, carry_out
from .backend import ModelBackend

__all__ = ["main"]


def _backend(wanted: dict[str, Any], progress: Progress) -> ModelBackend:
    return ModelBackend(wanted["description"])


def main() -> None:
    """Execute the job that NICBED_JOB names."""
    job = carry_out(_backend)
    with suppress(StopIteration):
        job.send(None)
        job.throw(UserError("an experiment on the model can await operations and lab.run alone"))


if __name__ == "__main__":
    main()
