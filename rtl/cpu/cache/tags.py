"""The tags of a direct-mapped cache without data, and a state for each line."""

from amaranth.hdl import Cat, Const, Module, ResetSignal, ShapeLike, Signal, Value
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ...parts.sizes import check_count, check_power_of_two

__all__ = ["Look", "Tags", "tag_change"]


def tag_change(state: ShapeLike) -> data.StructLayout:
    """In a cycle with ``valid``, the line at ``address`` takes its slot, with that ``state``; 0 for
    no line."""
    return data.StructLayout({"valid": 1, "address": 32, "state": state})


class Look(wiring.Signature):
    """A look at the slot of the line at ``address``, as its user sees it.

    Members
    -------
    address : ``Out(32)``
        An address of any byte of the line.
    state : ``In(state)``
        The state of the line in the slot, 0 if there is none.
    same : ``In(1)``
        The line in the slot, if there is one, is that at ``address``.
    line : ``In(32)``
        The address of the line in the slot.
    """

    def __init__(self, state: ShapeLike) -> None:
        super().__init__({"address": Out(32), "state": In(state), "same": In(1), "line": In(32)})


class Tags(wiring.Component):
    """Has a slot for each of ``lines`` lines: which line it is, and in which state.

    Latency: a look is answered in its cycle; a change is seen from the next cycle on. Throughput:
    a change a cycle. Reset: no slot has a line. Entries carry the time of their reset, so that it
    takes one cycle for any number of lines, in which no change is made.

    Parameters
    ----------
    lines : :class:`int`
        Slots: a power of two, 2 or more.
    line_bytes : :class:`int`
        Bytes of a line: a power of two, 16 or more.
    state : shape
        State of a line, of which 0 says that there is none.
    looks : :class:`int`
        Looks a cycle.

    Members
    -------
    look : ``In(Look)``, ``looks`` of them
        Looks at slots.
    change : ``In(tag_change(state))``
        A change of a slot.

    Raises
    ------
    TypeError
        ``lines``, ``line_bytes`` or ``looks`` is not an integer.
    ValueError
        ``lines`` is not a power of two of at least 2, ``line_bytes`` not one of at least 16, or
        ``looks`` less than 1.
    """

    def __init__(self, *, lines: int, line_bytes: int, state: ShapeLike, looks: int) -> None:
        check_power_of_two("lines", lines)
        check_power_of_two("line_bytes", line_bytes, least=16)
        check_count("looks", looks)
        self._lines = lines
        self._line_bytes = line_bytes
        index_bits = ceil_log2(lines)
        # Each cycle of reset empties a slot and increments the epoch. An entry counts only in its
        # own epoch: before an epoch returns, every slot was emptied.
        self._epoch = Signal(index_bits, reset_less=True, name="epoch")
        self._memory = memory.Memory(depth=lines, init=[], shape=data.StructLayout({
            "state": state, "epoch": index_bits, "tag": 32 - ceil_log2(line_bytes) - index_bits}))
        super().__init__({"look": In(Look(state)).array(looks), "change": In(tag_change(state))})

    @property
    def lines(self) -> int:
        """Slots."""
        return self._lines

    @property
    def line_bytes(self) -> int:
        """Bytes of a line."""
        return self._line_bytes

    @property
    def looks(self) -> int:
        """Looks a cycle."""
        return len(self.look)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        line_bits = ceil_log2(self._line_bytes)
        m.submodules.memory = self._memory
        epoch, write, change = self._epoch, self._memory.write_port(), self.change

        def parts(address: Value) -> tuple[Value, Value]:
            return address[line_bits:][:len(epoch)], address[line_bits + len(epoch):]

        for look in self.look:
            port = self._memory.read_port(domain="comb")
            index, tag = parts(look.address)
            m.d.comb += [
                port.addr.eq(index),
                look.same.eq(port.data.tag == tag),
                look.line.eq(Cat(Const(0, line_bits), index, port.data.tag)),
            ]
            with m.If(port.data.epoch == epoch):
                m.d.comb += look.state.eq(port.data.state)

        index, tag = parts(change.address)
        m.d.comb += [write.data.epoch.eq(epoch), write.data.tag.eq(tag)]
        with m.If(ResetSignal()):
            m.d.comb += [write.en.eq(1), write.addr.eq(epoch)]
            m.d.sync += epoch.eq(epoch + 1)
        with m.Elif(change.valid):
            m.d.comb += [write.en.eq(1), write.addr.eq(index), write.data.state.eq(change.state)]
        return m
