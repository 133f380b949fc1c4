"""The hash that identifies a bitstream's configuration."""

import hashlib
import json
from functools import cache
from pathlib import Path

from ... import layouts
from ...layouts.description import Description
from ..simulators.cache import tree_hash
from ..simulators.simulator import structure

__all__ = ["identity"]

_PACKAGE = Path(layouts.__file__).parent.parent


def identity(description: Description) -> bytes:
    """The 32 bytes with which a board for ``description`` answers HELLO.

    The hash covers everything that a bitstream fixes and that results depend on: the structure
    knobs, the version of a NIC processor's core, and the sources of the target and of its layouts.
    It does not cover the timing and cost knobs, which the back end sets, nor the board, its clock
    and the size of the resident host memory, which change no cycle.
    """
    digest = hashlib.sha256()
    digest.update(json.dumps(structure(description), sort_keys=True).encode())
    digest.update(_sources().encode())
    return digest.digest()


@cache
def _sources() -> str:
    return tree_hash([_PACKAGE / "rtl", _PACKAGE / "layouts"], (".py",))
