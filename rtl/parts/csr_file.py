"""Registers of a NIC: decode, storage and read-back made from their declaration."""

from collections.abc import Collection, Mapping, Sequence

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...layouts.registers import REGISTERS, Access, Register

__all__ = ["CsrAccess", "CsrFile"]

OFFSET_BITS = 12

CsrAccess = wiring.Signature({
    "select": Out(1),
    "write": Out(1),
    "offset": Out(OFFSET_BITS),
    "data": Out(64),
    "read": In(64),
})
"""An initiator's side. A cycle with ``select`` accesses the register at ``offset`` bytes: writes
``data``, or reads; ``read`` is valid in the cycle after, and 0 after any other. Where nothing is
declared, writes do nothing and reads give 0."""


class CsrFile(wiring.Component):
    """A file of 8-byte registers, 8 bytes apart.

    Latency: a write acts at the end of its cycle; a read's word is there in the cycle after.
    Throughput: 1 access a cycle. Reset: as declared.

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
    access : In(CsrAccess)
        Reads and writes.
    values
        By register: Out, the value of a counter, and of a read-write or write-1-to-clear register;
        In, that of any other read-only register, and of an external one.
    writes
        By external, write-only or write-1-to-clear register, Out(1): it is written, with the low
        bits of ``access.data``.
    sets
        By write-1-to-clear register, In: bits to set; wins over a clear in the same cycle.
    counts
        By counter, In(events): a bit for each event that it counts in this cycle.

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
        values: dict[str, wiring.Member] = {}
        writes: dict[str, wiring.Member] = {}
        sets: dict[str, wiring.Member] = {}
        for register in registers:
            name, width = register.name, register.width
            if name in self._external:
                values[name] = In(width)
            elif name in self._counters:
                values[name] = Out(width)
            elif register.access in (Access.RW, Access.W1C):
                values[name] = Out(width, init=register.reset)
            elif register.access is Access.RO and not register.reset:
                values[name] = In(width)
            if name in self._external or register.access in (Access.WO, Access.W1C):
                writes[name] = Out(1)
            if register.access is Access.W1C:
                sets[name] = In(width)
        counts = {name: In(events) for name, events in self._counters.items()}
        super().__init__({
            "access": In(CsrAccess),
            **{name: Out(wiring.Signature(members)) for name, members in (
                ("values", values), ("writes", writes), ("sets", sets), ("counts", counts))},
        })

    @property
    def registers(self) -> tuple[Register, ...]:
        """All registers."""
        return self._registers

    def elaborate(self, platform: object) -> Module:
        m = Module()
        access = self.access
        # A set or a count comes after the clear, so that it is not lost.
        m.d.sync += access.read.eq(0)
        with m.If(access.select):
            with m.Switch(access.offset[3:]):
                for register in self._registers:
                    with m.Case(register.offset >> 3):
                        with m.If(access.write):
                            self._write(m, register)
                        with m.Else():
                            value = getattr(self.values, register.name, register.reset)
                            m.d.sync += access.read.eq(value)
        for register in self._registers:
            name = register.name
            if register.access is Access.W1C:
                bits, value = getattr(self.sets, name), getattr(self.values, name)
                for bit in range(register.width):
                    with m.If(bits[bit]):
                        m.d.sync += value[bit].eq(1)
            elif name in self._counters:
                events, value = getattr(self.counts, name), getattr(self.values, name)
                with m.If(events.any()):
                    m.d.sync += value.eq(value + sum(events))
        return m

    def _write(self, m: Module, register: Register) -> None:
        name = register.name
        data = self.access.data[:register.width]
        if hasattr(self.writes, name):
            m.d.comb += getattr(self.writes, name).eq(1)
        if register.access is Access.RW and name not in self._external:
            m.d.sync += getattr(self.values, name).eq(data)
        elif register.access is Access.W1C:
            value = getattr(self.values, name)
            m.d.sync += value.eq(value & ~data)
