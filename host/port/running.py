"""The port of whichever CPU runs: for code that several CPUs of a node execute, such as a kernel's.

A layer's kernel is one object for a node. Its work is charged to the CPU that executes it.
"""

from collections.abc import Awaitable, Callable
from fractions import Fraction
from typing import Any, cast

from .costs import Path
from .port import Mark, Port
from .work import Charge

__all__ = ["Running", "RunningPort", "port_of"]


class Running:
    """The runtime's knowledge of all nodes: the ``port`` whose program runs."""

    port: Port

    __slots__ = ("port",)


class _Charges:
    """A path, or several together, as each CPU charges them: ``register`` makes that."""

    __slots__ = ("_register", "_by_port")

    def __init__(self, register: Callable[[Port], Charge]) -> None:
        self._register = register
        self._by_port: dict[int, Charge] = {}

    def of(self, port: Port) -> Charge:
        """It as ``port`` charges it."""
        found = self._by_port.get(port.number)
        if found is None:
            found = self._by_port[port.number] = self._register(port)
        return found


class RunningPort:
    """In place of a :class:`~.port.Port`: everything is that of the port whose program runs."""

    __slots__ = ("_running",)

    def __init__(self, running: Running) -> None:
        object.__setattr__(self, "_running", running)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._running.port, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._running.port, name, value)

    def path(self, path: Path, scale: Fraction | None = None) -> _Charges:
        """Register ``path`` with every CPU that will charge it."""
        return _Charges(lambda port: port.path(path, scale))

    def joint(self, *charges: _Charges) -> _Charges:
        """One charge for several, on every CPU."""
        return _Charges(lambda port: port.joint(*(one.of(port) for one in charges)))

    def spend(self, charges: _Charges) -> None:
        """Spend a path on the CPU that runs."""
        port = self._running.port
        port.spend(charges.of(port))

    def spend_within(self, charges: _Charges, entries: int) -> Awaitable[None]:
        """:meth:`.Port.spend_within` on the CPU that runs."""
        port = self._running.port
        return port.spend_within(charges.of(port), entries)

    def begin(self, activity: int, number: int, charges: _Charges) -> Mark:
        """:meth:`.Port.begin` on the CPU that runs."""
        port = self._running.port
        return port.begin(activity, number, charges.of(port))

    def span(self, activity: int, number: int, charges: _Charges) -> None:
        """:meth:`.Port.span` on the CPU that runs."""
        port = self._running.port
        port.span(activity, number, charges.of(port))


def port_of(running: Running) -> Port:
    """The port of whichever CPU runs. Layers use it as any port, so it has a port's type; it is
    none, because it has no state."""
    return cast(Port, RunningPort(running))
