"""VI contexts: what the kernel agent laid down about each VI, and the state of each."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.via import VI_BITS, ViState
from .sizes import check_count, check_vis
from .types import Context, ContextRead

__all__ = ["Contexts"]

_context = data.Layout.cast(Context)
_Laid = data.StructLayout({name: _context[name].shape for name in ("attributes", "peer")})


class Contexts(wiring.Component):
    """Attributes, peer and state of ``vis`` VIs in block memory, for ``readers`` readers at once.

    Latency: ``data`` belongs to the VI that ``vi`` said in the cycle before. A write is seen by
    whoever says the VI in the next cycle or later; who says it in the cycle of the write still gets
    what was there before it. Throughput: every reader a VI a cycle, a write a cycle. Back-pressure:
    none.

    Reset: all VIs become CLOSED, one a cycle; ``ready`` is high once they are. Until then every VI
    reads as CLOSED, and ``write`` and ``set_state`` must be low. Attributes and peers are not reset
    and mean nothing before they are written. A VI of number ``vis`` or above reads as CLOSED, and
    writing to it does nothing.

    Parameters
    ----------
    vis : :class:`int`
        VIs: a power of two, 2 to 4096.
    readers : :class:`int`
        Read ports, 1 or more.

    Members
    -------
    read : ``In(ContextRead).array(readers)``
        The readers.
    write : ``In(1)``, write_vi : ``In(12)``, write_attributes : ``In(48)``, write_peer : ``In(60)``
        Lays down ATTRIBUTES (its 46 bits) and PEER (layouts.via) of a VI.
    set_state : ``In(1)``, state_vi : ``In(12)``, state : ``In(2)``
        Puts a VI in a state (layouts.via.ViState).
    ready : ``Out(1)``
        All states have been cleared since reset.
    idle : ``Out(1)``
        No answer will change unless an input does.

    Raises
    ------
    TypeError
        A parameter is not an integer.
    ValueError
        A parameter breaks its rule.
    """

    def __init__(self, *, vis: int, readers: int) -> None:
        check_vis(vis)
        check_count("readers", readers)
        self._vis = vis
        self._readers = readers
        super().__init__({
            "read": In(ContextRead).array(readers),
            "write": In(1),
            "write_vi": In(VI_BITS),
            "write_attributes": In(48),
            "write_peer": In(60),
            "set_state": In(1),
            "state_vi": In(VI_BITS),
            "state": In(2),
            "ready": Out(1),
            "idle": Out(1),
        })

    @property
    def vis(self) -> int:
        """VIs."""
        return self._vis

    @property
    def readers(self) -> int:
        """Read ports."""
        return self._readers

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bits = (self._vis - 1).bit_length()
        m.submodules.laid = laid = memory.Memory(shape=_Laid, depth=self._vis, init=[])
        m.submodules.states = states = memory.Memory(shape=2, depth=self._vis, init=[])
        write_laid = laid.write_port()
        write_state = states.write_port()

        # The row to clear next; one bit more says that all are.
        swept = Signal(bits + 1)
        # Something was written in the cycle before: what the readers hold may be old.
        stale = Signal(init=1)
        m.d.comb += self.ready.eq(swept[bits])
        m.d.sync += stale.eq(self.write | self.set_state | ~self.ready)
        with m.If(self.write):
            m.d.comb += [
                write_laid.en.eq(self.write_vi[bits:] == 0),
                write_laid.addr.eq(self.write_vi),
                write_laid.data.attributes.eq(self.write_attributes),
                write_laid.data.peer.eq(self.write_peer),
            ]
        with m.If(~self.ready):
            m.d.comb += [
                write_state.en.eq(1),
                write_state.addr.eq(swept),
                write_state.data.eq(ViState.CLOSED),
            ]
            m.d.sync += swept.eq(swept + 1)
        with m.Elif(self.set_state):
            m.d.comb += [
                write_state.en.eq(self.state_vi[bits:] == 0),
                write_state.addr.eq(self.state_vi),
                write_state.data.eq(self.state),
            ]
        m.d.comb += self.idle.eq(~(stale | self.write | self.set_state))

        for number, reader in enumerate(self.read):
            said = Signal(VI_BITS, name=f"said_{number}")
            read_laid = laid.read_port()
            read_state = states.read_port()
            # Simulators pay for every read: none while the same VI stays as it is.
            fresh = Signal(name=f"fresh_{number}")
            m.d.comb += [
                fresh.eq(stale | (reader.vi != said)),
                read_laid.addr.eq(reader.vi),
                read_state.addr.eq(reader.vi),
                read_laid.en.eq(fresh),
                read_state.en.eq(fresh),
                reader.data.attributes.eq(read_laid.data.attributes),
                reader.data.peer.eq(read_laid.data.peer),
            ]
            with m.If(fresh):
                m.d.sync += said.eq(reader.vi)
            with m.If(self.ready & (said[bits:] == 0)):
                m.d.comb += reader.data.state.eq(read_state.data)
        return m
