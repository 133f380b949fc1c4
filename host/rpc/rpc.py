"""Calls, procedures, and computation that interrupts may break.

A call returns when its packet has left, and its reply is handled when it has come: at the end of a
later call, in :meth:`Rpc.wait`, or by an interrupt in :meth:`Rpc.compute`. A server's procedures
run in the same places, one call after the other. Each message costs its receiver an interrupt.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ...layouts.registers import Irq
from ...layouts.trace import BEGIN, END, Activity
from ..am import Gam
from ..kernel.interrupts import Handler
from ..port.node import Node
from .costs import Prices

__all__ = ["Procedure", "Rpc", "RpcError"]

WORDS = 3
"""Most 32-bit words of a call or of a result; the fourth has the call's number and procedure."""
PROCEDURES, NUMBERS = 256, 1 << 24
CALLED, RETURNED = range(2)
CONTROL, BLOCKED = int(Activity.CONTROL), int(Activity.BLOCKED)

Procedure = Callable[..., Sequence[int] | None]
"""``procedure(rpc, source, *words)`` at the server; returns the result's words."""


class RpcError(Exception):
    """The program broke a rule of the layer."""


class Rpc:
    """Remote procedure calls on ``node``, with the ``procedures`` that it serves.

    Attributes
    ----------
    am
        The Active Messages below.
    open
        Calls without a reply.
    """

    def __init__(self, node: Node, procedures: Sequence[Procedure] = ()) -> None:
        if len(procedures) > PROCEDURES:
            raise RpcError(f"{len(procedures)} procedures: there may be {PROCEDURES}")
        self.node = node
        self.port = node.port
        node.drive_nic("RPC", interrupts=True)
        self._handler = Handler(self._drain)
        self._irq_status = node.register("irq_status")
        self._posted = node.description.bus.posted
        self.am = Gam(node, [self._called, self._returned])
        self._procedures = list(procedures)
        self._calls: dict[int, Callable[..., None] | None] = {}
        self._number = 0
        self._handled = 0
        self._timeout = node.description.am.retry_timeout
        prices = node.service(Prices)
        self._c_call, self._c_decode = prices.call, prices.decode
        self._c_output, self._c_input, self._c_take = prices.output, prices.input, prices.take
        self._c_check = prices.check
        self._c_unwanted = prices.unwanted

    @property
    def open(self) -> int:
        return len(self._calls)

    async def enable(self) -> None:
        """Start the layer. This must be the first call."""
        await self.am.enable()
        await self.port.pio_write(self.node.register("irq_enable"), Irq.RECEIVE)
        self.node.interrupts.add(self._handler)

    async def disable(self) -> None:
        """Wait for all replies, then serve the other nodes until they have called this, too."""
        await self.wait(lambda: not self._calls)
        await self.am.disable()

    async def call(self, server: int, procedure: int, *words: int,
                   then: Callable[..., None] | None = None) -> None:
        """Call ``procedure`` of node ``server`` with up to three 32-bit words. When the reply has
        come, ``then(*result)`` is called."""
        port = self.port
        if not 0 <= procedure < PROCEDURES:
            raise RpcError(f"call: procedure {procedure}: must be 0 to {PROCEDURES - 1}")
        if len(words) > WORDS:
            raise RpcError(f"call: {len(words)} words: must be at most {WORDS}")
        self._number = (self._number + 1) % NUMBERS
        self._calls[self._number] = then
        port.mark(CONTROL, BEGIN, 0)
        port.spend(self._c_call)
        port.spend(self._c_output)
        port.mark(CONTROL, END, 0)
        await self.am.request(server, CALLED, self._number | procedure << 24, *words)

    async def poll(self) -> None:
        """Handle all messages that have come."""
        self.port.spend(self._c_check)
        await self.am.poll()

    async def wait(self, condition: Callable[[], Any]) -> None:
        """Give up the CPU until ``condition()`` is true; it is evaluated after each interrupt."""
        port, outer = self.port, self.port.waiting_text
        port.waiting_for(outer or "its condition, in rpc.wait")
        await self._drain()
        while not condition():
            port.mark(BLOCKED, BEGIN, 0)
            came = await port.wait_irq(self._timeout)
            port.mark(BLOCKED, END, 0)
            await self._interrupted(came)
        port.waiting_for(outer)

    async def compute(self, cycles: int) -> None:
        """Compute for ``cycles`` target cycles. Messages that come meanwhile interrupt, and what
        they take comes on top."""
        port = self.port
        await self._drain()
        while cycles > 0:
            begin = await port.flush()
            came = await port.wait_irq(cycles)
            cycles -= port.cycle - begin
            if came:
                await self._interrupted(came)

    async def _interrupted(self, came: bool) -> None:
        """After a wait for the interrupt, which ``came`` or not."""
        await self._drain(came)
        if came:
            for other in self.node.interrupts.others(self._handler):
                await other.serve()

    async def _drain(self, interrupted: bool = False) -> None:
        """Handle what has come; what comes from here on interrupts again, also what comes before
        the posted clear arrives."""
        port = self.port
        await port.room(1)
        port.put_write(self._irq_status, 1, Irq.RECEIVE)
        before = self._handled
        await self.am.poll()
        if interrupted and self._handled == before:
            port.spend(self._c_unwanted)
        if self._posted:
            await self.am.recheck()

    def _input(self) -> None:
        port = self.port
        self._handled += 1
        port.spend(self._c_input)
        port.spend(self._c_take)
        port.spend(self._c_decode)

    async def _called(self, am: Gam, source: int, tag: int, *words: int) -> None:
        self._input()
        number = tag >> 24
        if number >= len(self._procedures):
            raise RpcError(f"node {source} called procedure {number} of node {self.node.number}, "
                           f"which has {len(self._procedures)}")
        result = tuple(self._procedures[number](self, source, *words) or ())
        if len(result) > WORDS:
            raise RpcError(f"procedure {number}: a result of {len(result)} words: must be at most "
                           f"{WORDS}")
        self.port.spend(self._c_call)
        self.port.spend(self._c_output)
        await am.reply(RETURNED, tag % NUMBERS, *result)

    def _returned(self, am: Gam, source: int, number: int, *words: int) -> None:
        self._input()
        then = self._calls.pop(number)
        if then is not None:
            then(*words)
