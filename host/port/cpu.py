"""A CPU of a node, or its kernel, which any CPU executes: whoever has a port."""

from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from ..kernel.interrupts import Interrupts
from .port import Port
from .services import Services

__all__ = ["ALL", "Cpu"]

ALL = -1
"""In place of a CPU's number: all CPUs of a node."""


class Cpu:
    """CPU ``number`` of its node; the kernel of a node whose CPUs share the NIC is ALL.

    Attributes
    ----------
    port
        Its host port.
    trace_numbers
        Trace numbers of its packets, without end. None is 0, and none is also another CPU's until
        the numbers wrap around.
    interrupts
        The interrupt handlers of the layers on it.
    services
        Those of this CPU.
    ends
        What runs when its program has returned, the last one first.
    """

    __slots__ = ("number", "port", "trace_numbers", "interrupts", "services", "ends", "_by_nic")

    def __init__(self, number: int, port: Port, trace_numbers: Iterator[int]) -> None:
        self.number = number
        self.port = port
        self.trace_numbers = trace_numbers
        self.interrupts = Interrupts()
        self.services = Services()
        self.ends: list[Callable[[], Coroutine[Any, Any, None]]] = []
        self._by_nic: dict[int, Services] = {}

    def services_on(self, nic: int) -> Services:
        """The services for this CPU on its node's NIC ``nic``, one of several."""
        return self._by_nic.setdefault(nic, Services())
