"""Knobs of a node's CPUs: what host programs pay for, and the caches of the target."""

from fractions import Fraction

from pydantic import model_validator

from ..rate import Rate
from .knob import Section, cost, power_of_two, structure, timing

__all__ = ["Cpu"]


class Cpu(Section):
    clock_mhz: Rate = cost(Fraction(200), unit="MHz", gt=0, le=10000,
                           doc="The host CPU runs at this clock.")
    cache_lines: int = structure(512, unit="lines", ge=4, le=32768,
                                 doc="The host port's tag cache has this many lines, direct "
                                     "mapped, of 1 MB at most. With cpu.l2_lines they are those of "
                                     "its first level.")
    l2_lines: int = structure(0, unit="lines", ge=0, le=32768,
                              doc="The cache's second level has this many lines, direct mapped, of "
                                  "1 MB at most; with 0 there is one level.")
    l2_hit: int = structure(7, unit="cycles", ge=2, le=255,
                            doc="With cpu.l2_lines, a load of a line that is in the second level "
                                "alone takes this long.")
    line_bytes: int = structure(32, unit="bytes", ge=32, le=256,
                                doc="A cache line has this many bytes: 32 with nic.attachment = "
                                    "'memory_bus'.")
    cas: int = timing(6, ge=6, le=4095,
                      doc="A compare-and-swap of a word whose line is owned takes this long. It "
                          "applies to several CPUs, or with cpu.cas_place = 'cache'.")
    cas_place: str = structure("memory", pattern="^(memory|cache)$",
                               doc="A single CPU does a compare-and-swap past the cache, in the "
                                   "'memory', or in the 'cache', which takes the line as a store "
                                   "does.")
    copy_by: str = structure("cache", pattern="^(cache|block)$",
                             doc="A copy of lines uses block stores ('block'), which put whole "
                                 "lines to memory past the cache, posted, or loads and stores "
                                 "alone ('cache').")
    path_scale: Rate = cost(Fraction(1), unit="", ge=0, le=1000,
                            doc="This factor multiplies the CPU time of every code path. 1 is the "
                                "code whose items were counted; 2 is code twice as slow.")
    call: int = cost(6, ge=0, le=100000,
                     doc="A function call and its return take this long, with the checks of "
                         "arguments.")
    load: int = cost(1, ge=0, le=100000, doc="A load that hits the cache takes this long.")
    store: int = cost(1, ge=0, le=100000, doc="A store that hits the cache takes this long.")
    branch: int = cost(2, ge=0, le=100000, doc="A test and a branch take this long.")
    alu: int = cost(1, ge=0, le=100000, doc="An arithmetic instruction takes this long.")
    copy_word: int = cost(2, ge=0, le=100000,
                          doc="Copying 8 bytes takes this long, both in the cache.")
    copy_line: int = cost(2, ge=0, le=100000,
                          doc="Copying a line with cpu.copy_by = 'block' takes this long beside "
                              "its load and its block store.")
    flush: int = cost(20, ge=0, le=100000,
                      doc="A memory barrier or a flush of the write buffer takes this long.")
    flush_line: int = cost(6, ge=0, le=100000,
                           doc="With bus.coherent = false, flushing a line takes this long beside "
                               "the cache's time. Each check of a poll includes it.")
    poll_check: int = cost(3, ge=0, le=100000,
                           doc="One test of a polled word takes this long: load, mask, branch.")
    interrupt: int = cost(1000, ge=0, le=1000000,
                          doc="Taking an interrupt takes this long, up to the user's handler.")
    trap: int = cost(400, ge=0, le=1000000, doc="Entering and leaving the kernel take this long.")

    @model_validator(mode="after")
    def _combinations(self) -> "Cpu":
        for name in ("cache_lines", "line_bytes", "l2_lines"):
            power_of_two(f"cpu.{name}", getattr(self, name))
        for name in ("cache_lines", "l2_lines"):
            size = getattr(self, name) * self.line_bytes
            if size > 1 << 20:
                raise ValueError(f"cpu.{name} * cpu.line_bytes = {size}: must be at most 1 MB")
        if 0 < self.l2_lines <= self.cache_lines:
            raise ValueError(f"cpu.l2_lines = {self.l2_lines}: must be more than cpu.cache_lines = "
                             f"{self.cache_lines}, or 0 for one level")
        if not self.l2_lines and self.l2_hit != type(self).model_fields["l2_hit"].default:
            raise ValueError(f"cpu.l2_hit = {self.l2_hit}: needs a second level (cpu.l2_lines)")
        return self

    @property
    def outer_lines(self) -> int:
        """Lines of the level that others know of: the second one, or the only one."""
        return self.l2_lines or self.cache_lines

    @property
    def cache_bytes(self) -> int:
        """Bytes that a CPU's cache holds, all its levels."""
        return self.outer_lines * self.line_bytes
