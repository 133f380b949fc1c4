"""All formats of exports."""

from . import loggopsim, simgrid
from .parameters import Parameters

__all__ = ["FORMATS", "written"]

FORMATS = {"loggopsim": loggopsim.text, "simgrid": simgrid.text}


def written(form: str, found: Parameters) -> str:
    """The text of the export in ``form``, one of :data:`FORMATS`."""
    return FORMATS[form](found)
