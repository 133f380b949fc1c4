"""The target under Verilator: operations and answers in the model's own arrays, by ctypes."""

import ctypes
import struct
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...host.port.backend import Memory
from ...layouts.operations import ANSWER_WORDS, BLOCK, ENTRY_WORDS
from ...layouts.timing import packed_timing
from ...layouts.trace import Event
from ..simulators.structures import structure
from .backend import Serve
from .simulated_reset import reset
from .switches import Switches

__all__ = ["VerilatorMailbox", "ArrayMemory", "VerilatorBackend"]

ENTRIES_BYTES = 4 * BLOCK * ENTRY_WORDS
ANSWERS_BYTES = 4 * BLOCK * ANSWER_WORDS

MANY = 12
"""Pages from which on numpy copies them faster together than one after the other."""

_Mailbox: Any = structure("mailbox.h", "Mailbox")
_FUNCTIONS = [name for name, *_ in structure("instances.h", "Python")._fields_]
_ATTENTION = struct.Struct(f"<QQ{_Mailbox.expired.offset - 16}xI")
"""Of a mailbox, what :meth:`VerilatorMailbox.look` returns: cycle, waiting, expired."""

_EVENT = np.dtype([("cycle", "<u8"), ("number", "<u4"), ("arg", "<u4"), ("node", "<u4"),
                   ("kind", "u1"), ("block", "u1"), ("unused", "<u2")])


def _view(address: int, length: int) -> memoryview:
    return memoryview((ctypes.c_ubyte * length).from_address(address)).cast("B")


class VerilatorMailbox:
    """The host ports' blocks and answers. Before each attention the simulator fills it; afterwards
    it takes the given blocks out. Of a ``direct`` back end it also keeps, for each port, how many
    entries were given, and gives blocks itself."""

    def __init__(self, library: ctypes.CDLL) -> None:
        library.nicbed_mailbox.restype = ctypes.c_void_p
        address = library.nicbed_mailbox()
        self._all = _Mailbox.from_address(address)

        def view(name: str, form: Any) -> memoryview:
            field = getattr(_Mailbox, name)
            return _view(address + field.offset, field.size).cast(form)

        # Each message is handed over by these: views, and functions in C.
        self._cycle = view("cycle", "Q")
        self.ports = self._all.ports
        self.nodes = self._all.nodes
        self._counts = view("count", "B")
        self.give: Callable[[int, int], None] = self._counts.__setitem__
        self._entries = [_view(self._all.entries[port], ENTRIES_BYTES)
                         for port in range(self.ports)]
        self.answers: Callable[[int], memoryview] = [
            _view(self._all.answers[port], ANSWERS_BYTES)
            for port in range(self.ports)].__getitem__
        self.look: Callable[[], tuple[int, int, int]] = partial(
            _ATTENTION.unpack_from, _view(address, ctypes.sizeof(_Mailbox)))

    def cycle(self) -> int:
        return self._cycle[0]

    def crash(self) -> tuple[int, ...]:
        return tuple(self._all.crash)

    def block(self, port: int) -> memoryview:
        """The model's own array: it reads a block after it was given, and until it waits again."""
        return self._entries[port]

    def restart(self) -> None:
        """Return to the state after reset."""
        self._all.go = 0
        self._counts[:] = bytes(len(self._counts))

    def timed(self, on: bool) -> float:
        """Count the CPU time of attention from now on, or stop counting; return the seconds counted
        so far."""
        self._all.timed = on
        seconds = self._all.python_ns / 1e9
        self._all.python_ns = 0
        return seconds

    def quiet(self, on: bool) -> None:
        """Tell the simulator's main whether only attention matters from now on."""
        self._all.quiet = on


class ArrayMemory(Memory):
    """A node's host memory, in place."""

    __slots__ = ("size", "_node", "_library", "_bytes", "_words", "array")

    def __init__(self, library: ctypes.CDLL, node: int, size: int) -> None:
        library.nicbed_memory_base.restype = ctypes.c_void_p
        self._library = library
        self._node = node
        self.size = size
        self._bytes = _view(library.nicbed_memory_base(node, size // 8), size)
        self._words = self._bytes.cast("Q")
        self.array = np.frombuffer(self._bytes, dtype=np.uint8)
        """The memory as a numpy array of bytes."""

    def _outside(self, address: int, length: int) -> IndexError:
        return IndexError(f"{length} bytes at {address:#x}: memory has {self.size}")

    def read(self, address: int, length: int) -> bytes:
        if address < 0 or length < 0 or address + length > self.size:
            raise self._outside(address, length)
        return bytes(self._bytes[address:address + length])

    def write(self, address: int, data: bytes | memoryview) -> None:
        end = address + len(data)
        if address < 0 or end > self.size:
            raise self._outside(address, len(data))
        self._bytes[address:end] = data

    def view(self, address: int, length: int) -> memoryview:
        if address < 0 or length < 0 or address + length > self.size:
            raise self._outside(address, length)
        return self._bytes[address:address + length]

    def _rows(self, size: int) -> Any:
        """The memory as an array of pages of ``size`` bytes."""
        return self.array[:self.size // size * size].reshape(-1, size)

    def read_pages(self, pages: Sequence[int], size: int, into: memoryview) -> None:
        if len(pages) < MANY:
            super().read_pages(pages, size, into)
            return
        rows = np.frombuffer(into, np.uint8).reshape(len(pages), size)
        # "raise" would put them into another array first.
        np.take(self._rows(size), self._sound(pages, size), 0, rows, "clip")

    def write_pages(self, pages: Sequence[int], size: int, data: memoryview) -> None:
        if len(pages) < MANY:
            super().write_pages(pages, size, data)
            return
        rows = np.frombuffer(data, np.uint8).reshape(len(pages), size)
        self._rows(size)[self._sound(pages, size)] = rows

    def _sound(self, pages: Sequence[int], size: int) -> Any:
        found = np.asarray(pages)
        if min(pages) < 0 or (max(pages) + 1) * size > self.size:
            raise self._outside(max(pages) * size, size)
        return found

    def reader(self, form: struct.Struct) -> Callable[[int], tuple[Any, ...]]:
        return partial(form.unpack_from, self._bytes)

    def writer(self, form: struct.Struct) -> Callable[..., None]:
        return partial(form.pack_into, self._bytes)

    def word(self, address: int) -> int:
        return self._words[address >> 3]

    def clear(self) -> None:
        self._library.nicbed_memory_clear(self._node)


class VerilatorBackend:
    """The part of a simulator that :class:`~nicbed.testbench.lab.Lab` needs."""

    def __init__(self, dut: Any, memory_bytes: int) -> None:
        self._dut = dut
        self._library = ctypes.CDLL(None)
        self.mailbox = VerilatorMailbox(self._library)
        self.memories: list[Any] = []
        if hasattr(self._library, "nicbed_memory_base"):
            self.memories = [ArrayMemory(self._library, node, memory_bytes)
                             for node in range(self.mailbox.nodes)]
        self.direct = self._instances = hasattr(self._library, "nicbed_reset")
        if self._instances:
            # Python's lock need not be released: nothing else runs meanwhile.
            self._serve = ctypes.PyDLL(None).nicbed_serve
            self._serve.restype = None
            self._serve.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p,
                                    ctypes.c_uint32]
        self._profiles = hasattr(self._library, "nicbed_profile_words")
        if self._profiles:
            self._library.nicbed_profile_words.restype = ctypes.c_uint64
            self._library.nicbed_profile_data.restype = ctypes.c_void_p
        self._traces = hasattr(self._library, "nicbed_trace_count")
        if self._traces:
            self._library.nicbed_trace_count.restype = ctypes.c_uint64
            self._library.nicbed_trace_data.restype = ctypes.c_void_p

    async def reset(self, switches: Switches) -> None:
        """Reset the target, with memories and trace empty."""
        if not self._instances:
            await reset(self._dut, switches, self._restart)
            return
        self._restart()
        words = packed_timing(switches.timing, switches.registers)
        self._library.nicbed_reset((ctypes.c_uint32 * len(words))(*words), switches.trace,
                                   switches.profile, switches.skip,
                                   ctypes.c_uint64(switches.limit))

    def _restart(self) -> None:
        self.mailbox.restart()
        for memory in self.memories:
            memory.clear()
        if self._traces:
            self._library.nicbed_trace_clear()
        if self._profiles:
            self._library.nicbed_profile_clear()

    async def serve(self, attention: Callable[[], bool], ports: Sequence[Serve] = (),
                    often: int = 0) -> None:
        """See :class:`.backend.Backend`."""
        if not self._instances:
            await self._serve_by_vpi(attention)
            return
        functions = (ctypes.c_void_p * len(_FUNCTIONS))(*(
            ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
            for name in _FUNCTIONS))
        self._serve(functions, attention,
                    (ctypes.py_object * len(ports))(*ports) if ports else None, often)

    async def _serve_by_vpi(self, attention: Callable[[], bool]) -> None:
        from cocotb import simulator
        from cocotb.triggers import Event

        handle = self._dut.attention._handle
        done = Event()
        register = simulator.register_value_change_callback
        change = simulator.VALUE_CHANGE

        def wake() -> None:
            if attention():
                register(handle, wake, change)
            else:
                from cocotb import _event_loop
                self.mailbox.quiet(False)
                done.set()
                _event_loop._inst.run()

        if attention():
            register(handle, wake, change)
            self.mailbox.quiet(True)
            await done.wait()

    def profile(self, node: int) -> dict[int, int]:
        """Cycles of the node's NIC processor by program counter, if counted."""
        words = self._library.nicbed_profile_words(node) if self._profiles else 0
        if not words:
            return {}
        counts = np.frombuffer(_view(self._library.nicbed_profile_data(node), 8 * words),
                               dtype=np.uint64)
        return {4 * int(word): int(counts[word]) for word in np.flatnonzero(counts)}

    async def events(self) -> list[Event]:
        """Events of the run so far."""
        count = self._library.nicbed_trace_count() if self._traces else 0
        if not count:
            return []
        data = _view(self._library.nicbed_trace_data(), count * _EVENT.itemsize)
        rows = np.frombuffer(data, dtype=_EVENT)
        columns = [rows[name].tolist() for name in Event._fields]
        return list(map(Event._make, zip(*columns, strict=True)))
