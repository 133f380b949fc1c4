"""Assembly of programs that exercise each instruction of RV32I and M, and that end in a crash
``PANIC``. What they computed is in memory."""

import random

from tests.models.riscv import COMPUTE, multiply_divide

__all__ = ["EDGES", "END", "computations", "control", "immediates", "loads_and_stores",
           "random_code"]

END = """
    li s0, MMIO
    li t0, 4
    sw t0, CRASH(s0)
1:  j 1b
"""

EDGES = [0, 1, 2, 3, 31, 32, 33, 0x7FF, 0x800, 0xFFF, 0x1000, 0x8000, 0xFFFF, 0x1_0000, 0x5555_5555,
         0x7FFF_FFFF, 0x8000_0000, 0x8000_0001, 0xAAAA_AAAA, 0xFFFF_0000, 0xFFFF_FFFE, 0xFFFF_FFFF]


def _pairs(seed: int) -> list[tuple[int, int]]:
    random_ = random.Random(seed)
    edges = random_.sample([(a, b) for a in EDGES for b in EDGES], 60)
    must = [(0x8000_0000, 0xFFFF_FFFF), (0x8000_0000, 0), (7, 0), (0, 0),
            (0xFFFF_FFFF, 0xFFFF_FFFF), (0x8000_0000, 0x8000_0000), (7, 0xFFFF_FFFD),
            (0xFFFF_FFF9, 3)]
    return must + edges + [(random_.getrandbits(32), random_.getrandbits(32)) for _ in range(20)]


def _words(values: list[int]) -> str:
    return "".join(f"    .word {value:#x}\n" for value in values)


def _over_pairs(bodies: list[str], pairs: list[tuple[int, int]]) -> str:
    """Each of ``bodies``, from a0 and a1 to a2, over all pairs."""
    text = "    la s2, results\n"
    for number, body in enumerate(bodies):
        text += f"""
    la s1, operands
    la s3, operands_end
loop_{number}:
    lw a0, 0(s1)
    lw a1, 4(s1)
{body}
    sw a2, 0(s2)
    addi s1, s1, 8
    addi s2, s2, 4
    bne s1, s3, loop_{number}
"""
    return (text + END + ".balign 8\noperands:\n" + _words([v for pair in pairs for v in pair])
            + f"operands_end:\nresults: .space {4 * len(bodies) * len(pairs)}\n")


def computations(multiplies: bool, seed: int = 1) -> str:
    """Register-register instructions; also with one register for an operand and the result."""
    names = [*COMPUTE, *(multiply_divide if multiplies else ())]
    bodies = [f"    {name} a2, a0, a1" for name in names]
    bodies += ["    mv a2, a0\n    sub a2, a2, a1", "    mv a2, a1\n    sub a2, a0, a2",
               "    sltu a2, a0, a0\n    xor a2, a2, a1", "    add zero, a0, a1\n    mv a2, zero"]
    return _over_pairs(bodies, _pairs(seed))


def immediates(seed: int = 2) -> str:
    """Register-immediate instructions, LUI and AUIPC."""
    random_ = random.Random(seed)
    bodies = []
    for name in ("addi", "slti", "sltiu", "xori", "ori", "andi"):
        for value in (0, 1, -1, 2047, -2048, random_.randint(-2048, 2047)):
            bodies.append(f"    {name} a2, a0, {value}")
    for name in ("slli", "srli", "srai"):
        for value in (0, 1, 4, 15, 31):
            bodies.append(f"    {name} a2, a0, {value}")
    for value in (0, 1, 0x7FFFF, 0x80000, 0xFFFFF):
        bodies += [f"    lui a2, {value:#x}", f"    auipc a2, {value:#x}"]
    return _over_pairs(bodies, [(value, 0) for value in EDGES])


def loads_and_stores(seed: int = 3) -> str:
    """Every width at every offset that is aligned, offsets of both signs."""
    random_ = random.Random(seed)
    text = "    la s2, results\n    la s1, middle\n    la s3, area_middle\n    li a3, 0x89abcdef\n"
    for name, size in (("lb", 1), ("lbu", 1), ("lh", 2), ("lhu", 2), ("lw", 4)):
        for offset in range(-16, 16, size):
            text += f"    {name} a0, {offset}(s1)\n    sw a0, 0(s2)\n    addi s2, s2, 4\n"
    for name, size in (("sb", 1), ("sh", 2), ("sw", 4)):
        for offset in range(-16, 16, size):
            text += f"    addi a3, a3, {random_.randint(-2048, 2047)}\n"
            text += f"    {name} a3, {offset}(s3)\n    lw a0, {offset & ~3}(s3)\n"
            text += "    sw a0, 0(s2)\n    addi s2, s2, 4\n    addi s3, s3, 0\n"
        text += "    addi s3, s3, 64\n"
    # What was just stored, at the ends of the offsets' range.
    text += """
    la s4, area_end
    sw a3, -2048(s4)
    lb a0, -2045(s4)
    sw a0, 2044(s1)
    lw a1, 2044(s1)
    sw a1, 0(s2)
"""
    data = [random_.getrandbits(32) for _ in range(8)]
    return (text + END + ".balign 8\n" + _words(data[:4]) + "middle:\n" + _words(data[4:])
            + "results: .space 4096\n.space 64\narea_middle: .space 4096\narea_end:\n")


def control(seed: int = 4) -> str:
    """Branches, taken and not, forwards and backwards; JAL and JALR."""
    bodies = []
    for name in ("beq", "bne", "blt", "bge", "bltu", "bgeu"):
        bodies.append(f"""    li a2, 1
    {name} a0, a1, 1f
    li a2, 2
1:  j 3f
2:  addi a2, a2, 16
    j 4f
3:  {name} a0, a1, 2b
4:""")
    bodies += [
        # A link, and where it leads.
        "    jal a2, 1f\n    j 2f\n1:  la t0, 1b\n    sub a2, t0, a2\n    jalr t0, a2, 0\n2:\n",
        # Bit 0 of the sum is not looked at; the operand may be the link register.
        "    la t1, 1f\n    jalr t1, t1, 1\n1:  mv a2, t1\n",
        "    la t1, 1f + 2048\n    jalr a2, t1, -2048\n1:  nop\n",
        "    li a2, 5\n    jal zero, 1f\n    li a2, 6\n1:\n",
        # Calls, one within the other.
        "    jal ra, outer\n",
    ]
    # The last but one of these: where 2047 and -2048 bytes on there is nothing else to fetch.
    bodies[6] = "    jal a2, 1f\n1:  la t0, 1b\n    sub a2, t0, a2\n"
    functions = """
inner:
    add a2, a0, a1
    ret
outer:
    mv s5, ra
    jal ra, inner
    addi a2, a2, 1
    jr s5
"""
    text = _over_pairs(bodies, _pairs(seed)[:120])
    return text.replace(".balign 8\noperands:", functions + ".balign 8\noperands:")


def random_code(seed: int, multiplies: bool, length: int = 400) -> str:
    """Instructions on all registers: results that are used at once, loads of what was just stored,
    branches over a few instructions, short loops."""
    random_ = random.Random(seed)
    names = [*COMPUTE, *(random_.sample(list(multiply_divide), 8) if multiplies else ())]
    free = [n for n in range(1, 32) if n not in (2, 3)]
    recent = [1]

    def source() -> str:
        # Mostly what was computed last: hazards.
        return f"x{random_.choice(recent[-3:] if random_.random() < 0.6 else [0, *free])}"

    def target() -> str:
        recent.append(random_.choice(free))
        return f"x{recent[-1]}"

    text = "    la x2, area\n    li x3, 0\n"
    text += "".join(f"    li x{n}, {random_.getrandbits(32):#x}\n" for n in free)
    label = 0
    at = 0
    ends: dict[int, list[str]] = {}
    while at < length or ends:
        for line in ends.pop(at, ()):
            text += line
        at += 1
        kind = random_.random()
        if kind < 0.45:
            first, second = source(), source()
            text += f"    {random_.choice(names)} {target()}, {first}, {second}\n"
        elif kind < 0.6:
            first = source()
            name = random_.choice(["addi", "slti", "sltiu", "xori", "ori", "andi"])
            text += f"    {name} {target()}, {first}, {random_.randint(-2048, 2047)}\n"
        elif kind < 0.68:
            first = source()
            name = random_.choice(["slli", "srli", "srai"])
            text += f"    {name} {target()}, {first}, {random_.randint(0, 31)}\n"
        elif kind < 0.72:
            name = random_.choice(["lui", "auipc"])
            text += f"    {name} {target()}, {random_.getrandbits(20)}\n"
        elif kind < 0.82:
            name, size = random_.choice([("sb", 1), ("sh", 2), ("sw", 4)])
            text += f"    {name} {source()}, {random_.randrange(0, 64, size)}(x2)\n"
        elif kind < 0.92:
            name, size = random_.choice([("lb", 1), ("lbu", 1), ("lh", 2), ("lhu", 2), ("lw", 4)])
            text += f"    {name} {target()}, {random_.randrange(0, 64, size)}(x2)\n"
        elif at < length:
            label += 1
            over = at + random_.randint(0, 5)
            if random_.random() < 0.7:
                name = random_.choice(["beq", "bne", "blt", "bge", "bltu", "bgeu"])
                text += f"    {name} {source()}, {source()}, over_{label}\n"
                ends.setdefault(over, []).append(f"over_{label}:\n")
            elif not any("bgtz" in line for lines in ends.values()
                                           for line in lines):
                text += f"    li x3, {random_.randint(1, 4)}\nback_{label}:\n"
                # Behind all that is open: no branch may leave the loop half-way into another.
                ends.setdefault(over, []).append(
                    f"    addi x3, x3, -1\n    bgtz x3, back_{label}\n")
    text += "".join(f"    sw x{n}, {4 * n + 64}(x2)\n" for n in range(32) if n != 2)
    return text + END + ".balign 8\narea: .space 256\n"
