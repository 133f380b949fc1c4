"""The multi-cycle core."""

from amaranth.hdl import Const, Module, Signal
from amaranth.lib import wiring

from ...types import CoreSide
from ..enabled_core import checked_step, core_instance

__all__ = ["PicoRv32"]


class PicoRv32(wiring.Component):
    """PicoRV32 as an rv32im: barrel shifter, multiplier, serial divider; no interrupts.

    It has no machine-mode traps. An illegal or misaligned instruction or access, ``ecall`` and
    ``ebreak`` stop it for good: ``trap``. ``pc``: the instruction in execution.

    Members are those of :data:`CoreSide`.
    """

    def __init__(self, *, step: Signal | None = None) -> None:
        self._step = checked_step(step)
        super().__init__(CoreSide)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bus = self.bus
        one, none = Const(1, 1), Const(0, 1)
        m.submodules.core = core_instance(
            "picorv32", edge=self.edge, step=self._step,
            p_ENABLE_COUNTERS=none, p_ENABLE_COUNTERS64=none, p_BARREL_SHIFTER=one,
            p_ENABLE_FAST_MUL=one, p_ENABLE_DIV=one, p_REGS_INIT_ZERO=one,
            i_clk=self.clk, i_resetn=~self.reset, o_trap=self.trap,
            o_mem_valid=bus.valid, o_mem_instr=bus.fetch, i_mem_ready=bus.ack & bus.valid,
            o_mem_addr=bus.address, o_mem_wdata=bus.data, o_mem_wstrb=bus.strobe,
            i_mem_rdata=bus.read, i_pcpi_wr=none, i_pcpi_rd=Const(0, 32), i_pcpi_wait=none,
            i_pcpi_ready=none, i_irq=Const(0, 32), o_nicbed_pc=self.pc)
        m.d.comb += bus.write.eq(bus.strobe != 0)
        return m
