"""Knobs of a node's CPUs: what host programs pay for, and the caches of the target."""

from fractions import Fraction

from pydantic import model_validator

from ..rate import Rate
from .knob import Section, cost, power_of_two, structure, timing

__all__ = ["Cpu"]


class Cpu(Section):
    clock_mhz: Rate = cost(Fraction(200), unit="MHz", gt=0, le=10000, doc="host CPU clock")
    cache_lines: int = structure(512, unit="lines", ge=4, le=32768,
                                 doc="lines of the host port's tag cache, direct mapped, of 1 MB "
                                     "at most; with cpu.l2_lines those of its first level")
    l2_lines: int = structure(0, unit="lines", ge=0, le=32768,
                              doc="lines of the cache's second level, direct mapped, of 1 MB at "
                                  "most; 0: there is one level")
    l2_hit: int = structure(7, unit="cycles", ge=2, le=255,
                            doc="with cpu.l2_lines: a load of a line that is in the second level "
                                "alone")
    line_bytes: int = structure(32, unit="bytes", ge=32, le=256,
                                doc="bytes of a cache line; 32 with nic.attachment = 'memory_bus'")
    cas: int = timing(6, ge=6, le=4095,
                      doc="compare-and-swap of a word whose line is owned: of several CPUs, or "
                          "with cpu.cas_place = 'cache'")
    cas_place: str = structure("memory", pattern="^(memory|cache)$",
                               doc="of one CPU: compare-and-swap past the cache, in the 'memory', "
                                   "or in the 'cache', which takes the line as a store does")
    copy_by: str = structure("cache", pattern="^(cache|block)$",
                             doc="'block': the CPU has block stores, which put whole lines to "
                                 "memory past the cache, posted, and a copy of lines uses them; "
                                 "'cache': it copies by loads and stores alone")
    path_scale: Rate = cost(Fraction(1), unit="", ge=0, le=1000,
                            doc="factor on what each path of a layer takes: its code against that "
                                "of which the items below are counted")
    call: int = cost(6, ge=0, le=100000, doc="a function call and return, with its argument checks")
    load: int = cost(1, ge=0, le=100000, doc="a load that hits the cache")
    store: int = cost(1, ge=0, le=100000, doc="a store that hits the cache")
    branch: int = cost(2, ge=0, le=100000, doc="a test and branch")
    alu: int = cost(1, ge=0, le=100000, doc="an arithmetic instruction")
    copy_word: int = cost(2, ge=0, le=100000, doc="copying 8 bytes, both in the cache")
    copy_line: int = cost(2, ge=0, le=100000,
                          doc="copying a line with cpu.copy_by = 'block', beside its load and its "
                              "block store")
    flush: int = cost(20, ge=0, le=100000, doc="a memory barrier or write-buffer flush")
    flush_line: int = cost(6, ge=0, le=100000,
                           doc="with bus.coherent = false: flushing a line of the cache, beside "
                               "the cache's time; also of each check of a poll")
    poll_check: int = cost(3, ge=0, le=100000, doc="one test of a polled word: load, mask, branch")
    interrupt: int = cost(1000, ge=0, le=1000000, doc="taking an interrupt, to the user's handler")
    trap: int = cost(400, ge=0, le=1000000, doc="entering and leaving the kernel")

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
