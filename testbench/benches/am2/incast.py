"""Many processes send to one over Active Messages II."""

from dataclasses import replace

from ....layouts.description import Description
from ..load.incast import Incast, IncastParameters

__all__ = ["Am2Incast"]


class Am2Incast(Incast):
    """The same; what is in shared memory is not lost."""

    def usual(self, description: Description, parties: int) -> IncastParameters:
        """The same, without loss where nothing goes by the network."""
        found = super().usual(description, parties)
        return replace(found, loss=[0.0]) if description.am2.protocol == "shared" else found
