"""The NIC processor's register file."""

from amaranth.hdl import Module, Signal, ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ....layouts.processor import (
    DOORBELL_OWNER,
    ENGINE_STRIDE,
    ENGINES_BASE,
    MMIO_REGISTERS,
    Engine,
    EngineRegister,
)
from ...parts.event import EventPort
from ...parts.sizes import check_integer
from ..types import EngineCommand, EnginePort, FirmwareAsks, MmioBus
from .crash import CrashReport
from .doorbells import DoorbellPort
from .pending_bits import PendingPort

__all__ = ["Mmio"]

_WIDTHS = {register.name: register.width for register in MMIO_REGISTERS}
_STORED = ("event_number", "event_arg", "protocol", "doorbell_page", "watch_base", "watch_bytes",
           "crash_pc", "crash_cause")
"""Registers that only store a value here."""
_PROCESS = DOORBELL_OWNER.offset("process")
_COMMAND = {EngineRegister.HOST: "host", EngineRegister.LOCAL: "local",
            EngineRegister.LENGTH: "length", EngineRegister.TRACE: "trace"}


class Mmio(wiring.Component):
    """Decodes the processor's accesses to :data:`nicbed.layouts.processor.MMIO_REGISTERS` and to
    the engines' registers.

    An access is answered in its first cycle, except for these, which wait: a read of ``wait`` until
    a bit of ``pending`` & ``wait_mask`` is set; a write to START until the engine takes the
    command; a write to ``doorbell_enable`` while the kernel writes the table. A read of a
    write-only register gives 0, and a write to a read-only register does nothing. The low 2 bits of
    the address are ignored. ``bad`` reports an access to an offset without a register.

    Reset, and as long as ``run`` is low: all registers are 0.

    Parameters
    ----------
    memory_bytes : :class:`int`
        Size of NIC memory, for register ``memory_bytes``.

    Members
    -------
    run : ``In(1)``
        Low: the processor is held in reset.
    bus : ``In(MmioBus)``
        From the core; by offset from MMIO_BASE.
    bad : ``Out(1)``
        High in the cycle of an access (which is answered, with 0) to an offset without register.
    node : ``In(8)``, cycle : ``In(64)``
        This node's number; the cycle counter.
    engines : ``In(EnginePort)``, an array
        The engines, in the order of layouts.processor.Engine.
    pending : ``Out(PendingPort)``, doorbells : ``Out(DoorbellPort)``, crash : ``Out(CrashReport)``
        The blocks behind the registers of that name.
    kick : ``Out(1)``
        High for a cycle with each write to ``watchdog`` and each answer to a read of ``wait``.
    asks : ``Out(FirmwareAsks)``
        Registers of these names; ``irq`` is ``host_irq``. ``watched`` is used in ``pending``, not
        here.
    event : ``Out(EventPort)``
        Block FIRMWARE: an event for each write to ``event``.

    Raises
    ------
    TypeError
        ``memory_bytes`` is not an integer.
    ValueError
        ``memory_bytes`` does not fit its register.
    """

    run: In(1)
    bus: In(MmioBus)
    bad: Out(1)
    node: In(8)
    cycle: In(64)
    engines: In(EnginePort).array(len(Engine))
    pending: Out(PendingPort)
    doorbells: Out(DoorbellPort)
    crash: Out(CrashReport)
    kick: Out(1)
    asks: Out(FirmwareAsks)
    event: Out(EventPort)

    def __init__(self, *, memory_bytes: int) -> None:
        check_integer("memory_bytes", memory_bytes)
        if not 0 < memory_bytes < 1 << 32:
            raise ValueError(f"memory_bytes must be 1 to {(1 << 32) - 1}, not {memory_bytes}")
        self._memory_bytes = memory_bytes
        super().__init__()

    @property
    def memory_bytes(self) -> int:
        """Size of NIC memory."""
        return self._memory_bytes

    def elaborate(self, platform: object) -> Module:
        m = Module()
        stored = {name: Signal(_WIDTHS[name], name=name) for name in _STORED}
        commands = [Signal(EngineCommand, name=engine.name.lower()) for engine in Engine]
        high = Signal(32)
        self._joints(m, stored, commands)

        bus = self.bus
        with m.If(bus.valid):
            m.d.comb += bus.ack.eq(1)
            with m.Switch(bus.address[2:]):
                for register in MMIO_REGISTERS:
                    with m.Case(register.offset >> 2):
                        self._access(m, register.name, stored, high)
                for engine in Engine:
                    for register in EngineRegister:
                        offset = ENGINES_BASE + ENGINE_STRIDE * engine + register
                        with m.Case(offset >> 2):
                            self._engine(m, register, engine, commands[engine])
                with m.Default():
                    m.d.comb += self.bad.eq(1)
        with m.If(~self.run):
            m.d.sync += [high.eq(0), *(value.eq(0) for value in stored.values()),
                         *(command.as_value().eq(0) for command in commands)]
        return m

    def _joints(self, m: Module, stored: dict[str, Signal], commands: list) -> None:
        """Outputs that do not depend on an access."""
        bus = self.bus
        m.d.comb += [
            self.pending.data.eq(bus.data),
            self.doorbells.grant.payload[:_PROCESS].eq(stored["doorbell_page"]),
            self.doorbells.grant.payload[_PROCESS:].eq(bus.data),
            self.crash.reason.eq(bus.data),
            self.crash.pc.eq(stored["crash_pc"]),
            self.crash.cause.eq(stored["crash_cause"]),
            self.asks.protocol.eq(stored["protocol"]),
            self.asks.watch_base.eq(stored["watch_base"]),
            self.asks.watch_bytes.eq(stored["watch_bytes"]),
            self.event.kind.eq(bus.data[:_WIDTHS["event"]]),
            self.event.number.eq(stored["event_number"]),
            self.event.arg.eq(stored["event_arg"]),
        ]
        for port, command in zip(self.engines, commands, strict=True):
            m.d.comb += [
                port.command.payload.eq(command),
                port.command.payload.flags.eq(bus.data),
            ]

    def _access(self, m: Module, name: str, stored: dict[str, Signal], high: Signal) -> None:
        """An access to the register ``name``."""
        bus, pending, doorbells = self.bus, self.pending, self.doorbells
        reads: dict[str, ValueLike] = {
            "node": self.node, "cycle": self.cycle[:32], "cycle_high": high,
            "memory_bytes": self._memory_bytes, "pending": pending.bits,
            "wait_mask": pending.mask, "wait": pending.bits & pending.mask,
            "timer": pending.timer, "doorbell": doorbells.entry,
            "doorbell_low": doorbells.data[:32], "doorbell_high": doorbells.data[32:],
            **stored,
        }
        acts = {
            "pending": pending.clear.eq(bus.data), "wait_mask": pending.mask_write.eq(1),
            "timer": pending.timer_write.eq(1), "timer_off": pending.timer_off.eq(1),
            "watchdog": self.kick.eq(1), "host_irq": self.asks.irq.eq(1),
            "event": self.event.valid.eq(1), "doorbell_pop": doorbells.pop.eq(1),
            "doorbell_enable": [doorbells.grant.valid.eq(1), bus.ack.eq(doorbells.grant.ready)],
            "crash": self.crash.valid.eq(1),
        }
        with m.If(bus.write):
            if name in acts:
                m.d.comb += acts[name]
            if name in stored:
                m.d.sync += stored[name].eq(bus.data)
        with m.Else():
            m.d.comb += bus.read.eq(reads.get(name, 0))
            if name == "wait":
                m.d.comb += [
                    pending.wait.eq(1),
                    bus.ack.eq(pending.wake),
                    self.kick.eq(pending.wake),
                ]
            elif name == "cycle":
                m.d.sync += high.eq(self.cycle[32:])
            elif name == "doorbell":
                m.d.comb += doorbells.look.eq(1)

    def _engine(self, m: Module, register: EngineRegister, engine: Engine, command: Signal) -> None:
        """An access to a register of ``engine``."""
        bus, port = self.bus, self.engines[engine]
        with m.If(bus.write):
            if register in _COMMAND:
                m.d.sync += command[_COMMAND[register]].eq(bus.data)
            elif register is EngineRegister.START:
                m.d.comb += [
                    port.command.valid.eq(1),
                    bus.ack.eq(port.command.ready),
                ]
        with m.Else():
            if register in _COMMAND:
                m.d.comb += bus.read.eq(command[_COMMAND[register]])
            elif register is EngineRegister.SPACE:
                m.d.comb += bus.read.eq(port.space)
            elif register is EngineRegister.DONE:
                m.d.comb += bus.read.eq(port.done)
