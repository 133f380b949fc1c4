"""The deadlines of a kernel's timers, and the waits of a CPU for them."""

from collections.abc import Awaitable, Callable

from ..port.port import NEVER, Port

__all__ = ["FAR", "compute", "timeout"]

FAR = NEVER
"""A deadline that never comes."""
LONGEST = 1 << 31
"""Most cycles of one wait for the interrupt."""


def timeout(deadline: int, now: int) -> int:
    """The time-out, in cycles, of a wait that begins at cycle ``now`` and is to end at
    ``deadline``: at least 1, and 0 (no time-out) for :data:`FAR`."""
    return min(LONGEST, max(1, deadline - now)) if deadline < FAR else 0


async def compute(port: Port, cycles: int, due: Callable[[], int],
                  attend: Callable[[], Awaitable[None]]) -> None:
    """The program computes for ``cycles`` target cycles. A kernel's interrupt, and the cycle
    ``due()`` that its timers ask for, interrupt it for what ``attend()`` does, which comes on
    top."""
    await attend()
    while cycles > 0:
        begin = await port.flush()
        await port.wait_irq(min(cycles, LONGEST, max(1, due() - begin)))
        cycles -= port.cycle - begin
        await attend()
