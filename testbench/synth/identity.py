"""What tells one configuration's bitstream from another's."""

import hashlib
import json
from functools import cache
from pathlib import Path

from ... import layouts
from ...layouts.description import Description
from ..build.cache import tree_hash
from ..build.simulator import structure

__all__ = ["identity"]

_PACKAGE = Path(layouts.__file__).parent.parent


def identity(description: Description) -> bytes:
    """The 32 bytes that a board with ``description`` answers HELLO with.

    They say what a run's results depend on and a bitstream fixes: the structure knobs, the version
    of a NIC processor's core, and the sources of the target and of its layouts. Not the timing and
    cost knobs, which the back end brings along; and not the board, its clock or how much of the
    hosts' memory is resident, which change no cycle.
    """
    digest = hashlib.sha256()
    digest.update(json.dumps(structure(description), sort_keys=True).encode())
    digest.update(_sources().encode())
    return digest.digest()


@cache
def _sources() -> str:
    return tree_hash([_PACKAGE / "rtl", _PACKAGE / "layouts"], (".py",))
