"""A barrier of a node's CPUs, in shared memory."""

from ..port.node import Node
from .costs import Prices
from .words import lines, spin, store

__all__ = ["Barrier"]


class Barrier:
    """Lets ``parties`` CPUs of a node (default: all) go on when all have arrived. The arrivals are
    counted by CAS; those that wait spin on the round's number, which the last one stores.

    One object a CPU; those with the same ``name`` on a node are one barrier.
    """

    def __init__(self, cpu: Node, name: str, parties: int | None = None) -> None:
        self._cpu = cpu
        self._port = cpu.port
        self._parties = cpu.cpus if parties is None else parties
        if not 1 <= self._parties <= cpu.cpus:
            raise ValueError(f"parties must be 1 to {cpu.cpus} (node.cpus), not {parties}")
        self._count, size = lines(cpu, name, 2)
        self._round = self._count + size
        self._rounds = 0
        prices = cpu.service(Prices)
        self._arrive = prices.arrive
        self._counts = prices.count
        self._last = prices.last

    async def wait(self) -> None:
        """Arrive, and wait for the others."""
        port, cpu = self._port, self._cpu
        port.spend(self._arrive)
        self._rounds += 1
        there = 0
        while True:
            port.spend(self._counts)
            found = await port.cas(self._count, there, there + 1)
            if found == there:
                break
            there = found
        if there + 1 == self._parties:
            port.spend(self._last)
            await store(cpu, self._count, 0)
            await store(cpu, self._round, self._rounds)
        else:
            port.waiting_for("a barrier")
            await spin(cpu, self._round, self._rounds)
            port.waiting_for("")
