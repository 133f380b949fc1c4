"""The cores in their subsystem: every instruction against the ISA's text, traps, the clock."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from nicbed.layouts.processor import CrashReason, Pending, State, mmio_address

from tests.labs.processor import CORES, Lab, assemble, isa
from tests.models.riscv import Machine
from tests.programs import riscv as programs

MEMORY = 65536


class Labs(dict[str, Lab]):
    """A simulator of each core, once it is asked for."""

    def __init__(self, stack: ExitStack) -> None:
        super().__init__()
        self._stack = stack

    def __missing__(self, core: str) -> Lab:
        self[core] = lab = self._stack.enter_context(Lab(core))
        return lab


@pytest.fixture(scope="module")
def labs() -> Iterator[Labs]:
    with ExitStack() as stack:
        yield Labs(stack)


def multiplies(core: str) -> bool:
    return isa(core).endswith("+m")


PROGRAMS = {
    "computations": programs.computations,
    "immediates": lambda _: programs.immediates(),
    "loads and stores": lambda _: programs.loads_and_stores(),
    "control": lambda _: programs.control(),
    **{f"random {seed}": lambda extended, seed=seed: programs.random_code(seed, extended)
       for seed in range(8)},
}


DIVIDERS = {"random 0": (1, 2, 8), "computations": (1,)}
"""Of programs that do not run with 1 and 3: one is long."""


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_instructions(labs: Labs, core: str, name: str) -> None:
    """All of memory is as the model has it, whatever the clock's divider; cycles scale with it."""
    image = assemble(PROGRAMS[name](multiplies(core)), isa(core))
    model = Machine(image, MEMORY)
    model.run(mmio_address("crash"))
    lab = labs[core]
    took = {}
    for divider in DIVIDERS.get(name, (1, 3)):
        begin = lab.load(image, divider=divider)
        end = lab.until(State.CRASHED, 8_000_000)
        assert end.reason == CrashReason.PANIC
        got = lab.read(0, len(image) + 7 & ~7)
        wrong = [hex(at) for at in range(0, len(image), 4)
                 if got[at:at + 4] != model.memory[at:at + 4]]
        assert not wrong
        took[divider] = end.cycle - begin
    # A slow core waits for memory never, a fast one sometimes.
    for divider, cycles in took.items():
        assert 0.6 * divider * took[1] < cycles <= divider * took[1] + 8


def trapping(cause: str) -> str:
    """A program that sets ``mtvec`` (where there is one), does ``cause`` at ``here``, and tells
    mcause and mepc by a crash."""
    return f"""
    la t0, handler
    .ifdef TRAPS
    csrw mtvec, t0
    .endif
    li a1, 0x1002
here:
    {cause}
    nop
    nop
    li t0, 99
    j tell
    .balign 4
handler:
    .ifdef TRAPS
    csrr t0, mcause
    csrr t1, mepc
    .endif
tell:
    li s0, MMIO
    sw t0, CRASH_CAUSE(s0)
    sw t1, CRASH_PC(s0)
    li t0, 2
    sw t0, CRASH(s0)
1:  j 1b
"""


CAUSES = {
    "ecall": ("ecall", 11), "ebreak": ("ebreak", 3), "illegal": (".word 0xffffffff", 2),
    "zero": (".word 0", 2), "load": ("lw a0, 0(a1)", 4), "half": ("lh a0, 1(a1)", 4),
    "store": ("sw a0, 0(a1)", 6), "jump": ("jalr zero, a1, 0", 0),
}


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("name", CAUSES)
def test_traps(labs: Labs, core: str, name: str) -> None:
    """What the cores do with what is no good: VexRiscv and SERV go to mtvec, but SERV does not
    detect an illegal instruction, and to VexRiscv EBREAK is one; PicoRV32 stops."""
    text, mcause = CAUSES[name]
    if core == "vexriscv" and name == "ebreak":
        mcause = 2
    traps = core != "picorv32"
    image = assemble((".equ TRAPS, 1\n" if traps else "") + trapping(text), isa(core))
    lab = labs[core]
    lab.load(image)
    end = lab.until(State.CRASHED, 20_000)
    if not traps:
        assert end.reason == CrashReason.TRAP
    elif core == "serv" and mcause == 2:
        assert (end.reason, end.cause) == (CrashReason.EXCEPTION, 99)
    else:
        assert (end.reason, end.cause) == (CrashReason.EXCEPTION, mcause)


@pytest.mark.parametrize("core", CORES)
def test_no_address(labs: Labs, core: str) -> None:
    """An access to an address where nothing is ends the run, with the address."""
    for text, address in (("lw a0, 0(a1)", 0x1_0000), ("sw a0, 4(a1)", 0x1_0004)):
        labs[core].load(assemble(f"    lui a1, 0x10\n    {text}\n1:  j 1b\n", isa(core)))
        end = labs[core].until(State.CRASHED, 2_000)
        assert (end.reason, end.cause) == (CrashReason.BUS, address)
        # VexRiscv is up to an instruction ahead of its data.
        assert end.pc in ((4, 8) if core == "vexriscv" else (4,))


@pytest.mark.parametrize("core", CORES)
def test_lost_in_memory(labs: Labs, core: str) -> None:
    """A jump to where nothing is ends the run, too."""
    labs[core].load(assemble((".equ TRAPS, 1\n" if core == "vexriscv" else "")
                             + trapping("lui a2, 0x20\n    jr a2"), isa(core)))
    end = labs[core].until(State.CRASHED, 5_000)
    if core == "vexriscv":
        assert (end.reason, end.cause, end.pc) == (CrashReason.EXCEPTION, 2, 0x2_0000)
    else:
        assert (end.reason, end.cause) == (CrashReason.BUS, 0x2_0000)


@pytest.mark.parametrize("core", CORES)
def test_watchdog(labs: Labs, core: str) -> None:
    labs[core].load(assemble("1:  j 1b\n", isa(core)), watchdog=5000)
    end = labs[core].until(State.CRASHED, 6_000)
    assert end.reason == CrashReason.WATCHDOG and end.pc in (0, 4)


SLEEPER = f"""
    li s0, MMIO
    li t0, {int(Pending.DOORBELL)}
    sw t0, WAIT_MASK(s0)
    li s1, 0
    la s2, taken
1:  lw a0, WAIT(s0)
    add s1, s1, a0
2:  lw a1, DOORBELL(s0)
    bgez a1, 1b
    sw a1, 0(s2)
    addi s2, s2, 4
    sw zero, DOORBELL_POP(s0)
    sw s1, EVENT(s0)
    li t1, 12
    la t2, taken
    sub t2, s2, t2
    bltu t2, t1, 1b
""" + programs.END + """
.balign 8
taken: .space 64
"""


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("divider", [1, 3])
def test_sleeps(labs: Labs, core: str, divider: int) -> None:
    """However long it sleeps, and whether its clock stands still meanwhile or time is skipped, it
    takes as long from a doorbell to what comes of it."""
    image = assemble(SLEEPER, isa(core))
    lab = labs[core]
    answers = {}
    for pause in (0, 1, 2, 3, 4, 7, 50, 333):
        runs = []
        for skip in (False, True):
            lab.load(image, divider=divider, skip=skip)
            lab.until(State.ASLEEP, 20_000)
            rung = []
            for number in range(3):
                lab.cycles(300 * 40 + pause + number)
                lab.until(State.ASLEEP, 100)
                rung.append(lab.until(State.ASLEEP, 1).cycle)
                lab.doorbell(number, 8 * number, number)
            end = lab.until(State.CRASHED, 50_000)
            marks = [cycle for cycle, _ in lab.marks()]
            runs.append((end, marks, rung, lab.read(0, len(image) + 7 & ~7)))
        assert runs[0] == runs[1]
        answers[pause] = [mark - cycle for mark, cycle in zip(runs[0][1], runs[0][2], strict=True)]
    assert len({tuple(times) for times in answers.values()}) == 1, answers


@pytest.mark.parametrize("core", CORES)
def test_profile(labs: Labs, core: str) -> None:
    """Cycles awake by instruction: all are counted, most where the loop is; none when off."""
    image = assemble("    li a0, 100\n1:  addi a0, a0, -1\n    bnez a0, 1b\n" + programs.END,
                     isa(core))
    lab = labs[core]
    for profile in (True, False):
        begin = lab.load(image, profile=profile)
        end = lab.until(State.CRASHED, 50_000)
        counts = lab.profile()
        if not profile:
            assert counts == {}
            continue
        assert 0 <= end.cycle - begin - sum(counts.values()) < 25
        assert counts[4] + counts[8] > 0.7 * sum(counts.values())


LOOPS = {
    "ten additions and a branch": ("    add a1, a1, a0\n" * 10, 12),
    "copy of 4 words": ("".join(f"    lw t{n}, {4 * n}(s1)\n" for n in range(4))
                        + "".join(f"    sw t{n}, {64 + 4 * n}(s1)\n" for n in range(4)), 10),
    "fields of a header": ("    lw t0, 0(s1)\n    srli t1, t0, 16\n    andi t2, t0, 255\n"
                           "    slli t2, t2, 3\n    add t2, t2, s1\n    sw t1, 0(t2)\n"
                           "    xor a1, a1, t0\n", 9),
}
LIMITS = {"serv": (33, 80), "picorv32": (3.0, 6.0), "vexriscv": (1.0, 4.0)}


@pytest.mark.parametrize("core", CORES)
def test_cycles_an_instruction(labs: Labs, core: str) -> None:
    for name, (body, count) in LOOPS.items():
        times = []
        for loops in (10, 110):
            image = assemble(f"    la s1, data\n    li a0, {loops}\n1:\n{body}    addi a0, a0, -1\n"
                             f"    bnez a0, 1b\n{programs.END}\n.balign 8\ndata: .space 4096\n",
                             isa(core))
            begin = labs[core].load(image)
            times.append(labs[core].until(State.CRASHED, 500_000).cycle - begin)
        each = (times[1] - times[0]) / 100 / count
        print(f"{core}: {name}: {each:.2f} cycles an instruction")
        assert LIMITS[core][0] <= each <= LIMITS[core][1], name
