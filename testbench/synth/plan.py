"""The design to synthesise: a NIC description on a board, or without a board's pins."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ...layouts.description import Description
from ..errors import UserError
from ..simulators.verilog import foreign_sources, rtlil
from .clocks import source_mhz
from .flow.device import device_options
from .flow.netlist import TOP
from .identity import identity

if TYPE_CHECKING:
    from ...rtl.boards.devices.board import Board

__all__ = ["FRAMES", "Plan", "board_core", "on_board", "shares", "without_board"]

FRAMES = 64
"""Frames of a node's resident host memory: 64 KiB."""


@dataclass(frozen=True)
class Plan:
    """RTLIL of the top, the sources it needs, and the board's constraints."""

    text: str
    cores: Mapping[str, str]
    constraints: str = ""
    device: list[str] = field(default_factory=list)


def board_core(description: Description, divisor: int, frames: int = FRAMES) -> Any:
    """The logic behind a board's pins.

    Raises
    ------
    UserError
        No board can hold the description.
    """
    from ...rtl.boards.core import BoardCore

    try:
        return BoardCore(description=description, divisor=divisor, frames=frames,
                         identity=identity(description), shared=shares(description))
    except ValueError as error:
        raise UserError(f"no board holds this description: {error}") from None


def shares(description: Description) -> bool:
    """Tells whether nodes share one copy of their logic: two copies of a VI engine fill a
    device."""
    return (description.via.design == "engine" and description.nic.processor == "none"
            and description.fabric.nodes == 2)


def on_board(board: "Board", core: Any, clock_mhz: Fraction) -> Plan:
    """``core`` on ``board`` at ``clock_mhz``.

    Raises
    ------
    ValueError
        The board has no such clock.
    """
    from ...rtl.boards.devices.pll import pll_settings
    from ...rtl.boards.devices.top import BoardTop

    platform = board.platform()
    settings = pll_settings(source_mhz(board), clock_mhz)
    top = BoardTop(board=board, settings=settings, core=core)
    files = platform.prepare(top, TOP, emit_src=False).files
    text = _text(files[f"{TOP}.il"])
    return Plan(text, foreign_sources(text), _text(files[f"{TOP}.lpf"]), device_options(platform))


def without_board(core: Any, top: str = TOP) -> Plan:
    """``core`` alone as module ``top``, its ports those of its signature."""
    text = rtlil(core, top)
    return Plan(text, foreign_sources(text))


def _text(content: Any) -> str:
    return content.decode() if isinstance(content, bytes) else content
