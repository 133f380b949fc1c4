"""LambdaConcept's ECPIX-5 with an LFE5UM5G-85F."""

from fractions import Fraction

from amaranth_boards.ecpix5 import ECPIX585Platform

from .board import Board

__all__ = ["BOARD"]

BOARD = Board(name="ecpix5", title="ECPIX-5 85F", platform=ECPIX585Platform, programmer="ecpix5",
              clock_mhz=Fraction(24), led=("rgb_led", "g"))
