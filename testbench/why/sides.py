"""The two sides: descriptions and result files, and either of them under another revision of the
project."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ..defaults import LAYER
from ..errors import UserError
from .local import Progress, described, layer_of, measured
from .observation import Observation
from .remote import observed
from .round_trip import traced, traced_layers

__all__ = ["DEFAULT", "common_layer", "observe", "prepared"]

DEFAULT = LAYER
"""The layer of descriptions, if nobody says otherwise."""
_REVISION = "@"


def common_layer(sides: Sequence[str], layer: str | None) -> str:
    """The layer on which ``sides`` are compared: ``layer``, that of the results among them, or the
    default.

    Raises
    ------
    UserError
        They are not of one layer.
    """
    found = {side: of for side in sides if (of := layer_of(_parts(side)[0])) is not None}
    for side, of in found.items():
        if layer is not None and of != layer:
            raise UserError(f"{side}: is a result of layer {of}, and cannot be compared on layer "
                            f"{layer}")
        layer = of
    return layer or DEFAULT


def observe(side: str, overrides: Sequence[str], layer: str, progress: Progress) -> Observation:
    """Measure ``side``, as :func:`prepared` takes it."""
    return prepared(side, overrides, layer)(progress)


def prepared(side: str, overrides: Sequence[str], layer: str
             ) -> Callable[[Progress], Observation]:
    """Returns what measures ``side``: NIC or NIC@REVISION, where NIC is a description's file or
    name or a result file, whose configuration is measured anew. What is of this revision is checked
    before.

    Raises
    ------
    UserError
        There is no such side, or it is not valid. The function that is returned raises it if the
        run fails.
    """
    if not traced(layer):
        raise UserError(f"layer {layer}: why takes {', '.join(traced_layers())}")
    nic, revision = _parts(side)
    if revision:
        return partial(observed, nic, revision, overrides, layer)
    return partial(measured, described(side, overrides, layer), layer)


def _parts(side: str) -> tuple[str, str]:
    """A side's NIC, and its revision, empty if it has none."""
    nic, mark, revision = side.rpartition(_REVISION)
    return (nic, revision) if mark and not Path(side).exists() else (side, "")
