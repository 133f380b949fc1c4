"""VI contexts: the kernel agent's settings of each VI, and the state of each."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.via import VI_BITS, ViState
from ..parts.sizes import check_count, check_vis
from .types import Context, ContextRead, ContextWrite, StateWrite

__all__ = ["Contexts"]

_context = data.Layout.cast(Context)
_Laid = data.StructLayout({name: _context[name].shape for name in ("attributes", "peer")})


class Contexts(wiring.Component):
    """Attributes, peer and state of ``vis`` VIs in block memory, for ``readers`` readers at once.

    Latency: ``data`` belongs to the VI that ``vi`` selected in the previous cycle. A read that
    selects the VI in the cycle after a write, or later, sees the write; a read in the cycle of the
    write gets the old content. Throughput: a VI for every reader and a write in each cycle.
    Back-pressure: none.

    Reset: all VIs become CLOSED, one in each cycle; then ``ready`` is high. Until then every VI
    reads as CLOSED, and nothing may be written. Attributes and peers are not reset and are
    undefined until they are written. A VI of number ``vis`` or above reads as CLOSED, and writing
    to it does nothing.

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
    write : ``In(ContextWrite)``, set_state : ``In(StateWrite)``
        From the manager; both may come in one cycle.
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
            "write": In(ContextWrite),
            "set_state": In(StateWrite),
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
        write, set_state = self.write, self.set_state

        # The row to clear next; one more bit says that all are cleared.
        swept = Signal(bits + 1)
        # A write in the previous cycle: the readers' data may be old.
        stale = Signal(init=1)
        m.d.comb += self.ready.eq(swept[bits])
        m.d.sync += stale.eq(write.valid | set_state.valid | ~self.ready)
        with m.If(write.valid):
            m.d.comb += [
                write_laid.en.eq(write.vi[bits:] == 0),
                write_laid.addr.eq(write.vi),
                write_laid.data.attributes.eq(write.attributes),
                write_laid.data.peer.eq(write.peer),
            ]
        with m.If(~self.ready):
            m.d.comb += [
                write_state.en.eq(1),
                write_state.addr.eq(swept),
                write_state.data.eq(ViState.CLOSED),
            ]
            m.d.sync += swept.eq(swept + 1)
        with m.Elif(set_state.valid):
            m.d.comb += [
                write_state.en.eq(set_state.vi[bits:] == 0),
                write_state.addr.eq(set_state.vi),
                write_state.data.eq(set_state.state),
            ]
        m.d.comb += self.idle.eq(~(stale | write.valid | set_state.valid))

        for number, reader in enumerate(self.read):
            said = Signal(VI_BITS, name=f"said_{number}")
            read_laid = laid.read_port()
            read_state = states.read_port()
            # Simulators pay for every read, so there is none while the VI stays the same.
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
