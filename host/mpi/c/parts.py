"""The classes that have the calls of mpi.h: what is made once for each rank."""

from typing import Any

from .calls import Environment
from .collective import Collective
from .messages import Messages
from .types import Types
from .windows import Windows

__all__ = ["PARTS"]

PARTS: tuple[type[Any], ...] = (Environment, Messages, Collective, Types, Windows)
