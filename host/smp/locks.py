"""Locks in shared memory: one that all CPUs spin on, and one with a queue."""

from ..port.node import Node
from .costs import Prices
from .words import lines, spin, store

__all__ = ["QueueLock", "SpinLock"]


class SpinLock:
    """A word that a CAS takes (test-and-set). A CPU that finds it taken reads the word in its cache
    until it is free, then tries again. Who comes next is open, and each release makes all that wait
    read the line anew.

    One object a CPU; those with the same ``name`` on a node are one lock.
    """

    def __init__(self, cpu: Node, name: str) -> None:
        self._cpu = cpu
        self._port = cpu.port
        self._word, _ = lines(cpu, name)
        prices = cpu.service(Prices)
        self._take = prices.take
        self._release = prices.release

    async def acquire(self) -> None:
        """Take the lock; waits while another CPU has it."""
        port, word = self._port, self._word
        port.spend(self._take)
        while await port.cas(word, 0, 1):
            port.waiting_for("a spin lock")
            await spin(self._cpu, word, 0)
            port.spend(self._take)
        port.waiting_for("")

    async def release(self) -> None:
        """Give the lock back."""
        self._port.spend(self._release)
        await store(self._cpu, self._word, 0)


class QueueLock:
    """A queue of CPUs, each of which spins on a word of its own (Mellor-Crummey and Scott, ACM TOCS
    9(1), 1991): first come, first served, and a release concerns one other CPU.

    One object a CPU; those with the same ``name`` on a node are one lock.
    """

    def __init__(self, cpu: Node, name: str) -> None:
        self._cpu = cpu
        self._port = cpu.port
        self._tail, size = lines(cpu, name, 1 + cpu.cpus)
        self._mine = self._tail + size * (1 + cpu.cpu)
        """The CPU's record: the address of its successor's, and whether it has to wait."""
        prices = cpu.service(Prices)
        self._queue = prices.queue
        self._swap = prices.swap
        self._hand_over = prices.hand_over

    async def acquire(self) -> None:
        """Take the lock; waits behind the CPUs that came before."""
        port, cpu, mine = self._port, self._cpu, self._mine
        port.spend(self._queue)
        await store(cpu, mine, 0, 1)
        before = 0
        while True:
            port.spend(self._swap)
            found = await port.cas(self._tail, before, mine)
            if found == before:
                break
            before = found
        if before:
            await store(cpu, before, mine)
            port.waiting_for("a queue lock")
            await spin(cpu, mine + 8, 0)
            port.waiting_for("")

    async def release(self) -> None:
        """Hand the lock to the next CPU in the queue, if there is one."""
        port, cpu, mine = self._port, self._cpu, self._mine
        port.spend(self._hand_over)
        following = int.from_bytes(await cpu.load(mine, 8), "little")
        if not following:
            if await port.cas(self._tail, mine, 0) == mine:
                return
            # Another CPU is in the queue, and about to say so.
            following = await spin(cpu, mine, 0, while_equal=True)
        await store(cpu, following + 8, 0)
