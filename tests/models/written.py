"""The functional target, with all that it was given."""

from nicbed.layouts.description import Description
from nicbed.layouts.operations import ENTRY

from tests.models.target import Model

__all__ = ["Written"]


class Written(Model):
    """Writes down every block that it is given: the cycle, the port, and the entries."""

    def __init__(self, description: Description) -> None:
        super().__init__(description)
        self.given: list[tuple[int, int, bytes]] = []

    def give(self, port: int, count: int) -> None:
        self.given.append((self.now, port, bytes(self.block(port)[:count * ENTRY.size])))
        super().give(port, count)
