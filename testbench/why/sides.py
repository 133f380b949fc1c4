"""The two sides: descriptions and result files, and either of them under another revision of the
project."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ..errors import UserError
from .local import Progress, described, measured
from .observation import LAYERS, Observation
from .remote import observed

__all__ = ["observe", "prepared"]

_REVISION = "@"


def observe(side: str, overrides: Sequence[str], layer: str, progress: Progress) -> Observation:
    """Measure ``side``, as :func:`prepared` takes it."""
    return prepared(side, overrides, layer)(progress)


def prepared(side: str, overrides: Sequence[str], layer: str
             ) -> Callable[[Progress], Observation]:
    """What measures ``side``: NIC or NIC@REVISION, where NIC is a description's file or name or a
    result file, whose configuration is measured anew. What is of this revision is checked before.

    Raises
    ------
    UserError
        There is no such side, or it is not valid. The function that is returned raises it if the
        run fails.
    """
    if layer not in LAYERS:
        raise UserError(f"--layer {layer}: why takes {', '.join(LAYERS)}")
    nic, mark, revision = side.rpartition(_REVISION)
    if mark and not Path(side).exists():
        return partial(observed, nic, revision, overrides, layer)
    return partial(measured, described(side, overrides, layer), layer)
