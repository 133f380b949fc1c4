"""The two sides: descriptions and result files, and either of them under another revision of the
project."""

from collections.abc import Sequence
from pathlib import Path

from ..errors import UserError
from .local import Progress, described, measured
from .observation import LAYERS, Observation
from .remote import observed

__all__ = ["observe"]

_REVISION = "@"


def observe(side: str, overrides: Sequence[str], layer: str, progress: Progress) -> Observation:
    """Measure ``side``: NIC or NIC@REVISION, where NIC is a description's file or name or a result
    file, whose configuration is measured anew.

    Raises
    ------
    UserError
        There is no such side, it is not valid, or its run failed.
    """
    if layer not in LAYERS:
        raise UserError(f"--layer {layer}: why takes {', '.join(LAYERS)}")
    nic, mark, revision = side.rpartition(_REVISION)
    if mark and not Path(side).exists():
        return observed(nic, revision, overrides, layer, progress)
    return measured(described(side, overrides, layer), layer, progress)
