"""NICs that processes opened, and their protection tags. Plain records."""

from collections.abc import Callable
from typing import Any

from ..kernel.process import Process

__all__ = ["Nic", "Ptag"]


class Nic:
    """A NIC that ``process`` opened."""

    __slots__ = ("process", "name", "open", "error_handler", "error_context")

    def __init__(self, process: Process, name: str) -> None:
        self.process = process
        self.name = name
        self.open = True
        self.error_handler: Callable[..., Any] | None = None
        self.error_context: Any = None


class Ptag:
    """A protection tag. ``users`` counts the objects that have it."""

    __slots__ = ("nic", "number", "users", "valid")

    def __init__(self, nic: Nic, number: int) -> None:
        self.nic = nic
        self.number = number
        self.users = 0
        self.valid = True
