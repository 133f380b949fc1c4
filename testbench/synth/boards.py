"""The door of boards."""

from fractions import Fraction

from ...layouts.doors import Door
from ...rtl.boards.devices.board import Board
from ..errors import UserError
from .clocks import clock_divisor
from .flow.device import device_options
from .flow.tools import need

__all__ = ["BOARDS", "board"]

BOARDS: Door[Board] = Door("board", "nicbed.boards", [
    f"{name} = nicbed.rtl.boards.devices.{name}:BOARD" for name in ("ecpix5", "ulx3s")],
    Board, home=__name__)


def board(name: str) -> Board:
    """The board called ``name``, or at that path.

    Raises
    ------
    UserError
        The board does not exist, its platform lacks what a board needs, or amaranth-boards is not
        installed.
    """
    if name in BOARDS.names() or BOARDS.is_path(name):
        need("boards")
    found = BOARDS.get(name)
    if not BOARDS.is_builtin(name):
        _check(found)
    return found


def _check(board: Board) -> None:
    """Refuse a board that cannot hold any target.

    Raises
    ------
    UserError
        Its platform is no ECP5's with an oscillator, a serial line and a light, or its clock cannot
        be made.
    """
    where = f"board {board.name}"
    try:
        platform = board.platform()
        device_options(platform)
        frequency = platform.default_clk_frequency
        platform.lookup("uart", board.uart)
        platform.lookup(board.led[0], 0)
    except Exception as error:  # any of the user's platform
        said = " ".join(str(error).split())
        raise UserError(f"{where}: platform: {type(error).__name__}: {said}") from None
    if not Fraction(frequency) > 0:
        raise UserError(f"{where}: platform: its oscillator has no frequency")
    try:
        clock_divisor(board, Fraction(board.clock_mhz))
    except UserError as error:
        raise UserError(f"{where}: clock_mhz: {error}") from None
