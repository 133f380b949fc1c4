"""The top of a board: its clock, its pins, and the core behind them."""

from functools import reduce
from typing import Any

from amaranth.hdl import ClockDomain, Module
from amaranth.lib import io, wiring
from amaranth.lib.cdc import ResetSynchronizer
from amaranth.lib.wiring import In, Out

from .board import Board
from .pll import Pll, PllSettings

__all__ = ["BoardTop", "SIDE"]

SIDE = wiring.Signature({"rx": In(1, init=1), "tx": Out(1), "running": Out(1)})
"""The interface behind the pins: the two wires of a serial line, idle high, and a light."""


class BoardTop(wiring.Component):
    """A core with :data:`SIDE` on a board.

    The one clock domain, ``sync``, is the PLL's clock. It is in reset until the PLL has locked.
    There is no other reset: the back end resets the target over the serial line.

    Parameters
    ----------
    board : :class:`Board`
        The board.
    settings : :class:`PllSettings`
        The clock, of the board's oscillator.
    core : :class:`wiring.Component`
        The core behind the pins.

    Raises
    ------
    TypeError
        ``board`` is no board, or ``core`` lacks a member of :data:`SIDE`.
    """

    def __init__(self, *, board: Board, settings: PllSettings, core: Any) -> None:
        if not isinstance(board, Board):
            raise TypeError(f"board must be a Board, not {board!r}")
        signature = getattr(core, "signature", None)
        members = dict(signature.members) if signature is not None else {}
        if any(members.get(name) != member for name, member in SIDE.members.items()):
            raise TypeError(f"core must have the members {', '.join(SIDE.members)}: {core!r}")
        self._board = board
        self._settings = settings
        self._core = core
        super().__init__({})

    @property
    def board(self) -> Board:
        """The board."""
        return self._board

    @property
    def settings(self) -> PllSettings:
        """The clock."""
        return self._settings

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        board = self._board
        m.submodules.pll = pll = Pll(settings=self._settings)
        m.submodules.core = core = self._core

        source = platform.request(platform.default_clk, dir="-")
        m.submodules.source = source_pin = io.Buffer("i", source)
        m.domains.sync = domain = ClockDomain()
        # The oscillator is constrained; placing and routing derive the constraint of the PLL's
        # clock.
        m.d.comb += [pll.source.eq(source_pin.i), domain.clk.eq(pll.clock)]
        m.submodules.reset = ResetSynchronizer(~pll.locked)

        uart = platform.request("uart", board.uart, dir="-")
        resource, *path = board.led
        led = reduce(getattr, path, platform.request(resource, 0, dir="-"))
        m.submodules.rx = rx = io.Buffer("i", uart.rx)
        m.submodules.tx = tx = io.Buffer("o", uart.tx)
        m.submodules.led = lit = io.Buffer("o", led)
        m.d.comb += [core.rx.eq(rx.i), tx.o.eq(core.tx), lit.o.eq(core.running)]
        return m
