"""A riscv32 core in plain Python (RV32IM, machine mode as far as the runtime uses it).

Runs real firmware images in the model target, an instruction at a time, and counts them. An access
outside of memory is its owner's; one that cannot be answered yet raises :class:`Held`, and the
instruction is executed again later.
"""

from collections.abc import Callable

__all__ = ["Core", "Held", "Trap"]

MASK = 0xFFFF_FFFF
MTVEC, MEPC, MCAUSE, MTVAL = 0x305, 0x341, 0x342, 0x343
ILLEGAL, BREAKPOINT, LOAD_MISALIGNED, STORE_MISALIGNED, ECALL = 2, 3, 4, 6, 11


class Held(Exception):
    """A register access waits."""


class Trap(Exception):
    """An exception with no handler to go to: cause, program counter."""

    def __init__(self, cause: int, pc: int) -> None:
        super().__init__(f"trap, mcause {cause}, at {pc:#x}")
        self.cause, self.pc = cause, pc


def signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def extend(value: int, bits: int) -> int:
    return (value ^ 1 << bits - 1) - (1 << bits - 1)


def divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return -quotient if (a < 0) != (b < 0) else quotient


ARITHMETIC: dict[tuple[int, int], Callable[[int, int], int]] = {
    (0, 0): lambda a, b: a + b & MASK, (0x20, 0): lambda a, b: a - b & MASK,
    (0, 1): lambda a, b: a << (b & 31) & MASK, (0, 2): lambda a, b: int(signed(a) < signed(b)),
    (0, 3): lambda a, b: int(a < b), (0, 4): lambda a, b: a ^ b, (0, 5): lambda a, b: a >> (b & 31),
    (0x20, 5): lambda a, b: signed(a) >> (b & 31) & MASK, (0, 6): lambda a, b: a | b,
    (0, 7): lambda a, b: a & b,
    (1, 0): lambda a, b: a * b & MASK, (1, 1): lambda a, b: signed(a) * signed(b) >> 32 & MASK,
    (1, 2): lambda a, b: signed(a) * b >> 32 & MASK, (1, 3): lambda a, b: a * b >> 32,
    (1, 4): lambda a, b: MASK if b == 0 else divide(signed(a), signed(b)) & MASK,
    (1, 5): lambda a, b: MASK if b == 0 else a // b,
    (1, 6): lambda a, b: a if b == 0 else
    signed(a) - signed(b) * divide(signed(a), signed(b)) & MASK,
    (1, 7): lambda a, b: a if b == 0 else a % b,
}
BRANCHES: dict[int, Callable[[int, int], bool]] = {
    0: lambda a, b: a == b, 1: lambda a, b: a != b, 4: lambda a, b: signed(a) < signed(b),
    5: lambda a, b: signed(a) >= signed(b), 6: lambda a, b: a < b, 7: lambda a, b: a >= b,
}


class Core:
    """Executes from ``memory``; ``outside(write, address, value)`` does accesses beyond it.

    Attributes
    ----------
    pc, x
        Program counter; registers, of which x[32] takes what is written to zero.
    executed
        Instructions so far.
    counts
        How often each address was executed, if it is a dict.
    """

    def __init__(self, memory: bytearray, outside: Callable[[bool, int, int], int]) -> None:
        self.memory = memory
        self.outside = outside
        self.words = memoryview(memory).cast("I")
        self.csr: dict[int, int] = {}
        self.counts: dict[int, int] | None = None
        self.reset()

    def reset(self, pc: int = 0) -> None:
        self.pc = pc
        self.x = [0] * 33
        self.executed = 0
        self.decoded: dict[int, tuple[int, Callable[[], int]]] = {}

    def step(self) -> None:
        pc = self.pc
        at = pc >> 2
        if pc & 3 or at >= len(self.words):
            self.trap(ILLEGAL, pc)
            return
        word = self.words[at]
        found = self.decoded.get(pc)
        if found is None or found[0] != word:
            found = self.decoded[pc] = word, self.decode(word, pc)
        self.pc = found[1]()
        self.executed += 1
        if self.counts is not None:
            self.counts[pc] = self.counts.get(pc, 0) + 1

    def trap(self, cause: int, pc: int) -> int:
        """Tells where an exception at ``pc`` leads."""
        if not self.csr.get(MTVEC):
            raise Trap(cause, pc)
        self.csr[MEPC], self.csr[MCAUSE] = pc, cause
        self.pc = self.csr[MTVEC] & ~3
        return self.pc

    def load(self, address: int, size: int, sign: bool, pc: int) -> int | None:
        if address & size - 1:
            return None
        if address + size > len(self.memory):
            return self.outside(False, address, 0)
        value = int.from_bytes(self.memory[address:address + size], "little")
        return extend(value, 8 * size) & MASK if sign else value

    def decode(self, word: int, pc: int) -> Callable[[], int]:
        x = self.x
        code, rd, f3 = word & 0x7F, word >> 7 & 31, word >> 12 & 7
        rs1, rs2, f7 = word >> 15 & 31, word >> 20 & 31, word >> 25
        rd = rd or 32
        following = pc + 4
        imm = extend(word >> 20, 12)

        def illegal() -> int:
            return self.trap(ILLEGAL, pc)

        if code == 0x13:
            if f3 in (1, 5):
                operation = ARITHMETIC.get((f7, f3))
                imm = rs2
            else:
                operation = ARITHMETIC[0, f3]
            if operation is None:
                return illegal

            def immediate() -> int:
                x[rd] = operation(x[rs1], imm & MASK)
                return following
            return immediate
        if code == 0x33:
            operation = ARITHMETIC.get((f7, f3))
            if operation is None:
                return illegal

            def register() -> int:
                x[rd] = operation(x[rs1], x[rs2])
                return following
            return register
        if code == 0x03 and f3 in (0, 1, 2, 4, 5):
            size = 1 << (f3 & 3)

            def load() -> int:
                value = self.load(x[rs1] + imm & MASK, size, f3 < 2, pc)
                if value is None:
                    return self.trap(LOAD_MISALIGNED, pc)
                x[rd] = value
                return following
            return load
        if code == 0x23 and f3 < 3:
            size = 1 << f3
            place = extend(f7 << 5 | word >> 7 & 31, 12)

            def store() -> int:
                address = x[rs1] + place & MASK
                if address & size - 1:
                    return self.trap(STORE_MISALIGNED, pc)
                value = x[rs2] & (1 << 8 * size) - 1
                if address + size > len(self.memory):
                    self.outside(True, address, value)
                else:
                    self.memory[address:address + size] = value.to_bytes(size, "little")
                return following
            return store
        if code == 0x63 and f3 in BRANCHES:
            test = BRANCHES[f3]
            target = pc + extend((word >> 31) << 12 | (word >> 7 & 1) << 11 | (word >> 25 & 63) << 5
                                 | (word >> 8 & 15) << 1, 13) & MASK

            def branch() -> int:
                return target if test(x[rs1], x[rs2]) else following
            return branch
        if code in (0x37, 0x17):
            upper = (word & 0xFFFFF000) + (pc if code == 0x17 else 0) & MASK

            def lui() -> int:
                x[rd] = upper
                return following
            return lui
        if code == 0x6F:
            goal = pc + extend((word >> 31) << 20 | (word >> 12 & 255) << 12
                               | (word >> 20 & 1) << 11 | (word >> 21 & 1023) << 1, 21) & MASK

            def jump() -> int:
                x[rd] = following
                return goal
            return jump
        if code == 0x67 and f3 == 0:
            def jump_register() -> int:
                to = x[rs1] + imm & MASK & ~1
                x[rd] = following
                return to
            return jump_register
        if code == 0x0F:
            return lambda: following
        if code == 0x73:
            return self.system(word, pc, rd, f3, rs1, following) or illegal
        return illegal

    def system(self, word: int, pc: int, rd: int, f3: int, rs1: int,
               following: int) -> Callable[[], int] | None:
        x = self.x
        number = word >> 20
        if f3 == 0:
            if number in (0, 1):
                return lambda: self.trap(BREAKPOINT if number else ECALL, pc)
            return (lambda: self.csr.get(MEPC, 0)) if number == 0x302 else None
        if f3 == 4:
            return None

        def csr() -> int:
            old = self.csr.get(number, 0)
            value = rs1 if f3 & 4 else x[rs1]
            if f3 & 3 == 1:
                self.csr[number] = value
            elif rs1:
                self.csr[number] = old | value if f3 & 3 == 2 else old & ~value
            x[rd] = old
            return following
        return csr
