"""The functional target as a back end."""

from collections.abc import Callable, Sequence
from typing import Any

from ....host.port.backend import Mailbox, Memory
from ....layouts.description import Description
from ....layouts.trace import Event
from ..backend import Serve
from ..switches import Switches
from .target import Model

__all__ = ["ModelBackend"]


class ModelBackend:
    """A functional target of ``description``, made anew for each run. It has no events, and its
    cycles are estimates."""

    direct = False

    def __init__(self, description: Description) -> None:
        self._description = description
        self._model: Any = None

    @property
    def mailbox(self) -> Mailbox:
        return self._model

    @property
    def memories(self) -> Sequence[Memory]:
        return self._model.memories

    async def reset(self, switches: Switches) -> None:
        """A target with the knobs of ``switches``, at cycle 0."""
        self._model = Model(switches.description or self._description)
        self._model.limit = switches.limit

    async def serve(self, attention: Callable[[], bool], ports: Sequence[Serve] = (),
                    often: int = 0) -> None:
        """See :class:`~..backend.Backend`."""
        self._model.serve(attention)

    def profile(self, node: int) -> dict[int, int]:
        """Nothing is counted."""
        return {}

    async def events(self) -> Sequence[Event]:
        """There are none."""
        return []
