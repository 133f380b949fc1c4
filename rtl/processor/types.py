"""Signatures that connect the parts of the NIC processor's subsystem."""

from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.packet import TRACE_BITS
from ..parts.flit import FlitStream
from ..parts.receive_word import ReceiveWord

__all__ = ["CoreBus", "CoreSide", "EngineCommand", "EnginePort", "FirmwareAsks",
           "HOST_ADDRESS_BITS", "HostWordBus", "LoadCheck", "MMIO_ADDRESS_BITS", "MmioBus",
           "PacketPorts", "ProcessorRegisters", "ProcessorState", "WIDE_ADDRESS_BITS", "WidePort"]

HOST_ADDRESS_BITS = 30
MMIO_ADDRESS_BITS = 12
WIDE_ADDRESS_BITS = 17
"""NIC memory has at most 2 to this power 8-byte words."""

CoreBus = wiring.Signature({
    "valid": Out(1),
    "fetch": Out(1),
    "write": Out(1),
    "address": Out(32),
    "data": Out(32),
    "strobe": Out(4),
    "ack": In(1),
    "read": In(32),
})
"""A core's side of its bus. An access holds until a clock edge *of the core* at which ``ack`` is
high; ``read`` is valid with ``ack``, and both hold until that edge."""

CoreSide = wiring.Signature({
    "clk": In(1),
    "edge": In(1),
    "reset": In(1),
    "bus": Out(CoreBus),
    "pc": Out(32),
    "trap": Out(1),
})
"""A core's members: its clock, which rises at the end of the cycles with ``edge``;
its reset, for as many edges as it likes; its bus; the address of the instruction in execution, as
well as it is known; whether it has stopped by itself. Outputs mean nothing until it was reset."""

MmioBus = wiring.Signature({
    "valid": Out(1),
    "write": Out(1),
    "address": Out(MMIO_ADDRESS_BITS),
    "data": Out(32),
    "ack": In(1),
    "read": In(32),
})
"""The initiator's side. An access holds until the cycle with ``valid`` and ``ack``: there it
happens, once; ``read`` is valid in that cycle."""

HostWordBus = wiring.Signature({
    "valid": Out(1),
    "write": Out(1),
    "address": Out(HOST_ADDRESS_BITS),
    "data": Out(32),
    "strobe": Out(4),
    "ack": In(1),
    "read": In(32),
})
"""A core's accesses to words of host memory, from its side. An access holds until the cycle with
``valid`` and ``ack``; ``read`` is valid in that cycle. If ``valid`` falls before, it is given up:
nobody sees its end."""

WidePort = wiring.Signature({
    "valid": Out(1),
    "write": Out(1),
    "address": Out(WIDE_ADDRESS_BITS),
    "data": Out(64),
    "strobe": Out(8),
    "ready": In(1),
    "read": In(64),
})
"""A client's side of NIC memory's 64-bit port. An access happens in a cycle with ``valid`` and
``ready``; a read's word is on ``read`` in the cycle after, and only then."""


class EngineCommand(data.Struct):
    """A command of firmware to an engine, in the fields of layouts.processor.EngineRegister."""

    host: 32
    local: 20
    length: 16
    trace: TRACE_BITS
    flags: 2


EnginePort = wiring.Signature({
    "command": In(stream.Signature(EngineCommand)),
    "space": Out(4),
    "done": Out(32),
    "ended": Out(1),
    "idle": Out(1),
})
"""An engine's side: commands in, how many more have room, how many have ended (``ended``: one ends
in this cycle)."""

FirmwareAsks = wiring.Signature({
    "protocol": Out(9),
    "watch_base": Out(32),
    "watch_bytes": Out(32),
    "watched": In(1),
    "irq": Out(1),
})
"""Requests of the firmware to the NIC around the processor: the protocol whose packets it takes
(layouts.processor.PROTOCOL_SELECT), the range of host memory to watch and, for a cycle, an
interrupt of the host. ``watched``: a CPU takes a line of the range for writing."""

PacketPorts = wiring.Signature({
    "tx": Out(FlitStream),
    "rx": In(stream.Signature(ReceiveWord)),
})
"""Packets to the link, without CRC, and from it."""

ProcessorState = wiring.Signature({
    "crashed": Out(1),
    "status": Out(16),
    "pc": Out(32),
    "cause": Out(32),
})
"""Whether the processor has stopped for good, and the host's registers: layouts.processor.STATUS;
the address of the instruction fetched last, or that of the crash; what caused that, until then
0."""

LoadCheck = wiring.Signature({
    "clear": Out(1),
    "words": In(32),
    "sum": In(64),
})
"""Number of words that the host has written to NIC memory since ``clear``, and their sum, rotated
left by one before each is added."""

ProcessorRegisters = wiring.Signature({
    "run": Out(1),
    "state": In(ProcessorState),
    "window_owner": Out(stream.Signature(24, always_ready=True)),
    "doorbell_owner": Out(stream.Signature(25, always_ready=True)),
    "doorbell_words": Out(25),
    "load": Out(LoadCheck),
    "window_refused": In(1),
})
"""The host's registers of the processor (layouts.registers.PROCESSOR_REGISTERS), from the side of
the NIC: values; writes with their data; a pulse to count."""
