"""The bit-serial core."""

from amaranth.hdl import Const, Module, Mux, Signal
from amaranth.lib import wiring

from ...types import CoreSide
from ..enabled_core import checked_step, core_instance

__all__ = ["Serv"]


class Serv(wiring.Component):
    """SERV as an rv32i with its machine-mode traps; no interrupts.

    ``ecall``, ``ebreak`` and misaligned accesses and jumps go to ``mtvec``. Illegal instructions
    are not detected, and their effect is undefined. ``trap`` never rises. ``pc``: the instruction
    in execution.

    Members are those of :data:`CoreSide`.
    """

    def __init__(self, *, step: Signal | None = None) -> None:
        self._step = checked_step(step)
        super().__init__(CoreSide)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bus = self.bus
        fetch, access, write = Signal(), Signal(), Signal()
        fetch_address, address = Signal(32), Signal(32)
        off = Const(0, 1)
        m.submodules.core = core_instance(
            "serv_rf_top", edge=self.edge, step=self._step,
            i_clk=self.clk, i_i_rst=self.reset, i_i_timer_irq=off,
            o_o_ibus_adr=fetch_address, o_o_ibus_cyc=fetch, i_i_ibus_rdt=bus.read,
            i_i_ibus_ack=bus.ack & fetch,
            o_o_dbus_adr=address, o_o_dbus_dat=bus.data, o_o_dbus_sel=bus.strobe,
            o_o_dbus_we=write, o_o_dbus_cyc=access, i_i_dbus_rdt=bus.read,
            i_i_dbus_ack=bus.ack & access & ~fetch,
            i_i_ext_rd=Const(0, 32), i_i_ext_ready=off)
        # The core never requests both at once.
        m.d.comb += [
            bus.valid.eq(fetch | access),
            bus.fetch.eq(fetch),
            bus.write.eq(access & ~fetch & write),
            bus.address.eq(Mux(fetch, fetch_address, address)),
        ]
        with m.If(self.edge & fetch & bus.ack):
            m.d.sync += self.pc.eq(fetch_address)
        return m
