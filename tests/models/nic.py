"""The surroundings of a NIC in its benches: host memory behind a Burst, PIO, packets, events."""

import random
import zlib
from typing import Any

from nicbed.layouts.packet import HEADER
from nicbed.layouts.registers import RECEIVE_WINDOW, SEND_WINDOW, address
from nicbed.rtl.bus.burst import BurstRequest, BurstWord

from tests.labs.bench import pack, unpack

__all__ = ["BurstMemory", "Pio", "Events", "packet", "flits", "wire", "payload_of"]


PIO_CYCLES = 1000
"""Cycles that a NIC may let an access wait."""


class BurstMemory:
    """Target of a Burst: serves one at a time out of ``image``, with random pauses.

    ``requests`` lists the requests as dicts, ``writes`` each beat written as (address, data), in
    order. Fails on a burst beyond ``max_beats`` and on a write after its burst's jump.
    """

    def __init__(self, dut: Any, name: str, image: bytearray, *, stall: float = 0.0,
                 seed: int = 0, setup: int = 0, max_beats: int = 512) -> None:
        import cocotb
        from cocotb.triggers import RisingEdge
        self.image = image
        self.stall = stall
        self.setup = setup
        self.max_beats = max_beats
        self.requests: list[dict[str, int]] = []
        self.writes: list[tuple[int, int]] = []
        self.busy_cycles: set[int] = set()
        self.request_cycles: list[int] = []
        self.cycle = 0
        self._random = random.Random(seed)
        self._edge = RisingEdge(dut.clk)
        self._port = {part: getattr(dut, f"{name}__{part}") for part in (
            "request__valid", "request__ready", "request__payload", "write__valid",
            "write__ready", "write__payload", "read__valid", "read__ready", "read__payload",
            "done")}
        cocotb.start_soon(self._run())

    async def _step(self) -> None:
        await self._edge
        self.cycle += 1

    async def _pause(self) -> None:
        while self.stall and self._random.random() < self.stall:
            await self._step()

    async def _run(self) -> None:
        port = self._port
        for part in ("request__ready", "write__ready", "read__valid", "done"):
            port[part].value = 0
        while True:
            await self._pause()
            port["request__ready"].value = 1
            await self._step()
            while port["request__valid"].value != 1:
                await self._step()
            port["request__ready"].value = 0
            request = unpack(BurstRequest, int(port["request__payload"].value))
            self.requests.append(request)
            self.request_cycles.append(self.cycle)
            assert 1 <= request["beats"] <= self.max_beats, request
            assert request["address"] % 8 == 0
            started = self.cycle
            for _ in range(self.setup):
                await self._step()
            await (self._write(request) if request["write"] else self._read(request))
            self.busy_cycles.update(range(started, self.cycle + 1))

    async def _read(self, request: dict[str, int]) -> None:
        port = self._port
        at = request["address"]
        for beat in range(request["beats"]):
            await self._pause()
            port["read__payload"].value = int.from_bytes(self.image[at:at + 8], "little")
            port["read__valid"].value = 1
            port["done"].value = 0
            while True:
                await self._step()
                if port["read__ready"].value == 1:
                    break
            port["read__valid"].value = 0
            port["read__payload"].value = 0xDEADBEEFDEADBEEF
            at += 8
            del beat
        await self._finish()

    async def _write(self, request: dict[str, int]) -> None:
        port = self._port
        at = request["address"]
        jumped = False
        for _ in range(request["beats"]):
            await self._pause()
            port["write__ready"].value = 1
            while True:
                await self._step()
                if port["write__valid"].value == 1:
                    break
            port["write__ready"].value = 0
            word = unpack(BurstWord, int(port["write__payload"].value))
            assert not jumped, "a beat after the jump"
            jumped = bool(word["jump"])
            place = request["jump_address"] if jumped else at
            assert place % 8 == 0
            for byte in range(8):
                if word["strobe"] >> byte & 1:
                    self.image[place + byte] = word["data"] >> 8 * byte & 0xFF
            self.writes.append((place, word["data"]))
            at += 8
        await self._finish()

    async def _finish(self) -> None:
        await self._pause()
        self._port["done"].value = 1
        await self._step()
        self._port["done"].value = 0


class Pio:
    """Drives a PioTarget, one access at a time."""

    def __init__(self, dut: Any) -> None:
        from cocotb.triggers import RisingEdge
        self._edge = RisingEdge(dut.clk)
        (self._valid, self._ready, self._write, self._address, self._data, self._trace,
         self._process, self._answered, self._answer) = (
            getattr(dut, f"pio__{part}") for part in (
                "valid", "ready", "write", "address", "data", "trace", "process",
                "answer__valid", "answer__data"))
        self.process = 0
        """Who makes the accesses that follow."""

    async def write(self, place: int, *words: int, trace: int = 0) -> None:
        """Write ``words``, one a cycle; ``trace`` goes with the first."""
        for index, word in enumerate(words):
            self._valid.value = 1
            self._process.value = self.process
            self._write.value = 1
            self._address.value = place & 0x1FF_FFFF
            self._data.value = word
            self._trace.value = 0 if index else trace
            await self._taken()
        self._valid.value = 0

    async def read(self, place: int) -> int:
        """Read a word."""
        self._valid.value = 1
        self._process.value = self.process
        self._write.value = 0
        self._address.value = place & 0x1FF_FFFF
        await self._taken()
        self._valid.value = 0
        for _ in range(PIO_CYCLES):
            await self._edge
            if self._answered.value == 1:
                return int(self._answer.value)
        raise AssertionError(f"no answer to a read of {place:#x} after {PIO_CYCLES} cycles")

    async def _taken(self) -> None:
        for _ in range(PIO_CYCLES):
            await self._edge
            if self._ready.value == 1:
                return
        raise AssertionError(f"an access was not taken in {PIO_CYCLES} cycles")

    async def set(self, **values: int) -> None:
        """Write registers by name."""
        for name, value in values.items():
            await self.write(address(name), value)

    async def get(self, name: str) -> int:
        """Read a register by name."""
        return await self.read(address(name))

    async def send(self, words: list[int], trace: int = 0) -> None:
        """Write a packet into the send window."""
        await self.write(SEND_WINDOW, *words, trace=trace)

    async def take(self) -> int:
        """Read the receive window."""
        return await self.read(RECEIVE_WINDOW)


class Events:
    """Collects what EventPorts say: (cycle, port name, kind, number, arg)."""

    def __init__(self, dut: Any, *names: str) -> None:
        import cocotb
        self.seen: list[tuple[int, str, int, int, int]] = []
        self.cycle = 0
        cocotb.start_soon(self._run(dut, names))

    async def _run(self, dut: Any, names: tuple[str, ...]) -> None:
        from cocotb.triggers import RisingEdge
        edge = RisingEdge(dut.clk)
        ports = [(name, *(getattr(dut, f"{name}__{part}")
                          for part in ("valid", "kind", "number", "arg"))) for name in names]
        while True:
            await edge
            self.cycle += 1
            for name, valid, *fields in ports:
                if valid.value == 1:
                    self.seen.append((self.cycle, name, *(int(field.value) for field in fields)))


def packet(payload: bytes, *, destination: int = 0, source: int = 1, length: int | None = None,
           route: int = 0x4321, protocol: int = 1) -> list[int]:
    """The 8-byte words of a packet, header first; the last filled up with zero bytes."""
    padded = payload + bytes(-len(payload) % 8)
    header = HEADER.pack(route=route, length=len(payload) if length is None else length,
                         source=source, destination=destination, protocol=protocol)
    return [header, *(int.from_bytes(padded[at:at + 8], "little")
                      for at in range(0, len(padded), 8))]


def flits(words: list[int], size: int, trace: int = 0) -> list[dict[str, int]]:
    """A packet as flits without CRC; ``size`` bytes behind the header."""
    last = len(words) - 1
    return [{"data": word, "size": 8 if index == 0 or index < last else (size - 1) % 8 + 1,
             "first": int(index == 0), "last": int(index == last), "trace": trace}
            for index, word in enumerate(words)]


def wire(words: list[int], size: int, trace: int = 0, *, corrupt: int = 0) -> list[dict[str, int]]:
    """A packet as it is on a link: flits, then the CRC's; ``corrupt`` is xored to the CRC."""
    covered = [words[0] & ~HEADER.mask("route"), *words[1:]]
    crc = zlib.crc32(b"".join(word.to_bytes(8, "little") for word in covered)) ^ corrupt
    body = flits(words, size, trace)
    body[-1] = {**body[-1], "last": 0}
    return [*body, {"data": crc, "size": 4, "first": 0, "last": 1, "trace": trace}]


def payload_of(words: list[int], length: int) -> bytes:
    """The bytes behind a header in ``words`` (header excluded)."""
    return b"".join(word.to_bytes(8, "little") for word in words)[:length]


def timing(*, max_burst: int = 256, drop: bool = False) -> int:
    """The packed timing input with what the NIC uses."""
    from nicbed.rtl.parts.timing import Timing
    return pack(Timing, {"bus_max_burst": max_burst, "nic_overflow": int(drop)})
