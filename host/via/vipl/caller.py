"""Common base of all VIPL calls: the owner of the library, and the checks of arguments."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from ...kernel.process import Process
from ..attributes import MAX_DISCRIMINATOR, MemAttributes, NetAddress, ViAttributes
from ..costs import Prices
from ..handles import Cq, Nic, Ptag, Vi
from ..kernel import Kernel
from ..returns import VIP_RETURN

__all__ = ["Caller", "kernel_call"]

TIMES = (int, float)

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class _Calls(Protocol):
    _caller: "Caller"


Self = TypeVar("Self", bound=_Calls)


def kernel_call(function: Callable[Concatenate[Self, Arguments], Awaitable[Result]]
                ) -> Callable[Concatenate[Self, Arguments], Awaitable[Result]]:
    """A call that enters the kernel, and leaves it also by an error."""
    @wraps(function)
    async def called(self: Self, *args: Arguments.args, **named: Arguments.kwargs) -> Result:
        async with self._caller.kernel.lock.guarded():
            return await function(self, *args, **named)
    return called


class Caller:
    """The library of ``process``.

    Every call returns INVALID_PARAMETER for handles of other processes, for closed handles, and for
    values that are no handle.

    Attributes
    ----------
    spin
        Cycles for which a call that waits spins before it gives up the CPU (``via.spin``).
    """

    def __init__(self, process: Process) -> None:
        self.process = process
        self.node = process.node
        self.port = process.port
        self.memory = process.memory
        self.paths = process.node.service(Prices)
        self.kernel = kernel = process.node.kernel(Kernel)
        self.provider = kernel.provider
        self.spin = kernel.description.via.spin
        self._millisecond = kernel.description.nic.clock_mhz * 1000

    def is_nic(self, nic: Any) -> bool:
        return nic.__class__ is Nic and nic.open and nic.process is self.process

    def is_vi(self, vi: Any) -> bool:
        return vi.__class__ is Vi and vi.open and vi.nic.process is self.process

    def may_post(self, vi: Any, descriptor: Any, handle: Any) -> bool:
        """Tells whether ``vi`` is one, and the others can be an address and a memory handle."""
        return (vi.__class__ is Vi and vi.open and vi.nic.process is self.process
                and descriptor.__class__ is int and handle.__class__ is int
                and not descriptor >> 64 and not handle >> 32)

    def is_cq(self, cq: Any, nic: Nic | None = None) -> bool:
        return (cq.__class__ is Cq and cq.open and cq.nic.process is self.process
                and nic in (None, cq.nic))

    def is_tag(self, tag: Any, nic: Nic) -> bool:
        return tag.__class__ is Ptag and tag.valid and tag.nic is nic

    def is_time(self, milliseconds: Any) -> bool:
        return milliseconds is None or (isinstance(milliseconds, TIMES)
                                        and not isinstance(milliseconds, bool)
                                        and milliseconds >= 0)

    def is_address(self, address: Any) -> bool:
        return (isinstance(address, NetAddress) and isinstance(address.host, int)
                and isinstance(address.discriminator, bytes)
                and len(address.discriminator) <= MAX_DISCRIMINATOR)

    def is_memory(self, attributes: Any) -> bool:
        return isinstance(attributes, MemAttributes)

    def is_attributes(self, attributes: Any) -> bool:
        return isinstance(attributes, ViAttributes)

    def deadline(self, milliseconds: float | None) -> int | None:
        """The cycle in which a time-out that starts now ends."""
        if milliseconds is None:
            return None
        return self.port.cycle + int(-(-milliseconds * self._millisecond // 1))

    async def enter(self) -> None:
        """Enter the kernel: the following work is the kernel's."""
        self.port.spend(self.paths.kernel)
        await self.spend()
        await self.kernel.lock.enter()

    async def spend(self) -> None:
        """Spend the time that the call has taken, and at least one cycle, also on a CPU without
        costs: so that a program that polls advances target time."""
        port = self.port
        before = port.cycle
        if await port.flush() == before:
            await port.delay(1)
            await port.flush()

    async def leave(self, result: VIP_RETURN = VIP_RETURN.SUCCESS) -> VIP_RETURN:
        """Leave the call with ``result``, after due interrupts and timers were handled."""
        await self.kernel.attend()
        await self.kernel.lock.leave()
        return result
