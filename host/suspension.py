"""The objects that a host program's awaits lead to."""

__all__ = ["EXECUTED", "NOTHING", "Suspension"]


class Suspension(tuple[None, ...]):
    """Awaited, each item hands control to the runtime once."""

    __slots__ = ()
    __await__ = tuple.__iter__


EXECUTED = Suspension((None,))
"""Awaited while a port executes a block."""
NOTHING = Suspension(())
"""Takes no time and no wake-up."""
