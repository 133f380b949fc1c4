"""Processes meet: none goes on before all have come."""

from typing import Any

from ...layouts.am2 import Returned, Status
from ..port.node import Node
from .am2 import Am2
from .am2_error import Am2Error
from .bundles import Bundle
from .control_block import ControlBlock
from .token import Token

__all__ = ["Startup"]

PAUSE = 2000
"""Cycles after which a process tries again to reach one that is not there yet."""
NOT_YET = frozenset({Returned.BADENDPOINT, Returned.BADTAG, Returned.BADHANDLER})
"""Reasons for which a message comes back from a process that is starting."""


class Startup:
    """A barrier by messages (Hensgen, Finkel, Manber, 1988): in round k a process tells the one
    2^k behind it. ``hello`` is entry ``index`` of the handler table; entry n of the translation
    table is process n."""

    def __init__(self, node: Node, am: Am2, bundle: Bundle, endpoint: ControlBlock, index: int,
                 number: int, procs: int) -> None:
        self._port = node.port
        self._am = am
        self._bundle = bundle
        self._endpoint = endpoint
        self._index = index
        self._number = number
        self._procs = procs
        self._times = 0
        self._heard: dict[tuple[int, int], bool] = {}
        self._bounced = False

    async def meet(self) -> None:
        """Come, and wait until all have come for this time."""
        self._times += 1
        step, port = 1, self._port
        while step < self._procs:
            await self._tell((self._number + step) % self._procs, step)
            port.waiting_for("all processes to have come")
            while (self._times, step) not in self._heard:
                await self._poll()
            port.waiting_for("")
            step *= 2
        while self._endpoint.outstanding:
            await self._poll()

    def hello(self, token: Token, times: int, step: int) -> None:
        """A process has come."""
        self._heard[times, step] = True

    def came_back(self, reason: Returned, opcode: Any, arguments: tuple[int, ...]) -> None:
        """A message of this has come back.

        Raises
        ------
        Am2Error
            It is for another reason than that its receiver is starting.
        """
        if reason not in NOT_YET:
            raise Am2Error(f"process {self._number}: {reason.name} while processes meet")
        self._bounced = True

    async def _tell(self, process: int, step: int) -> None:
        endpoint, port = self._endpoint, self._port
        while True:
            self._bounced = False
            status = await self._am.AM_RequestM(endpoint, process, self._index, self._times, step)
            assert status is Status.AM_OK, status
            port.waiting_for(f"process {process} to start")
            while endpoint.outstanding:
                await self._poll()
            port.waiting_for("")
            if not self._bounced:
                return
            await port.delay(PAUSE)

    async def _poll(self) -> None:
        await self._am.AM_Poll(self._bundle)
