"""A NIC processor alone in Verilator: programs are loaded into it, run, and looked at afterwards.

The model's main (riscv/main.cpp) takes one command a line and answers with one line, so a
:class:`Lab` serves any number of programs. There is no bus behind the engines, and no link.
"""

import hashlib
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from nicbed.firmware import tools
from nicbed.layouts import doors
from nicbed.layouts.description import Description
from nicbed.layouts.processor import MMIO_BASE, STATUS, CrashReason, State, mmio_address
from nicbed.rtl.bus.pio import PageWrite, PioAccess
from nicbed.rtl.processor.processor import Processor
from nicbed.testbench.simulators import cache as build_cache
from nicbed.testbench.simulators.verilator import Compilation, compile_all, verilate
from nicbed.testbench.simulators.verilog import (
    SOURCES,
    foreign_sources,
    module_files,
    own_files,
    rtlil,
    to_verilog,
)

__all__ = ["CORES", "End", "HERE", "Lab", "ProcessorTop", "assemble", "constants", "describe",
           "isa"]

CORES = ("serv", "picorv32", "vexriscv")


def isa(core: str) -> str:
    """The instruction set of ``core``, as the compiler calls it."""
    return doors.CORES.get(core).isa

HERE = Path(__file__).parent / "riscv"


def describe(core: str, **knobs: int) -> Description:
    """A description with that core, and ``knobs`` of its section ``processor``."""
    return Description.model_validate({"nic": {"processor": core}, "processor": knobs})


PORTS = {"window": PioAccess, "pages": PageWrite}
"""Of the processor, that the model's main drives."""


class ProcessorTop(wiring.Component):
    """A :class:`Processor` with nothing on its buses."""

    def __init__(self, *, core: str) -> None:
        self._processor = Processor(description=describe(core))
        super().__init__({
            # Verilator has its own idea of names with two underscores.
            **{f"{port}_{name}": In(member.shape) if member.flow == Out else Out(member.shape)
               for port, signature in PORTS.items()
               for name, member in signature.members.items()},
            "cycle": In(64),
            "run": In(1),
            "divider": In(4),
            "watchdog": In(24),
            "profile": In(1),
            "status": Out(16),
            "pc": Out(32),
            "cause": Out(32),
            "load_sum": Out(64),
            "irq": Out(1),
            "idle": Out(1),
            "event": Out(5),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.processor = processor = self._processor
        registers = processor.registers
        for port, signature in PORTS.items():
            for name, member in signature.members.items():
                outside, inside = getattr(self, f"{port}_{name}"), getattr(processor, port)
                ends = outside, getattr(inside, name)
                to, of = reversed(ends) if member.flow == Out else ends
                m.d.comb += to.eq(of)
        firmware = processor.events[1]
        m.d.comb += [
            processor.cycle.eq(self.cycle),
            processor.node.eq(5),
            processor.profile.eq(self.profile),
            processor.timing.processor_clock_divider.eq(self.divider),
            processor.timing.processor_watchdog.eq(self.watchdog),
            processor.timing.bus_max_burst.eq(64),
            registers.run.eq(self.run),
            self.status.eq(registers.state.status),
            self.pc.eq(registers.state.pc),
            self.cause.eq(registers.state.cause),
            self.load_sum.eq(registers.load.sum),
            self.irq.eq(processor.asks.irq),
            self.idle.eq(processor.idle),
            self.event[0].eq(firmware.valid),
            self.event[1:].eq(firmware.kind),
        ]
        return m


class End(NamedTuple):
    """How a program ended."""

    cycle: int
    state: State
    reason: CrashReason
    pc: int
    cause: int


@cache
def _simulator(core: str) -> Path:
    text = rtlil(ProcessorTop(core=core), "top")
    main = HERE / "main.cpp"
    parts = [text, *foreign_sources(text).values(),
             main.read_text(), sys.version,
             *(path.read_text() for path in sorted(SOURCES.glob("profile.*")))]

    def build(work: Path) -> None:
        (work / "top.v").write_text(to_verilog(text, processes=True))
        files = verilate([work / "top.v", *module_files(text, work)], work, top="top", vpi=False)
        compile_all(Compilation(work, [*files, main, *own_files(text, ".cpp")]),
                    work / "simulator")

    return build_cache.entry("processor", parts, build) / "simulator"


class Lab:
    """A simulator of ``core`` that runs."""

    def __init__(self, core: str) -> None:
        self._dirty = 0
        self._process = subprocess.Popen([str(_simulator(core))], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> "Lab":
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.communicate()

    def _ask(self, *words: object) -> list[int]:
        print(*words, file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        assert line, "the simulator has ended"
        return [int(word, 0) for word in line.split()]

    def load(self, image: bytes, *, divider: int = 1, watchdog: int = 0, skip: bool = False,
             profile: bool = False) -> int:
        """Reset, write ``image`` to NIC memory, and release the core's reset; the cycle of that.

        ``skip``: while the processor is idle its clock stands still, and ``cycle`` goes on.
        """
        # Of the program before nothing is left (what it stored beyond its image stays).
        image += bytes(-len(image) % 8)
        reset = ("reset", divider, watchdog, int(skip), int(profile))
        self._ask(*reset)
        for at in range(len(image), self._dirty, 8):
            self.write(at, 0)
        self._dirty = len(image)
        self._ask(*reset)  # so that cycles do not tell how long the program before was
        for at in range(0, len(image), 8):
            self.write(at, int.from_bytes(image[at:at + 8], "little"))
        self._ask("run", 1)
        return len(image) // 8

    def write(self, address: int, value: int) -> None:
        """A word of NIC memory, by the window, in one cycle."""
        self._ask("write", address, value)

    def doorbell(self, page: int, offset: int, value: int) -> None:
        """A doorbell of the kernel's, in one cycle."""
        self._ask("doorbell", page * 4096 + offset, value)

    def read(self, address: int, count: int) -> bytes:
        """``count`` bytes of NIC memory, both multiples of 8."""
        words = self._ask("read", address, count // 8)
        return b"".join(word.to_bytes(8, "little") for word in words)

    def cycles(self, count: int) -> None:
        """Let time pass."""
        self._ask("cycles", count)

    def until(self, state: State, limit: int = 2_000_000) -> End:
        """Go on until the processor is in ``state``."""
        cycle, status, pc, cause = self._ask("until", int(state), limit)
        found = STATUS.unpack(status)
        assert found["state"] == state, f"{State(found['state']).name} after {limit} cycles"
        return End(cycle, State(found["state"]), CrashReason(found["reason"]), pc, cause)

    def marks(self) -> list[tuple[int, int]]:
        """Cycle and kind of each event of the firmware since the reset."""
        words = self._ask("marks")
        return list(zip(words[::2], words[1::2], strict=True))

    def profile(self) -> dict[int, int]:
        """Cycles by instruction."""
        words = self._ask("profile")
        return dict(zip(words[::2], words[1::2], strict=True))


def constants() -> str:
    """Assembler symbols of the registers that programs here use."""
    names = ("crash", "crash_cause", "crash_pc", "event", "event_arg", "wait", "wait_mask",
             "pending", "doorbell", "doorbell_pop", "cycle", "timer", "host_irq", "watchdog")
    return (f".equ MMIO, {MMIO_BASE:#x}\n"
            + "".join(f".equ {name.upper()}, {mmio_address(name) - MMIO_BASE:#x}\n"
                      for name in names))


@cache
def assemble(text: str, isa: str = "generic_rv32+m") -> bytes:
    """The image, from address 0, of assembly ``text``, which begins at its first instruction."""
    digest = hashlib.sha256(text.encode()).hexdigest()

    def build(work: Path) -> None:
        (work / "program.S").write_text(constants() + ".section .text\n" + text)
        for command in (
                ["cc", "-target", "riscv32-freestanding-none", f"-mcpu={isa}", "-nostdlib", "-g0",
                 f"-Wl,-T,{HERE / 'link.ld'}", "-Wl,-e,0", "-o", "program.elf", "program.S"],
                ["objcopy", "-O", "binary", "program.elf", "program.bin"]):
            done = subprocess.run([*tools.COMPILER, *command], cwd=work, capture_output=True,
                                  text=True, env=tools.environment())
            assert done.returncode == 0, done.stderr

    place = build_cache.entry("riscv", [digest, isa, Path(__file__).read_text()], build)
    return (place / "program.bin").read_bytes()
