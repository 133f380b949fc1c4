"""The kernel of a node whose CPUs share a NIC: one CPU at a time executes it.

Code of a kernel says where it is entered and left, and where it sleeps. On a node with one CPU for
the NIC that costs nothing (:class:`Alone`); where CPUs share it, there is a lock (:class:`Lock`).
"""

from collections.abc import Awaitable
from typing import Any, Protocol

from ..port.cpu import ALL
from ..port.node import Node
from ..port.suspension import NOTHING
from ..smp.costs import Prices as LockPrices
from ..smp.words import lines, spin, store
from .costs import Prices
from .timers import FAR

__all__ = ["KernelLock", "kernel_lock"]

IDLE = 100
"""Cycles between two looks of a CPU that has nothing to do whether another one has news for it. An
interrupt comes at once."""


class Inside(Protocol):
    """The context of ``async with``: it takes the lock and lets it go."""

    def __aenter__(self) -> Awaitable[None]: ...

    def __aexit__(self, kind: type[BaseException] | None, *_: Any) -> Awaitable[None]: ...


class KernelLock(Protocol):
    """Keeps the CPUs of a node out of each other's way in its kernel.

    Attributes
    ----------
    shared
        Whether several CPUs share the kernel: for one alone, entering and leaving are nothing.
    """

    shared: bool

    def enter(self) -> Awaitable[None]:
        """Enter the kernel; waits while another CPU is in it. What has entered it may do so
        again."""
        ...

    def leave(self) -> Awaitable[None]:
        """Leave it, as often as it was entered."""
        ...

    def held(self) -> Inside:
        """``async with lock.held()``: in the kernel. An error leaves it, too."""
        ...

    def guarded(self) -> Inside:
        """``async with lock.guarded()``: what enters the kernel in here and fails has left it."""
        ...

    def news(self) -> None:
        """Returns what another CPU sleeps for may have come about: it is told when this one
        leaves."""
        ...

    def wrote(self) -> None:
        """Posted writes are on their way to the NIC that another CPU's must not come before, or
        between: they arrive before this one leaves."""
        ...

    def sleep(self, timeout: int = 0) -> Awaitable[bool]:
        """Inside the kernel: let others in, and give up the CPU until the interrupt comes or there
        are news, for at most ``timeout`` cycles (0: no limit). Whether the interrupt is to be
        served."""
        ...


class _Nothing:
    """Nothing to enter."""

    def __aenter__(self) -> Awaitable[None]:
        return NOTHING

    def __aexit__(self, kind: type[BaseException] | None, *_: Any) -> Awaitable[None]:
        return NOTHING


FREE = _Nothing()


class Alone:
    """The kernel of one CPU."""

    shared = False

    def __init__(self, node: Node) -> None:
        self._port = node.port

    def enter(self) -> Awaitable[None]:
        return NOTHING

    def leave(self) -> Awaitable[None]:
        return NOTHING

    def held(self) -> Inside:
        return FREE

    def guarded(self) -> Inside:
        return FREE

    def news(self) -> None:
        pass

    def wrote(self) -> None:
        pass

    def sleep(self, timeout: int = 0) -> Awaitable[bool]:
        return self._port.wait_irq(timeout)


class _Guarded:
    """If what is inside fails, the kernel is entered as often as it was before. A coroutine that is
    closed cannot leave it: that would take time."""

    def __init__(self, lock: "Lock") -> None:
        self._lock = lock
        self._depth = 0

    async def __aenter__(self) -> None:
        self._depth = self._lock.depth

    async def __aexit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        if kind is not None and issubclass(kind, Exception):
            await self._lock.back(self._depth)


class _Held(_Guarded):
    """And it is entered, and left."""

    async def __aenter__(self) -> None:
        await super().__aenter__()
        await self._lock.enter()

    async def __aexit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        if kind is None:
            await self._lock.leave()
        else:
            await super().__aexit__(kind)


class Lock:
    """A spin lock and, in the same line, a count that the last CPU in the kernel moves on if it has
    news for others. A CPU that sleeps looks at it every IDLE cycles.

    The lock is in memory, and a store passes posted writes to the NIC. So a CPU that has written
    registers which belong together, or whose order counts, reads from the NIC before it leaves:
    the read comes behind them."""

    shared = True

    def __init__(self, node: Node) -> None:
        self._node = node
        self._port = node.port
        name = f"kernel of NIC at {node.nic_offset:#x}" if node.nic_offset else "kernel"
        self._word, _ = lines(node, name)
        self._take = node.service(LockPrices).take
        prices = node.service(Prices)
        self._release = prices.release
        self._look = prices.idle
        self._holder = -1
        """The CPU that is in the kernel."""
        self._depth = 0
        self._count = 0
        self._news = False
        self._wrote = False
        self._posted = node.description.bus.posted
        self._id = node.register("id")
        """Read for its place behind posted writes: reading it has no effect."""

    async def enter(self) -> None:
        port = self._port
        if self._holder == port.cpu:
            self._depth += 1
            return
        port.spend(self._take)
        while await port.cas(self._word, 0, 1):
            outer = port.waiting_text
            port.waiting_for("another CPU to leave the kernel")
            await spin(self._node, self._word, 0)
            port.waiting_for(outer)
            port.spend(self._take)
        self._holder = port.cpu
        self._depth = 1

    async def leave(self) -> None:
        self._depth -= 1
        if not self._depth:
            await self._let_in()

    @property
    def depth(self) -> int:
        """Tells how often this CPU has entered it."""
        return self._depth if self._holder == self._port.cpu else 0

    async def back(self, depth: int) -> None:
        """Leave it until this CPU has entered it ``depth`` times, if it has more often."""
        if self.depth > depth:
            self._depth = depth
            if not depth:
                await self._let_in()

    def held(self) -> Inside:
        return _Held(self)

    def guarded(self) -> Inside:
        return _Guarded(self)

    async def _let_in(self) -> None:
        if self._wrote:
            self._wrote = False
            await self._port.pio_read(self._id)
        self._port.spend(self._release)
        self._count += self._news
        self._news = False
        self._holder = -1
        await store(self._node, self._word, 0, self._count)

    def news(self) -> None:
        self._news = True

    def wrote(self) -> None:
        self._wrote = self._posted

    async def sleep(self, timeout: int = 0) -> bool:
        port, depth = self._port, self._depth
        await self._let_in()
        seen = self._count
        end = port.cycle + timeout if timeout else FAR
        while not await port.wait_irq(max(1, min(IDLE, end - port.cycle))) and port.cycle < end:
            port.spend(self._look)
            word = int.from_bytes(await self._node.load(self._word + 8, 8), "little")
            if word != seen:
                break
        await self.enter()
        self._depth = depth
        return port.interrupted


def kernel_lock(node: Node) -> KernelLock:
    """The lock of the kernel of ``node``, of which there is one."""
    return node.service(Lock if node.cpu == ALL else Alone)
