"""Counts accesses that have no answer yet, and stored bytes sent and received."""

from .process import Process, SplitCError

__all__ = ["Counting"]


class Counting:
    """Counters of a process, and the waits for them.

    Attributes
    ----------
    open
        Split-phase accesses that are not complete.
    sent, received
        Stored bytes since the start, to and from all processes. They are never set back: a process
        that goes on early may store again before another has left its wait.
    """

    __slots__ = ("open", "sent", "received", "_consumed", "_am", "_port")

    def __init__(self, process: Process) -> None:
        self.open = 0
        self.sent = 0
        self.received = 0
        self._consumed = 0
        self._am = process.am
        self._port = process.port

    async def sync(self) -> None:
        """Wait until no split-phase access is open."""
        self._port.waiting_for("its gets and puts, in sync")
        await self._am.wait(lambda: not self.open)
        self._port.waiting_for("")

    async def store_sync(self, length: int) -> None:
        """Wait until ``length`` more stored bytes have arrived; they then count no more."""
        if length < 0:
            raise SplitCError(f"store_sync of {length} bytes: must not be negative")
        self._consumed += length
        self._port.waiting_for(f"{length} stored bytes, in store_sync")
        await self._am.wait(lambda: self.received >= self._consumed)
        self._port.waiting_for("")

    def settle(self, received: int) -> None:
        """Note that all bytes stored up to now, ``received`` of them here, count no more."""
        self._consumed = received
