"""The classes with the calls of mpi.h. Each rank has one object of each."""

from typing import Any

from .attributes import Attributes
from .calls import Environment
from .collective import Collective
from .communicators import Communicators
from .errhandlers import Errhandlers
from .external import External
from .infos import Infos
from .made import Made
from .matched import Matched
from .messages import Messages
from .neighbours import Neighbours
from .operations import Operations
from .topologies import Topologies
from .types import Types
from .windows import Windows

__all__ = ["PARTS"]

PARTS: tuple[type[Any], ...] = (Environment, Communicators, Attributes, Errhandlers, Infos,
                                 Topologies, Messages, Matched, Collective, Neighbours,
                                 Operations, Types, Made, External, Windows)
