"""RV32IM in Python, by the text of the unprivileged ISA manual: what the cores are held against."""

from collections.abc import Callable

__all__ = ["COMPUTE", "Machine", "multiply_divide"]

MASK = 0xFFFF_FFFF


def signed(value: int, bits: int = 32) -> int:
    """The two's complement number in the low ``bits`` of ``value``."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _div(a: int, b: int) -> int:
    # Rounds towards zero. By zero: -1. The overflow -2^31 / -1 gives -2^31 without more ado.
    if b == 0:
        return MASK
    quotient = abs(signed(a)) // abs(signed(b))
    return quotient if (signed(a) < 0) == (signed(b) < 0) else -quotient


def _rem(a: int, b: int) -> int:
    # The sign of the dividend. By zero: the dividend.
    if b == 0:
        return a
    rest = abs(signed(a)) % abs(signed(b))
    return -rest if signed(a) < 0 else rest


COMPUTE: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "sll": lambda a, b: a << (b & 31),
    "slt": lambda a, b: int(signed(a) < signed(b)),
    "sltu": lambda a, b: int(a < b),
    "xor": lambda a, b: a ^ b,
    "srl": lambda a, b: a >> (b & 31),
    "sra": lambda a, b: signed(a) >> (b & 31),
    "or": lambda a, b: a | b,
    "and": lambda a, b: a & b,
}
"""Register-register instructions of RV32I, results modulo 2^32."""

multiply_divide: dict[str, Callable[[int, int], int]] = {
    "mul": lambda a, b: a * b,
    "mulh": lambda a, b: signed(a) * signed(b) >> 32,
    "mulhsu": lambda a, b: signed(a) * b >> 32,
    "mulhu": lambda a, b: a * b >> 32,
    "div": _div,
    "divu": lambda a, b: a // b if b else MASK,
    "rem": _rem,
    "remu": lambda a, b: a % b if b else a,
}
"""Those of the M extension."""

_BY_FUNCT3 = ["add", "sll", "slt", "sltu", "xor", "srl", "or", "and"]
_M_BY_FUNCT3 = list(multiply_divide)
_TAKEN: dict[int, Callable[[int, int], bool]] = {
    0: lambda a, b: a == b, 1: lambda a, b: a != b,
    4: lambda a, b: signed(a) < signed(b), 5: lambda a, b: signed(a) >= signed(b),
    6: lambda a, b: a < b, 7: lambda a, b: a >= b,
}


class Machine:
    """Runs a program in ``memory`` from address 0, until it stores beyond it."""

    def __init__(self, image: bytes, size: int = 65536) -> None:
        self.memory = bytearray(image.ljust(size, b"\0"))
        self.x = [0] * 32
        self.pc = 0
        self.executed = 0
        self.stores: list[tuple[int, int]] = []
        """Stores beyond memory: address and value."""

    def run(self, ends_at: int, limit: int = 2_000_000) -> None:
        """Until a store to ``ends_at``."""
        while not self.stores or self.stores[-1][0] != ends_at:
            assert self.executed < limit, f"no end after {limit} instructions"
            self.step()

    def step(self) -> None:
        """One instruction."""
        word = int.from_bytes(self.memory[self.pc:self.pc + 4], "little")
        opcode, rd, funct3 = word & 0x7F, word >> 7 & 31, word >> 12 & 7
        rs1, rs2, funct7 = word >> 15 & 31, word >> 20 & 31, word >> 25
        a, b = self.x[rs1], self.x[rs2]
        following = self.pc + 4
        i = signed(word >> 20, 12)
        result = None
        if opcode == 0x37:
            result = word & 0xFFFF_F000
        elif opcode == 0x17:
            result = self.pc + (word & 0xFFFF_F000)
        elif opcode == 0x6F:
            result = following
            following = self.pc + signed((word >> 31) << 20 | (word >> 12 & 0xFF) << 12
                                         | (word >> 20 & 1) << 11 | (word >> 21 & 0x3FF) << 1, 21)
        elif opcode == 0x67 and funct3 == 0:
            result = following
            following = (a + i) & ~1
        elif opcode == 0x63:
            if _TAKEN[funct3](a, b):
                following = self.pc + signed((word >> 31) << 12 | (word >> 7 & 1) << 11
                                             | (word >> 25 & 0x3F) << 5 | (word >> 8 & 15) << 1, 13)
        elif opcode == 0x03:
            result = self._load((a + i) & MASK, funct3)
        elif opcode == 0x23:
            self._store((a + signed((word >> 25) << 5 | rd, 12)) & MASK, b, 1 << funct3)
        elif opcode == 0x13:
            name = _BY_FUNCT3[funct3]
            if name == "srl" and funct7 == 0x20:
                name = "sra"
            result = COMPUTE[name](a, i & MASK)
        elif opcode == 0x33 and funct7 == 1:
            result = multiply_divide[_M_BY_FUNCT3[funct3]](a, b)
        elif opcode == 0x33:
            name = {("add", 0x20): "sub", ("srl", 0x20): "sra"}.get(
                (_BY_FUNCT3[funct3], funct7), _BY_FUNCT3[funct3])
            result = COMPUTE[name](a, b)
        elif opcode != 0x0F:
            raise AssertionError(f"instruction {word:#010x} at {self.pc:#x}")
        if result is not None and rd:
            self.x[rd] = result & MASK
        self.pc = following & MASK
        self.executed += 1

    def _load(self, address: int, funct3: int) -> int:
        size = 1 << (funct3 & 3)
        assert address % size == 0 and address + size <= len(self.memory), hex(address)
        value = int.from_bytes(self.memory[address:address + size], "little")
        return value if funct3 & 4 else signed(value, 8 * size)

    def _store(self, address: int, value: int, size: int) -> None:
        assert address % size == 0, hex(address)
        if address >= len(self.memory):
            self.stores.append((address, value))
        else:
            self.memory[address:address + size] = (value & ((1 << 8 * size) - 1)).to_bytes(
                size, "little")
