"""The supported boards."""

from importlib import import_module
from typing import TYPE_CHECKING

from ..errors import UserError, nearest
from .flow.tools import need

if TYPE_CHECKING:
    from ...rtl.boards.devices.board import Board

__all__ = ["BOARDS", "board"]

BOARDS = {
    "ecpix5": "nicbed.rtl.boards.devices.ecpix5",
    "ulx3s": "nicbed.rtl.boards.devices.ulx3s",
}
"""Name of each board, and the module that has its BOARD."""


def board(name: str) -> "Board":
    """The board called ``name``.

    Raises
    ------
    UserError
        The board does not exist, or amaranth-boards is not installed.
    """
    if name not in BOARDS:
        raise UserError(f"no board is called {name}{nearest(name, sorted(BOARDS))}")
    need("boards")
    return import_module(BOARDS[name]).BOARD
