"""Registers of the NIC: decode, storage and read-back made from their declaration."""

from collections.abc import Collection, Mapping, Sequence

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...layouts.registers import REGISTERS, Access, Register

__all__ = ["CsrFile"]

OFFSET_BITS = 12


class CsrFile(wiring.Component):
    """A file of 8-byte registers, 8 bytes apart.

    Latency: a write acts at the end of its cycle; ``read`` is valid in the cycle after a read, and
    0 after any other. Throughput: 1 access a cycle. Reset: as declared.

    Parameters
    ----------
    registers : sequence of Register
        What there is. A read-only register that is declared with a reset value is a constant.
    counters : mapping of str to int
        Read-only registers that are counters, and how many events each can see in a cycle.
    external : collection of str
        Read-write registers that are kept elsewhere.

    Members
    -------
    select, write : In(1), In(1)
        This cycle accesses the file; it writes.
    offset : In(12)
        Bytes. Where nothing is declared, writes do nothing and reads give 0.
    data : In(64), read : Out(64)
        Written and read.
    NAME : Out
        Value of a counter, and of a read-write or write-1-to-clear register.
    NAME : In
        Value of any other read-only register, and of an external one.
    NAME_write : Out(1)
        An external or write-only register is written, with the low bits of ``data``.
    NAME_set : In
        Bits of a write-1-to-clear register to set; wins over a clear in the same cycle.
    NAME_count : In(events)
        A bit for each event that a counter counts in this cycle.

    Raises
    ------
    ValueError
        ``counters`` or ``external`` names a register that is not there or of another kind.
    """

    def __init__(self, *, registers: Sequence[Register] = REGISTERS,
                 counters: Mapping[str, int] | None = None,
                 external: Collection[str] = ()) -> None:
        self._registers = tuple(registers)
        self._counters = dict(counters or {})
        self._external = frozenset(external)
        for kind, names, access in (("counter", self._counters, Access.RO),
                                    ("external", self._external, Access.RW)):
            there = {register.name for register in registers if register.access is access}
            for name in sorted(set(names) - there):
                raise ValueError(f"{kind} {name!r}: no {access.value} register of that name")
        members: dict[str, wiring.Member] = {
            "select": In(1), "write": In(1), "offset": In(OFFSET_BITS), "data": In(64),
            "read": Out(64),
        }
        for register in registers:
            name, width = register.name, register.width
            if name in self._external:
                members |= {name: In(width), f"{name}_write": Out(1)}
            elif name in self._counters:
                members |= {name: Out(width), f"{name}_count": In(self._counters[name])}
            elif register.access is Access.RW:
                members |= {name: Out(width, init=register.reset)}
            elif register.access is Access.W1C:
                members |= {name: Out(width, init=register.reset), f"{name}_set": In(width)}
            elif register.access is Access.WO:
                members |= {f"{name}_write": Out(1)}
            elif not register.reset:
                members |= {name: In(width)}
        super().__init__(members)

    @property
    def registers(self) -> tuple[Register, ...]:
        """What there is."""
        return self._registers

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # A set or a count comes after the clear, so that it is not lost.
        m.d.sync += self.read.eq(0)
        with m.If(self.select):
            with m.Switch(self.offset[3:]):
                for register in self._registers:
                    with m.Case(register.offset >> 3):
                        with m.If(self.write):
                            self._write(m, register)
                        with m.Else():
                            value = getattr(self, register.name, register.reset)
                            m.d.sync += self.read.eq(value)
        for register in self._registers:
            name = register.name
            if register.access is Access.W1C:
                bits, value = getattr(self, f"{name}_set"), getattr(self, name)
                for bit in range(register.width):
                    with m.If(bits[bit]):
                        m.d.sync += value[bit].eq(1)
            elif name in self._counters:
                events, value = getattr(self, f"{name}_count"), getattr(self, name)
                with m.If(events.any()):
                    m.d.sync += value.eq(value + sum(events))
        return m

    def _write(self, m: Module, register: Register) -> None:
        name = register.name
        data = self.data[:register.width]
        if name in self._external or register.access is Access.WO:
            m.d.comb += getattr(self, f"{name}_write").eq(1)
        elif register.access is Access.RW:
            m.d.sync += getattr(self, name).eq(data)
        elif register.access is Access.W1C:
            value = getattr(self, name)
            m.d.sync += value.eq(value & ~data)
