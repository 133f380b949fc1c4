"""The part of a design point that posts descriptors."""

from collections.abc import Awaitable
from typing import Any, Protocol

from .handles import WorkQueue

__all__ = ["Posts"]


class Posts(Protocol):
    """Posts descriptors to work queues. Its calls are user calls of :mod:`.provider`."""

    entries: int
    """Entries of the port's block that a post takes, for callers that make room for them before, so
    that it need not wait; 0 if it may wait in any case."""

    def post(self, queue: WorkQueue, va: int, handle: int, trace: int) -> Awaitable[Any]:
        """Post the descriptor at ``va``, under memory handle ``handle``, to ``queue``; append it to
        ``queue.entries`` and count it in ``queue.posted``. Charges all its work. None if it is
        posted, so that what need not wait can be NOTHING; else a VIP_RETURN: ERROR_RESOURCE if the
        design point cannot take this descriptor. The content of a descriptor never makes this fail;
        its status reports such errors."""
        ...

    def take(self, queue: WorkQueue) -> Awaitable[None]:
        """The oldest of ``queue.entries``, which is done, will be handed to the consumer: write to
        its memory whatever the NIC has not written. The entry is still in ``queue``. It need not be
        called for one without a ``shadow``."""
        ...
