"""Gives up the CPU inside the kernel."""

from ...layouts.trace import BEGIN, END, Activity
from ..port.port import Port
from .lock import KernelLock
from .timers import FAR, timeout

__all__ = ["sleep"]

BLOCKED = int(Activity.BLOCKED)


async def sleep(port: Port, lock: KernelLock, deadline: int = FAR) -> bool:
    """Give up the CPU of ``port`` until the interrupt comes, another CPU has news, or cycle
    ``deadline`` has come; recorded as BLOCKED. Return whether the interrupt is to be served."""
    port.mark(BLOCKED, BEGIN, 0)
    came = await lock.sleep(timeout(deadline, port.cycle))
    port.mark(BLOCKED, END, 0)
    return came
