"""Operations in words, for the diagnosis of a run that never ends."""

from ...layouts.operations import ENTRY, NIC_BASE, NIC_BYTES, WORK_BITS, Flag, Op
from ...layouts.registers import REGISTERS

__all__ = ["steps", "place", "work"]

_REGISTERS = {register.offset: register.name for register in REGISTERS}


def steps(entries: bytes | bytearray | memoryview, count: int) -> str:
    """Descriptions of the first ``count`` entries of a block."""
    found = []
    for index in range(count):
        word, _, address, length, compare, mask, *_ = ENTRY.unpack_from(entries,
                                                                        index * ENTRY.size)
        op = Op(word & 15)
        text = op.name.lower()
        if op in (Op.PIO_READ, Op.PIO_WRITE, Op.TOUCH, Op.POLL, Op.WATCH, Op.CAS):
            text += f" {place(address)}"
        if op in (Op.POLL, Op.WATCH):
            relation = "!=" if word >> 8 & Flag.NOT_EQUAL else "=="
            text += f" & {mask:#x} {relation} {compare:#x}"
        if op in (Op.POLL, Op.WAIT_IRQ) and length:
            text += f" (at most {length} cycles)"
        found.append(text)
    return "; ".join(found) if found else "nothing yet"


def work(entries: bytes | bytearray | memoryview, count: int) -> int:
    """Cycles of work in the first ``count`` entries of a block: they take as long at least, but for
    waits that an interrupt ends."""
    ticks = 0
    for index in range(count):
        word, spent, _, _, _, _, before, *_ = ENTRY.unpack_from(entries, index * ENTRY.size)
        match Op(word & 15):
            case Op.POLL:
                ticks += before & 0xFFFF_FFFF
            case Op.WATCH:
                pass
            case _:
                ticks += spent
    return ticks >> WORK_BITS


def place(address: int) -> str:
    """``address`` in words: a register's name where there is one."""
    if address < NIC_BASE:
        return f"memory {address:#x}"
    nic, at = divmod(address - NIC_BASE, NIC_BYTES)
    name = f"NIC {nic}" if nic else "NIC"
    return f"{name} register {_REGISTERS[at]}" if at in _REGISTERS else f"{name} address {at:#x}"
