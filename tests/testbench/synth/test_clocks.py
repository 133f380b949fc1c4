"""Clocks of a board: what its PLL makes, what gives the line's rate, and what is advised."""

import re
from fractions import Fraction

import pytest
from nicbed.rtl.boards.devices.board import uart_divisor
from nicbed.rtl.boards.devices.pll import FEEDBACK, Pll, PllSettings, pll_settings
from nicbed.testbench.errors import UserError
from nicbed.testbench.synth import boards, plan, report
from nicbed.testbench.synth.clocks import clock_divisor, clocks, parse_clock, source_mhz

from tests.labs.synth import Blinker

pytest.importorskip("amaranth_boards")


@pytest.mark.parametrize("source", [25, 100])
@pytest.mark.parametrize("clock", [25, 30, 40, 45, 50, 60, 75, 100])
def test_pll_makes_the_clock_within_its_ranges(source, clock):
    settings = pll_settings(Fraction(source), Fraction(clock))
    assert settings.clock_mhz == clock
    assert Fraction(25, 8) <= settings.detector_mhz <= 400
    assert 400 <= settings.oscillator_mhz <= 800
    assert 1 <= settings.input <= 128 and settings.feedback in FEEDBACK
    assert 1 <= settings.output <= 128


def test_pll_is_as_the_tools_own_calculator_has_it():
    """yowasp-ecppll -i 100 -o 48 says 25, 12, 12, of -i 25 -o 60 5, 12, 10."""
    assert pll_settings(Fraction(100), Fraction(48)) == PllSettings(Fraction(100), 25, 12, 12)
    assert pll_settings(Fraction(25), Fraction(60)) == PllSettings(Fraction(25), 5, 12, 10)


def test_a_clock_that_no_pll_makes_is_refused():
    with pytest.raises(ValueError, match="^no PLL makes 48 MHz of 25 MHz$"):
        pll_settings(Fraction(25), Fraction(48))
    with pytest.raises(ValueError, match="no PLL makes 1 MHz"):
        pll_settings(Fraction(100), Fraction(1))


def test_pll_wants_settings():
    with pytest.raises(TypeError, match="^settings must be PllSettings, not 48$"):
        Pll(settings=48)


def test_divisor_of_the_line():
    assert uart_divisor(Fraction(48)) == 16
    assert uart_divisor(Fraction(60)) == 20
    assert uart_divisor(Fraction(50)) == 17
    with pytest.raises(ValueError, match="8 clocks a bit are 6.7 % off"):
        uart_divisor(Fraction(45, 2))


@pytest.mark.parametrize("text", ["4o", "", "1/0", "0", "-3", "401"])
def test_invalid_clock(text):
    with pytest.raises(UserError, match="^--clock"):
        parse_clock(text)


def _possible(board, clock_mhz):
    try:
        uart_divisor(clock_mhz)
        pll_settings(source_mhz(board), clock_mhz)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("name", boards.BOARDS.builtin)
def test_clocks_of_a_board_are_those_that_its_pll_and_its_line_have(name):
    board = boards.board(name)
    found = clocks(board)
    assert found == sorted(set(found)) and all(_possible(board, one) for one in found)
    assert board.clock_mhz in found
    assert {one for one in map(Fraction, range(3, 69)) if _possible(board, one)} == {
        one for one in found if one < 69 and one.denominator == 1}
    for one in found:
        assert parse_clock(f"{float(one):g}") == one


@pytest.mark.parametrize("name", boards.BOARDS.builtin)
@pytest.mark.parametrize("reached", [5.9, 14.9, 15.0, 21.1, 25.8, 39.999, 41.5, 46.875, 133.4])
def test_the_advised_clock_is_available_and_met(name, reached):
    board = boards.board(name)
    text = report.misses_clock(board.title, Fraction(400), reached, [], clocks(board))
    found = re.search(r"; try --clock (\S+) or more --seeds$", text)
    advised = parse_clock(found[1]) if found else Fraction(0)
    if found:
        assert advised <= reached
        assert clock_divisor(board, advised) == uart_divisor(advised)
        plan.on_board(board, Blinker(), advised)
    else:
        assert text.endswith("; no clock as slow gives the line its 3000000 baud: try more "
                             "--seeds or a smaller NIC")
    between = (Fraction(one) for one in range(3, int(reached) + 1) if one > advised)
    assert not any(_possible(board, one) for one in between)


@pytest.mark.parametrize(("name", "clock", "nearest"), [
    ("ecpix5", "25", "24"), ("ecpix5", "28", "30"), ("ecpix5", "1", "12"), ("ulx3s", "21", "15"),
    ("ulx3s", "20", "15"), ("ulx3s", "48", "46.875")])
def test_the_nearest_clock_is_available(name, clock, nearest):
    board = boards.board(name)
    with pytest.raises(UserError, match=rf"^--clock {clock} on the {board.title}: [^;]+; the "
                                        rf"nearest in whole kHz is --clock {nearest}$"):
        clock_divisor(board, Fraction(clock))
    assert clock_divisor(board, Fraction(nearest)) == round(Fraction(nearest) / 3)
