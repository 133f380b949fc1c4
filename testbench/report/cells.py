"""Tables of the terminal as tables of a page: the same cells, which a reader can sort."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Cells", "cells", "plain"]


@dataclass(frozen=True)
class Cells:
    """A table: its title, the names of its columns and whether they hold figures, its rows."""

    title: str
    columns: list[str]
    figures: list[bool]
    rows: list[list[str]]
    caption: str = ""


def plain(text: Any) -> str:
    """``text`` without rich's markup."""
    from rich.text import Text

    return text.plain if isinstance(text, Text) else Text.from_markup(str(text)).plain


def cells(table: "Table") -> Cells:
    """Returns what ``table`` shows."""
    columns = [[plain(cell) for cell in column.cells] for column in table.columns]
    return Cells(plain(table.title or ""), [plain(column.header) for column in table.columns],
                 [column.justify == "right" for column in table.columns],
                 [list(row) for row in zip(*columns, strict=True)], plain(table.caption or ""))
