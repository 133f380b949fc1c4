"""The clock of a board: any that the ECP5's PLL makes exactly from its oscillator."""

from dataclasses import dataclass
from fractions import Fraction

from amaranth.hdl import Instance, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Pll", "PllSettings", "pll_clocks", "pll_settings"]

# Data sheet FPGA-DS-02012, "sysCLOCK PLL Timing", in MHz.
PHASE_DETECTOR = (Fraction(25, 8), Fraction(400))
OSCILLATOR = (Fraction(400), Fraction(800))
OUTPUT = (Fraction(25, 8), Fraction(400))
DIVIDERS = range(1, 129)
FEEDBACK = range(1, 81)


@dataclass(frozen=True)
class PllSettings:
    """Dividers of a PLL: of its input, of its feedback, and of its oscillator at the output."""

    source_mhz: Fraction
    input: int
    feedback: int
    output: int

    @property
    def clock_mhz(self) -> Fraction:
        """Frequency of the output."""
        return self.source_mhz * self.feedback / self.input

    @property
    def oscillator_mhz(self) -> Fraction:
        """Frequency of the PLL's oscillator; the feedback is taken from the output."""
        return self.clock_mhz * self.output

    @property
    def detector_mhz(self) -> Fraction:
        """Frequency at which the phase detector compares."""
        return self.source_mhz / self.input


def pll_settings(source_mhz: Fraction, clock_mhz: Fraction) -> PllSettings:
    """PLL settings that make ``clock_mhz`` from ``source_mhz``: with the fastest comparison, which
    has the least jitter, and the PLL's oscillator as near as possible to the middle of its range.

    Raises
    ------
    ValueError
        The clock cannot be made exactly.
    """
    exact = [(divider, clock_mhz * divider / source_mhz) for divider in DIVIDERS]
    found = [(divider, int(feedback)) for divider, feedback in exact
             if feedback.denominator == 1 and feedback in FEEDBACK
             and _within(PHASE_DETECTOR, source_mhz / divider)]
    if not found or not _within(OUTPUT, clock_mhz):
        raise ValueError(f"no PLL makes {float(clock_mhz):g} MHz of {float(source_mhz):g} MHz")
    output = min(DIVIDERS[-1], round(sum(OSCILLATOR) / 2 / clock_mhz))
    return PllSettings(source_mhz, *min(found), output)


def pll_clocks(source_mhz: Fraction) -> list[Fraction]:
    """Clocks that a PLL makes from ``source_mhz`` in whole kHz, in MHz, from the slowest on."""
    made = {source_mhz * feedback / divider for divider in DIVIDERS for feedback in FEEDBACK
            if _within(PHASE_DETECTOR, source_mhz / divider)}
    return sorted(one for one in made if _within(OUTPUT, one) and (one * 1000).denominator == 1)


def _within(bounds: tuple[Fraction, Fraction], value: Fraction) -> bool:
    return bounds[0] <= value <= bounds[1]


class Pll(wiring.Component):
    """A PLL of an ECP5.

    Parameters
    ----------
    settings : :class:`PllSettings`
        Its dividers.

    Members
    -------
    source : ``In(1)``
        The input clock.
    clock : ``Out(1)``
        The clock made.
    locked : ``Out(1)``
        Whether the output clock is stable. In no clock domain.

    Raises
    ------
    TypeError
        ``settings`` are no PllSettings.
    """

    source: In(1)
    clock: Out(1)
    locked: Out(1)

    def __init__(self, *, settings: PllSettings) -> None:
        if not isinstance(settings, PllSettings):
            raise TypeError(f"settings must be PllSettings, not {settings!r}")
        self._settings = settings
        super().__init__()

    @property
    def settings(self) -> PllSettings:
        """Its dividers."""
        return self._settings

    def elaborate(self, platform: object) -> Module:
        m = Module()
        settings = self._settings
        m.submodules.pll = Instance(
            "EHXPLLL",
            a_FREQUENCY_PIN_CLKI=f"{float(settings.source_mhz):g}",
            a_FREQUENCY_PIN_CLKOP=f"{float(settings.clock_mhz):g}",
            a_ICP_CURRENT="12", a_LPF_RESISTOR="8",
            a_MFG_ENABLE_FILTEROPAMP="1", a_MFG_GMCREF_SEL="2",
            p_PLLRST_ENA="DISABLED", p_INTFB_WAKE="DISABLED", p_STDBY_ENABLE="DISABLED",
            p_DPHASE_SOURCE="DISABLED", p_OUTDIVIDER_MUXA="DIVA", p_OUTDIVIDER_MUXB="DIVB",
            p_OUTDIVIDER_MUXC="DIVC", p_OUTDIVIDER_MUXD="DIVD",
            p_CLKI_DIV=settings.input, p_CLKFB_DIV=settings.feedback, p_FEEDBK_PATH="CLKOP",
            p_CLKOP_ENABLE="ENABLED", p_CLKOP_DIV=settings.output,
            p_CLKOP_CPHASE=(settings.output - 1) // 2, p_CLKOP_FPHASE=0,
            i_CLKI=self.source, i_CLKFB=self.clock, o_CLKOP=self.clock, o_LOCK=self.locked,
            i_RST=0, i_STDBY=0, i_PHASESEL0=0, i_PHASESEL1=0, i_PHASEDIR=1, i_PHASESTEP=1,
            i_PHASELOADREG=1, i_PLLWAKESYNC=0, i_ENCLKOP=0)
        return m
