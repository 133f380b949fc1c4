"""The surroundings of an engine of the NIC processor in its bench: NIC memory, and firmware."""

import random
from typing import Any

from nicbed.layouts.processor import ENGINE_QUEUE
from nicbed.rtl.processor.types import EngineCommand

from tests.labs.bench import Source, within

__all__ = ["WideMemory", "Firmware"]

GARBAGE = 0xDEADBEEF_DEADBEEF


class WideMemory:
    """Target of a WidePort: serves out of ``image``, with random pauses; what is read is there for
    one cycle only. ``accesses``: (cycle, write, byte address) of each."""

    def __init__(self, dut: Any, name: str, image: bytearray, *, stall: float = 0.0,
                 seed: int = 0) -> None:
        import cocotb
        self.image = image
        self.stall = stall
        self.accesses: list[tuple[int, int, int]] = []
        self.cycle = 0
        self._random = random.Random(seed)
        self._port = {part: getattr(dut, f"{name}__{part}") for part in (
            "valid", "write", "address", "data", "strobe", "ready", "read")}
        cocotb.start_soon(self._run(dut))

    async def _run(self, dut: Any) -> None:
        from cocotb.triggers import RisingEdge
        edge = RisingEdge(dut.clk)
        port = self._port
        while True:
            ready = self._random.random() >= self.stall
            port["ready"].value = int(ready)
            await edge
            self.cycle += 1
            port["read"].value = GARBAGE
            if port["valid"].value != 1 or not ready:
                continue
            at = 8 * int(port["address"].value)
            assert at + 8 <= len(self.image), f"an access to {at:#x}"
            self.accesses.append((self.cycle, int(port["write"].value), at))
            if port["write"].value == 1:
                data = int(port["data"].value).to_bytes(8, "little")
                strobe = int(port["strobe"].value)
                for byte in range(8):
                    if strobe >> byte & 1:
                        self.image[at + byte] = data[byte]
            else:
                port["read"].value = int.from_bytes(self.image[at:at + 8], "little")


class Firmware:
    """Gives an engine commands, and sees them end: ``ended`` counts them, ``end_cycles`` and
    ``errors`` (cycle, address) tell when. Checks ``done`` in every cycle."""

    def __init__(self, dut: Any, prefix: str = "", *, stall: float = 0.0, seed: int = 0) -> None:
        import cocotb
        from cocotb.triggers import RisingEdge
        self.source = Source(dut, f"{prefix}port__command", shape=EngineCommand, stall=stall,
                             seed=seed)
        self.ended = 0
        self.cycle = 0
        self.end_cycles: list[int] = []
        self.errors: list[tuple[int, int]] = []
        self._edge = RisingEdge(dut.clk)
        self._signals = {part: getattr(dut, prefix + part) for part in (
            "port__space", "port__done", "port__ended", "error", "error_address")}
        self._idle = getattr(dut, f"{prefix}port__idle")
        cocotb.start_soon(self._run())

    async def _run(self) -> None:
        signals = self._signals
        while True:
            ended = self.ended
            await self._edge
            self.cycle += 1
            assert signals["port__done"].value == ended
            if signals["error"].value == 1:
                self.errors.append((self.cycle, int(signals["error_address"].value)))
            if signals["port__ended"].value == 1:
                self.ended += 1
                self.end_cycles.append(self.cycle)

    def post(self, *commands: dict[str, int]) -> None:
        """Queue commands; fields that are missing are 0."""
        empty = dict.fromkeys(("host", "local", "length", "trace", "flags"), 0)
        self.source.send(*({**empty, **command} for command in commands))

    async def finish(self, count: int, limit: int) -> None:
        """Wait until ``count`` commands have ended in all, and the engine is idle."""
        async def wait() -> None:
            while self.ended < count or self._idle.value != 1:
                await self._edge
            await self._edge
        await within(limit, wait())
        assert self.ended == count
        assert self._signals["port__space"].value == ENGINE_QUEUE
