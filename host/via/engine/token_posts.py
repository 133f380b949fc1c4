"""Posting by tokens, for firmware that may miss some of them."""

from collections.abc import Awaitable, Callable

from ....layouts.via import DESCRIPTOR_ALIGN
from ...kernel.lock import kernel_lock
from ...port.node import Node
from ..agent.memory_queues import MemoryQueues
from ..costs import Prices
from ..handles import Vi, WorkQueue
from ..returns import VIP_RETURN
from .doorbell_posts import DoorbellPosts
from .nic_words import BAD_TOKEN

__all__ = ["TOKENS", "UNSEEN", "TokenPosts", "Tokens"]

TOKENS = 64
"""Tokens of a queue in host memory, and the number of values of the count in a token's low bits."""
UNSEEN = TOKENS - 2
"""Most posts that the firmware may not have read yet."""


class Tokens:
    """Tokens of a queue. ``last``: the last one; ``told``: how many posts the firmware has read for
    certain; ``ring``: host memory of the last TOKENS tokens."""

    __slots__ = ("ring", "last", "told")

    def __init__(self, ring: int) -> None:
        self.ring = ring
        self.last = 0
        self.told = 0


class TokenPosts:
    """See :class:`~nicbed.host.via.posts.Posts`. ``vi.private`` has the :class:`Tokens` of the
    queues of a VI. ``ring(queue, token, trace)`` rings a doorbell by one operation of the port;
    ``count`` asks the firmware how many tokens of a VI it has read, and waits."""

    entries = 0

    def __init__(self, node: Node, queues: MemoryQueues,
                 ring: Callable[[WorkQueue, int, int], None],
                 count: Callable[[Vi], Awaitable[int]]) -> None:
        self._port = node.port
        self._memory = node.memory
        self._paths = node.service(Prices)
        self._lock = kernel_lock(node)
        self._ring = ring
        self._count = count
        self._posts = DoorbellPosts(node, queues, self._keep_and_ring, 2)

    def post(self, queue: WorkQueue, va: int, handle: int, trace: int
             ) -> Awaitable[VIP_RETURN | None]:
        if queue.posted - queue.vi.private[queue.receive].told >= UNSEEN:
            return self._post_counted(queue, va, handle, trace)
        return self._posts.post(queue, va, handle, trace)

    async def _post_counted(self, queue: WorkQueue, va: int, handle: int, trace: int
                            ) -> VIP_RETURN | None:
        """The same after a look at how many tokens the firmware has read."""
        self._port.spend(self._paths.kernel)
        async with self._lock.held():
            await self._count(queue.vi)
        return await self._posts.post(queue, va, handle, trace)

    def _keep_and_ring(self, queue: WorkQueue, word: int, trace: int) -> None:
        tokens: Tokens = queue.vi.private[queue.receive]
        count = queue.posted + 1 & TOKENS - 1
        if word == BAD_TOKEN or word % DESCRIPTOR_ALIGN:
            word = 0
        tokens.last = word | count
        at = tokens.ring + 8 * count
        self._memory.write(at, tokens.last.to_bytes(8, "little"))
        self._port.put_touch(at, 8, True)
        self._ring(queue, tokens.last, trace)

    def take(self, queue: WorkQueue) -> Awaitable[None]:
        """The firmware has written the whole status."""
        return self._posts.take(queue)
