"""Shares the 64-bit port of NIC memory."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...parts.round_robin import RoundRobin
from ...parts.sizes import check_count
from ..types import WidePort

__all__ = ["MemoryShare"]


class MemoryShare(wiring.Component):
    """Grants one access a cycle: client 0's if it requests, otherwise another client's, round
    robin.

    Latency: none (combinational); a read's word reaches its client in the next cycle. Throughput:
    an access a cycle. Back-pressure: client 0 waits only for ``memory``. Any other client that
    keeps requesting gets its access after at most ``clients - 2`` accesses of the clients other
    than client 0; client 0 must leave cycles free. Reset: client 1 has priority.

    Parameters
    ----------
    clients : int
        At least 2: the PIO window first.

    Members
    -------
    client : In(WidePort), an array
        ``read`` is the memory's for all: valid for who had a read accepted in the cycle before.
    memory : Out(WidePort)
        NIC memory.

    Raises
    ------
    TypeError
        ``clients`` is not an integer.
    ValueError
        ``clients`` is less than 2.
    """

    def __init__(self, *, clients: int) -> None:
        check_count("clients", clients, least=2)
        self._clients = clients
        self._arbiter = RoundRobin(count=clients - 1)
        super().__init__({
            "client": In(WidePort).array(clients),
            "memory": Out(WidePort),
        })

    @property
    def clients(self) -> int:
        """Clients."""
        return self._clients

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.arbiter = arbiter = self._arbiter
        window, *others = self.client
        shared = Signal()
        m.d.comb += [
            arbiter.requests.eq(Cat(client.valid for client in others)),
            shared.eq(~window.valid),
            arbiter.advance.eq(shared & self.memory.ready),
        ]

        def passes(client: wiring.PureInterface) -> None:
            m.d.comb += [
                self.memory.valid.eq(client.valid),
                self.memory.write.eq(client.write),
                self.memory.address.eq(client.address),
                self.memory.data.eq(client.data),
                self.memory.strobe.eq(client.strobe),
                client.ready.eq(self.memory.ready),
            ]

        with m.If(window.valid):
            passes(window)
        with m.Elif(arbiter.requests.any()):
            with m.Switch(arbiter.index):
                for number, client in enumerate(others):
                    with m.Case(number):
                        passes(client)
        m.d.comb += [client.read.eq(self.memory.read) for client in self.client]
        return m
