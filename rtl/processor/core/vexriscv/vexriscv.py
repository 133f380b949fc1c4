"""The pipelined core."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring

from ...types import CoreSide
from ..enabled_core import checked_step, core_instance

__all__ = ["VexRiscv"]


class VexRiscv(wiring.Component):
    """VexRiscv, variant Lite: rv32im, five stages, bypassed, static branch prediction, 2 KiB of
    instruction cache and none of data; machine-mode traps, no interrupts.

    Multiplication, division and shifts take a cycle a bit. Illegal and misaligned instructions and
    accesses, ``ecall`` and ``ebreak`` go to ``mtvec``. Stores to code take effect after
    ``fence.i``; after reset the cache is empty. ``trap`` never rises. ``pc``: the instruction in
    the memory stage.

    Accesses to data come before those to instructions. Members are those of :data:`CoreSide`.
    """

    def __init__(self, *, step: Signal | None = None) -> None:
        self._step = checked_step(step)
        super().__init__(CoreSide)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bus = self.bus
        fetch, access, write = Signal(), Signal(), Signal()
        fetch_address, address = Signal(30), Signal(30)
        off = Const(0, 1)
        # The choice does not change before the answer.
        fetching, fetches = Signal(), Signal()
        m.submodules.core = core_instance(
            "VexRiscv", edge=self.edge, step=self._step,
            i_clk=self.clk, i_reset=self.reset, i_externalResetVector=Const(0, 32),
            i_timerInterrupt=off, i_softwareInterrupt=off, i_externalInterruptArray=Const(0, 32),
            o_iBusWishbone_CYC=fetch, o_iBusWishbone_ADR=fetch_address,
            i_iBusWishbone_ACK=bus.ack & fetches, i_iBusWishbone_DAT_MISO=bus.read,
            i_iBusWishbone_ERR=off,
            o_dBusWishbone_CYC=access, o_dBusWishbone_ADR=address, o_dBusWishbone_WE=write,
            o_dBusWishbone_DAT_MOSI=bus.data, o_dBusWishbone_SEL=bus.strobe,
            i_dBusWishbone_ACK=bus.ack & ~fetches & access, i_dBusWishbone_DAT_MISO=bus.read,
            i_dBusWishbone_ERR=off, o_nicbed_pc=self.pc)
        m.d.comb += [
            fetches.eq(fetch & (fetching | ~access)),
            bus.valid.eq(fetch | access),
            bus.fetch.eq(fetches),
            bus.write.eq(~fetches & write),
            bus.address.eq(Cat(Const(0, 2), Mux(fetches, fetch_address, address))),
        ]
        m.d.sync += fetching.eq(fetches & ~(bus.ack & self.edge))
        return m
