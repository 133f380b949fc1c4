"""The target under Icarus Verilog: everything through VPI handles, in the read-write phase."""

import os
import re
from collections.abc import Callable
from struct import Struct
from typing import Any

from ...host.port.backend import Memory
from ...layouts.operations import ANSWER_WORDS, BLOCK, ENTRY_WORDS
from ...layouts.processor import CRASH_WORDS
from ...layouts.trace import Event
from .simulated_reset import reset
from .switches import Switches

__all__ = ["IcarusMailbox", "HandleMemory", "IcarusBackend"]

ENTRY_BYTES = 4 * ENTRY_WORDS
ANSWERS_BYTES = 4 * BLOCK * ANSWER_WORDS
DEPOSIT = 0
NO_DELAY = 3
"""Takes effect at once, so that memory reads see earlier writes of the same attention."""
_KNOWN = str.maketrans("xXzZuUwW-", "000000000")


def _number(handle: Any) -> int:
    return int(handle.get_signal_val_binstr().translate(_KNOWN), 2)


class IcarusMailbox:
    """The host ports' blocks and answers."""

    def __init__(self, dut: Any) -> None:
        self.ports = len(dut.waiting)
        self._cycle = dut.cycle._handle
        self._waiting = dut.waiting._handle
        self._expired = dut.expired._handle
        self._crash = dut.crash._handle
        self._go_handle = dut.go._handle
        self._count = [getattr(dut, f"port{p}_count")._handle for p in range(self.ports)]
        self._entries = [getattr(dut, f"port{p}_entries")._handle for p in range(self.ports)]
        self._answers = [(getattr(dut, f"port{p}_answers")._handle, bytearray(ANSWERS_BYTES))
                         for p in range(self.ports)]
        self._blocks = [bytearray(BLOCK * ENTRY_BYTES) for _ in range(self.ports)]
        self._go = 0
        self._format = f"0{8 * BLOCK * ENTRY_BYTES}b"
        self._go_format = f"0{self.ports}b"

    def cycle(self) -> int:
        return _number(self._cycle)

    def look(self) -> tuple[int, int, int]:
        waiting = _number(self._waiting)
        for port, (handle, answers) in enumerate(self._answers):
            if waiting >> port & 1:
                answers[:] = _number(handle).to_bytes(ANSWERS_BYTES, "little")
        return self.cycle(), waiting, _number(self._expired)

    def crash(self) -> tuple[int, ...]:
        report = _number(self._crash)
        return tuple(report >> 32 * word & 0xFFFF_FFFF for word in range(CRASH_WORDS))

    def answers(self, port: int) -> bytearray:
        return self._answers[port][1]

    def block(self, port: int) -> bytearray:
        return self._blocks[port]

    def give(self, port: int, count: int) -> None:
        block = int.from_bytes(self._blocks[port][:count * ENTRY_BYTES], "little")
        self._entries[port].set_signal_val_binstr(DEPOSIT, format(block, self._format))
        self._count[port].set_signal_val_int(DEPOSIT, count)
        self._go ^= 1 << port
        self._go_handle.set_signal_val_binstr(DEPOSIT, format(self._go, self._go_format))

    def restart(self) -> None:
        """Return to the state after reset."""
        self._go = 0
        self._go_handle.set_signal_val_binstr(DEPOSIT, format(0, self._go_format))


class HandleMemory(Memory):
    """A node's host memory: an array of 8-byte words, accessed word by word."""

    def __init__(self, handle: Any, words: int) -> None:
        self.size = 8 * words
        self._handle = handle
        self._cache: dict[int, Any] = {}
        self._written: set[int] = set()

    def _word(self, index: int) -> Any:
        found = self._cache.get(index)
        if found is None:
            found = self._cache[index] = self._handle.get_handle_by_index(index)
        return found

    def _check(self, address: int, length: int) -> None:
        if address < 0 or length < 0 or address + length > self.size:
            raise IndexError(f"{length} bytes at {address:#x}: memory has {self.size}")

    def read(self, address: int, length: int) -> bytes:
        self._check(address, length)
        if not length:
            return b""
        first, last = address >> 3, address + length - 1 >> 3
        data = b"".join(_number(self._word(index)).to_bytes(8, "little")
                        for index in range(first, last + 1))
        return data[address - 8 * first:address - 8 * first + length]

    def write(self, address: int, data: bytes | memoryview) -> None:
        self._check(address, len(data))
        if not data:
            return
        first, last = address >> 3, address + len(data) - 1 >> 3
        whole = bytearray(8 * (last - first + 1))
        begin = address - 8 * first
        if begin or len(data) % 8:
            whole[:8] = _number(self._word(first)).to_bytes(8, "little")
            whole[-8:] = _number(self._word(last)).to_bytes(8, "little")
        whole[begin:begin + len(data)] = data
        for offset in range(0, len(whole), 8):
            value = int.from_bytes(whole[offset:offset + 8], "little")
            self._word(first + offset // 8).set_signal_val_binstr(NO_DELAY, format(value, "064b"))
        self._written.update(range(first, last + 1))

    def reader(self, form: Struct) -> Callable[[int], tuple[Any, ...]]:
        return lambda address: form.unpack(self.read(address, form.size))

    def writer(self, form: Struct) -> Callable[..., None]:
        return lambda address, *values: self.write(address, form.pack(*values))

    def word(self, address: int) -> int:
        return _number(self._word(address >> 3))

    def clear(self) -> None:
        """Zero the words that this side wrote. (The wrapper's ``clear`` zeroes the target's
        writes.)"""
        for index in self._written:
            self._word(index).set_signal_val_binstr(NO_DELAY, "0" * 64)
        self._written.clear()


def find_memories(scope: Any, words: int) -> list[Any]:
    """Handles of the host memories below ``scope``, by node. Host memories are arrays of ``words``
    64-bit words, in scopes numbered by node."""
    from cocotb.handle import ArrayObject, HierarchyArrayObject, HierarchyObject
    found = []

    def look(place: Any) -> None:
        for child in place:
            if isinstance(child, ArrayObject):
                if len(child) == words:
                    found.append(child)
            elif isinstance(child, HierarchyObject | HierarchyArrayObject):
                look(child)

    look(scope)
    return sorted(found, key=lambda array: [int(part) if part.isdigit() else part for part
                                            in re.split(r"(\d+)", array._path)])


class IcarusBackend:
    """The part of a simulator that :class:`~nicbed.testbench.lab.Lab` needs."""

    direct = False

    def __init__(self, dut: Any, memory_bytes: int) -> None:
        self._dut = dut
        self.mailbox = IcarusMailbox(dut)
        self.memories: list[Any] = [
            HandleMemory(array._handle, memory_bytes // 8)
            for array in find_memories(dut.target, memory_bytes // 8)]
        self._file = os.environ.get("NICBED_TRACE_FILE", "")
        self._read = 0

    async def reset(self, switches: Switches) -> None:
        """Reset the target, with memories and trace empty."""
        await reset(self._dut, switches, self._restart)

    def _restart(self) -> None:
        self.mailbox.restart()
        self._dut.clear.value = not int(self._dut.clear.value)
        for memory in self.memories:
            memory.clear()
        if self._file and os.path.exists(self._file):
            self._read = os.path.getsize(self._file)

    async def serve(self, attention: Callable[[], bool]) -> None:
        """Call ``attention`` at once and then at each attention, until it returns False."""
        from cocotb.triggers import ReadWrite, ValueChange
        change = ValueChange(self._dut.attention)
        settled = ReadWrite()
        await settled
        while True:
            if not attention():
                return
            await change
            await settled

    def profile(self, node: int) -> dict[int, int]:
        """Icarus counts no profile."""
        return {}

    async def events(self) -> list[Event]:
        """Events of the run so far."""
        from cocotb.triggers import Timer
        if not self._file:
            return []
        self._dut.flush.value = not int(self._dut.flush.value)
        await Timer(1, "ps")
        with open(self._file, encoding="ascii") as file:
            file.seek(self._read)
            return [Event._make(map(int, line.split())) for line in file]
