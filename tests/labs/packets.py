"""Packets for the benches of the fabric: flits, CRC, the cycle counter, a log of every cycle."""

import random
import zlib
from typing import Any

from nicbed.layouts.packet import HEADER
from nicbed.layouts.timing import TIMING_REGISTERS, timing_values

MASK = (1 << 64) - 1


def flits(data: bytes, number: int, rng: random.Random | None = None) -> list[dict[str, int]]:
    """``data`` as flits; what lies beyond the last one's size is zero, or random."""
    found = []
    for at in range(0, len(data), 8):
        part = data[at:at + 8]
        fill = rng.randbytes(8 - len(part)) if rng else bytes(8 - len(part))
        found.append({"data": int.from_bytes(part + fill, "little"), "size": len(part),
                      "first": int(at == 0), "last": int(at + 8 >= len(data)), "trace": number})
    return found


def crc(data: bytes) -> int:
    """The CRC of a packet that begins with its header: the route left out, zero-padded."""
    return zlib.crc32(bytes(2) + data[2:] + bytes(-len(data) % 8))


def with_crc(data: bytes, number: int) -> list[dict[str, int]]:
    """``data`` as flits, with its CRC in one more."""
    found = flits(data, number)
    found[-1]["last"] = 0
    return [*found, {"data": crc(data), "size": 4, "first": 0, "last": 1, "trace": number}]


def packet(rng: random.Random, length: int, **header: int) -> bytes:
    """A packet of ``length`` random bytes behind a header."""
    return HEADER.pack(length=length, **header).to_bytes(8, "little") + rng.randbytes(length)


def timing(description: Any, **settings: int) -> int:
    """The ``timing`` input for ``description``; ``settings`` are encoded fields."""
    values = {register.field: value for register, value
              in zip(TIMING_REGISTERS, timing_values(description), strict=True)} | settings
    result = at = 0
    for register in TIMING_REGISTERS:
        result |= values[register.field] << at
        at += register.width
    return result


class Watch:
    """Samples signals of ``dut`` at every edge, as they were before it, and counts ``now`` on.

    While ``idle`` is high (and ``quiet()``, if given, agrees), ``now`` jumps with probability
    ``jump``: nothing may change by that.
    """

    def __init__(self, dut: Any, *names: str, start: int = 0, jump: float = 0.0, seed: int = 0,
                 quiet: Any = None) -> None:
        import cocotb
        self.rows: list[tuple[int, ...]] = []
        self._dut, self._names = dut, names
        self._now, self._jump = start, jump
        self._rng = random.Random(seed)
        self._quiet = quiet or (lambda: True)
        cocotb.start_soon(self._run())

    async def _run(self) -> None:
        from cocotb.triggers import RisingEdge
        edge = RisingEdge(self._dut.clk)
        signals = [getattr(self._dut, name) for name in self._names]
        idle = getattr(self._dut, "idle", None)
        counter = getattr(self._dut, "now", None)
        if counter is not None:
            counter.value = self._now & 0xFFFFFFFF
        while True:
            await edge
            self.rows.append((self._now, *(int(signal.value) for signal in signals)))
            self._now += 1
            if self._jump and idle.value == 1 and self._quiet() and \
                    self._rng.random() < self._jump:
                self._now += self._rng.choice([1, 7, 1000, 1 << 20, 1 << 31])
            if counter is not None:
                counter.value = self._now & 0xFFFFFFFF
