"""The classes that have the calls of mpi.h: what is made once for each rank."""

from typing import Any

from .calls import Environment
from .collective import Collective
from .external import External
from .made import Made
from .matched import Matched
from .messages import Messages
from .operations import Operations
from .types import Types

__all__ = ["PARTS"]

PARTS: tuple[type[Any], ...] = (Environment, Messages, Matched, Collective, Operations,
                               Types, Made, External)
