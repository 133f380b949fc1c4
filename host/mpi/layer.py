"""The layer mpi for the testbed: it needs what the layer of its channel needs."""

from ...layouts.description import Description, Mpi
from ...layouts.doors.layer import Layer

__all__ = ["LAYER"]


def _below(description: Description) -> str:
    return description.mpi.channel


LAYER = Layer(
    name="mpi",
    title="MPI over VIA, GM, VMMC or TCP (mpi.channel)",
    knobs=Mpi,
    below=_below,
    chosen_by="mpi.channel",
)
