"""The designs, with a knob of their own and events of their own."""

from pathlib import Path
from typing import Any

from nicbed.layouts.description import Section
from nicbed.layouts.description.knob import timing
from nicbed.layouts.doors import NicDesign, TraceBlock
from nicbed.rtl.node.verilog_nic import VerilogNic

from .in_amaranth import WordNic

__all__ = ["AmaranthWords", "VerilogWords", "WideWords"]


class Words(Section):
    wait: int = timing(3, ge=0, le=100, doc="cycles that a register's answer is late")


class AmaranthWords(NicDesign):
    name = "words"
    title = "packets of one word, in Amaranth"
    knobs = Words
    trace = (TraceBlock("WORD_SEND", "send", "a word: from its write until it has left"),)
    sleeps = False

    def build(self, description: Any, side: Any, *, step: Any = None) -> Any:
        return WordNic(side)


class VerilogWords(AmaranthWords):
    name = "words_verilog"
    title = "packets of one word, in Verilog"
    sleeps = True

    def side(self, description: Any, cpus: int) -> Any:
        return self.socket(description, cpus, dma=0)

    def build(self, description: Any, side: Any, *, step: Any = None) -> Any:
        return VerilogNic(files=[Path(__file__).parent / "word_nic.sv"], top="word_nic", side=side,
                          ports={"clk": "clock", "rst": "reset"}, step=step)


class WideWords(AmaranthWords):
    """The one in Amaranth with a wide link and wide DMA ports."""

    name = "words_wide"

    def side(self, description: Any, cpus: int) -> Any:
        return self.socket(description, cpus, dma=2, width=32, tags=4, link_width=32, irqs=2)
