"""A port that keeps no marks."""

from typing import Any

from .port import UNKEPT, Port

__all__ = ["QuietPort"]


class QuietPort(Port):
    """For the simulation's speed alone. Its times are those of a port that keeps marks
    (:attr:`.work.Work.rounded`)."""

    __slots__ = ()

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.marking = False

    def mark(self, activity: int, kind: int, number: int) -> list[int]:
        self.rounded = self.parts
        return UNKEPT

    def mark_check(self, ends: int, begins: int) -> list[int]:
        return UNKEPT
