"""Services of one owner, each the only one of its kind: of a CPU, of a node, of the run."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar, runtime_checkable

__all__ = ["Explains", "Finds", "Services", "ToldOfEnds"]

Service = TypeVar("Service")


class Services:
    """The services of one owner, at most one of each kind. Whoever asks first has it made. Those
    that were ``made`` before are of their own classes."""

    __slots__ = ("_found",)

    def __init__(self, *made: object) -> None:
        self._found: dict[type, Any] = {type(one): one for one in made}

    def find(self, kind: type[Service], make: Callable[[], Service]) -> Service:
        """The one of ``kind``; ``make`` makes it if there is none."""
        found: Service | None = self._found.get(kind)
        if found is None:
            found = self._found[kind] = make()
        return found

    def __iter__(self) -> Iterator[Any]:
        """All that there are now. What is made meanwhile is not among them."""
        return iter([*self._found.values()])


class Finds(Protocol):
    """A view of a node, which has services of its own."""

    def service(self, kind: type[Service]) -> Service:
        """The only one of ``kind``."""
        ...

    def nic(self, number: int) -> "Finds":
        """The view on NIC ``number`` of the node's."""
        ...


@runtime_checkable
class Explains(Protocol):
    """A service of the run (:meth:`.Node.run_service`) that says more about why it does not end."""

    def diagnosis(self, now: int) -> list[str]:
        """Lines about what waits for whom at cycle ``now``, where the ports do not tell."""
        ...


@runtime_checkable
class ToldOfEnds(Protocol):
    """A service of the run (:meth:`.Node.run_service`) that is told when a program has ended."""

    def program_ended(self, place: tuple[int, int]) -> None:
        """The program of ``place``, a node and a CPU, has. What this raises ends the run."""
        ...
