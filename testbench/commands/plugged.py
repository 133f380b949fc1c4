"""Lists all that comes through the doors: its name, where it is from, and what it is."""

from typing import Any, NamedTuple

from ...layouts.doors import CORES, LAYERS, NICS, TOPOLOGIES, Door, DoorError
from ..benches import BENCHES

__all__ = ["Plugged", "doors", "load_all", "plugged"]


class Plugged(NamedTuple):
    """An object at a door."""

    name: str
    origin: str
    title: str
    """A line; of one that cannot be loaded, why."""
    plugin: Any
    """The object; None if it cannot be loaded."""


def doors() -> dict[str, Door[Any]]:
    """The doors, by what lists call that which comes through them; benchmarks apart."""
    return {"designs": NICS, "layers": LAYERS, "cores": CORES, "topologies": TOPOLOGIES}


def plugged(door: Door[Any]) -> list[Plugged]:
    """All that ``door`` lets in, loaded."""
    found = []
    for one in door.found():
        try:
            plugin = one.load()
        except DoorError as error:
            found.append(Plugged(one.name, one.origin.text, f"cannot be loaded: {error}", None))
        else:
            found.append(Plugged(one.name, one.origin.text, getattr(plugin, "title", ""), plugin))
    return found


def load_all(nic: str | None) -> None:
    """Load what is to be listed: objects of entry points, and what description ``nic`` names.

    Raises
    ------
    UserError
        The description is wrong.
    """
    from ..descriptions import load

    if nic is not None:
        load.load(nic)
    for door in (*doors().values(), BENCHES):
        plugged(door)

