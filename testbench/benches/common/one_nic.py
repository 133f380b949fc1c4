"""Benchmarks on nodes with several NICs: a lab whose programs, and whose events, are of one NIC of
each node."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ....host.port.node import Program
from ....layouts.description import Description
from ....layouts.trace import OF_NODES, OF_SWITCHES, Event

__all__ = ["OneNic", "nic_0"]


def nic_0(description: Description) -> list[int]:
    """The wire address of NIC 0 of each node."""
    nics = description.node.nics
    return list(range(0, description.fabric.nodes * nics, nics))


class OneNic:
    """A lab whose programs get their node as a layer on its NIC ``nic`` sees it, with the nodes
    that have a program as peers. Events are those of a node with that NIC alone: ``node`` is a
    node's number. The other NICs are there, and idle.

    Benchmarks count nodes. A layer counts wire addresses: ``Node.address_on`` and ``Node.node_of``
    go from one to the other.
    """

    def __init__(self, lab: Any, nic: int = 0) -> None:
        self._lab = lab
        self._nic = nic
        self._nics = lab.description.node.nics

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lab, name)

    async def run(self, programs: Sequence[Program | Sequence[Program | None] | None],
                  **options: Any) -> Any:
        """As :meth:`~nicbed.testbench.lab.Lab.run`."""
        peers = [node * self._nics + self._nic for node, given in enumerate(programs) if given]

        def placed(given: Program | Sequence[Program | None] | None) -> Any:
            if given is None:
                return None
            if not callable(given):
                return [placed(program) for program in given]
            return lambda node: given(node.nic(self._nic, peers))

        run = await self._lab.run([placed(given) for given in programs], **options)
        return replace(run, events=[found for event in run.events
                                    if (found := self._of_node(event)) is not None])

    def _of_node(self, event: Event) -> Event | None:
        """``event`` with its node; None if it is of another NIC."""
        if event.block in OF_SWITCHES or event.block in OF_NODES:
            return event
        node, nic = divmod(event.node, self._nics)
        return event._replace(node=node) if nic == self._nic else None
