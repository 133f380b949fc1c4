"""The functional target: nodes, and a network with faults, after the layouts.

Its times are plausible, not the target's: a packet crosses whole, memory has no bandwidth, a hit
and a miss cost the same.
"""

import heapq
from collections.abc import Callable, Sequence
from typing import Any

from ....host.port.memory import ArrayMemory
from ....layouts.description import Description
from .nic import ModelNic
from .port import ModelPort

__all__ = ["Model"]


class Model:
    """The target, with the mailbox and memories that a runtime needs."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self.now = 0
        nodes, self.cpus = description.fabric.nodes, description.node.cpus
        self.ports = nodes * self.cpus
        self.memories = [ArrayMemory(description.memory.bytes) for _ in range(nodes)]
        self.nics = [ModelNic(self, address)
                     for address in range(nodes * description.node.nics)]
        self.hosts = [ModelPort(self, node, cpu) for node in range(nodes)
                      for cpu in range(self.cpus)]
        self.events: list = []
        self.sequence = 0
        self.limit = 0
        self.attend = True
        self.stopped_at = 0

    def at(self, cycle: int, action: Callable[[], None]) -> None:
        assert cycle >= self.now
        self.sequence += 1
        heapq.heappush(self.events, (cycle, self.sequence, action))

    def dma_write(self, node: int, address: int, data: bytes) -> None:
        self.memories[node].write(address, data)
        self.recheck(node)

    def cpus_of(self, node: int) -> list[ModelPort]:
        return self.hosts[node * self.cpus:(node + 1) * self.cpus]

    def nics_of(self, node: int) -> list[ModelNic]:
        nics = self.description.node.nics
        return self.nics[node * nics:(node + 1) * nics]

    def interrupted(self, nic: ModelNic) -> list[ModelPort]:
        """The CPUs that ``nic`` interrupts."""
        cpus, nics = self.cpus_of(nic.home), self.description.node.nics
        return cpus if nics == 1 else [cpus[nic.node % nics % self.cpus]]

    def seen(self, host: ModelPort) -> bool:
        """Tells whether the CPU sees the interrupt of a NIC."""
        return any(nic.seen and host in self.interrupted(nic) for nic in self.nics_of(host.node))

    def recheck(self, node: int) -> None:
        for host in self.cpus_of(node):
            if host.spin:
                host.aim()

    # The mailbox

    def cycle(self) -> int:
        return self.now

    def look(self) -> tuple[int, int, int]:
        return (self.now, sum(1 << i for i, host in enumerate(self.hosts) if host.waiting),
                bool(self.limit) and self.now >= self.limit)

    def crash(self) -> tuple[int, ...]:
        return 0, 0, 0

    def answers(self, port: int) -> bytearray:
        return self.hosts[port].answers

    def block(self, port: int) -> bytearray:
        return self.hosts[port].block

    def give(self, port: int, count: int) -> None:
        self.hosts[port].give(count)

    # Running

    def was_given(self, port: int, entries: Sequence[tuple[Any, ...]]) -> None:
        """``port`` was given ``entries``, before it executes them: for whoever watches."""

    def serve(self, attention: Callable[[], bool]) -> None:
        """Call ``attention`` at once and then at each attention, until it returns False. What a
        program has stored, the other CPUs of its node see. Where nothing can happen any more, and
        at the limit, time is at the limit."""
        events = self.events
        more = self._attended(attention)
        while more:
            if not events or self.limit and events[0][0] >= self.limit:
                assert self.limit, "the target is dead: nothing can happen any more"
                self.now = self.limit
                attention()
                return
            self.now = events[0][0]
            self.attend = False
            while events and events[0][0] == self.now:
                heapq.heappop(events)[2]()
            if self.attend:
                more = self._attended(attention)

    def _attended(self, attention: Callable[[], bool]) -> bool:
        more = attention()
        if self.cpus > 1:
            for node in range(len(self.memories)):
                self.recheck(node)
        return more
