"""Events: a process waits until a message has come, and handles none."""

from ...layouts.am2 import Status
from ...layouts.operations import WATCHES
from ..port.node import Node
from ..port.port import Watch
from .bundles import AM_EVENTS, Bundle
from .costs import Prices
from .way import Way

__all__ = ["Events"]

LOOK = 200
"""Cycles between two looks at queues in shared memory, where the network's interrupt is waited for
as well."""


class Events:
    """Waits of the process on ``node`` for messages that come by ``shared`` memory or the
    ``network``. Of the first it learns by spinning on the heads of its queues, which are in its
    cache; of the second by an interrupt."""

    def __init__(self, node: Node, shared: Way | None, network: Way | None) -> None:
        self._port = node.port
        self._shared = shared
        self._network = network
        self._ways = [way for way in (shared, network) if way is not None]
        self._c_wait = node.service(Prices).wait

    async def wait(self, bundle: Bundle) -> Status:
        """Wait until an endpoint of the bundle has a message."""
        if not bundle.mask & AM_EVENTS.AM_NOTEMPTY or not bundle.endpoints:
            return Status.AM_ERR_BAD_ARG
        port = self._port
        port.spend(self._c_wait)
        watches = [watch for endpoint in bundle.endpoints if self._shared is not None
                   for watch in self._shared.watches(endpoint)]
        port.waiting_for("an event of a bundle")
        if self._network is None and len(watches) <= WATCHES and not self._kept(bundle):
            await port.poll(watches)
        else:
            while not (await self._look(watches)
                       or await self._sleep(bundle, bool(watches) or self._kept(bundle))):
                await self._send_kept(bundle)
        port.waiting_for("")
        return Status.AM_OK

    def _kept(self, bundle: Bundle) -> bool:
        """Whether a reply is kept, for which somebody waits: it must go though this process only
        waits."""
        return any(way.kept(endpoint) for endpoint in bundle.endpoints for way in self._ways)

    async def _send_kept(self, bundle: Bundle) -> None:
        for endpoint in bundle.endpoints:
            for way in self._ways:
                if way.kept(endpoint):
                    await way.poll(endpoint, 0)

    async def _look(self, watches: list[Watch]) -> bool:
        """Whether one holds."""
        for at in range(0, len(watches), WATCHES):
            if not (await self._port.poll(watches[at:at + WATCHES], once=True)).timed_out:
                return True
        return False

    async def _sleep(self, bundle: Bundle, briefly: bool) -> bool:
        """Sleep until the network has a message for the bundle; ``briefly``: for LOOK cycles at
        most. Whether it has."""
        if self._network is None:
            return False
        return await self._network.sleep(bundle.endpoints, LOOK if briefly else 0)
