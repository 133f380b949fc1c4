"""The timing registers as words, as a simulator's main gets them, against the struct of the RTL."""

import random

from nicbed.layouts.timing import TIMING_REGISTERS, packed_timing
from nicbed.rtl.parts.timing import Timing


def test_words_are_the_struct() -> None:
    chance = random.Random(1)
    for _ in range(20):
        values = [chance.getrandbits(register.width) for register in TIMING_REGISTERS]
        fields = {register.field: value
                  for register, value in zip(TIMING_REGISTERS, values, strict=True)}
        whole = Timing.const(fields).as_value().value
        words = packed_timing(values)
        assert sum(word << 32 * place for place, word in enumerate(words)) == whole
        assert len(words) == -(-Timing.size // 32) and max(words) < 1 << 32
