"""Radiona's ULX3S with an LFE5U-85F."""

from fractions import Fraction

from amaranth_boards.ulx3s import ULX3S_85F_Platform

from .board import Board

__all__ = ["BOARD"]

BOARD = Board(name="ulx3s", title="ULX3S 85F", platform=ULX3S_85F_Platform, programmer="ulx3s",
              clock_mhz=Fraction(15))
