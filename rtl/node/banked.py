"""A block with two banks of registers and memories around one copy of its logic."""

from collections.abc import Iterable, Mapping
from typing import Any

from amaranth.hdl import Cat, Mux, Shape, Signal, Value
from amaranth.hdl._ast import Concat, Operator, Part, Slice, Statement, Switch, SwitchValue
from amaranth.hdl._ir import Fragment, Instance, IOBufferInstance
from amaranth.hdl._mem import MemoryData, MemoryInstance
from amaranth.hdl._xfrm import FragmentTransformer, LHSMaskCollector, StatementTransformer

__all__ = ["Banked"]


class Banked(FragmentTransformer):
    """Gives a block two banks of registers and memories, which are in use alternately.

    It is called with the block, as EnableInserter is, and like it affects domain ``sync``. The
    banks change places at every clock: ``bank`` is the current bank, whose inputs the block gets
    and whose outputs it shows. With ``edge`` the next clock is an edge of that bank; otherwise the
    bank does not change. A reset of the domain resets both banks.

    This fits into an FPGA without room for two copies of the logic. It costs one more flip-flop and
    a selecting LUT for each bit of a register, and the unused half of blocks of RAM. The other bank
    of a register is a second register behind it, so there are no clock enables, of which a device
    has only few.

    Parameters
    ----------
    bank : Value
        The current bank: 0 and 1 alternately.
    edge : Value
        The next clock is an edge of that bank.

    Raises
    ------
    TypeError
        At elaboration: the block contains something other than RTL of one clock domain: an
        instance, a buffer of pins, another domain (also a local one called "sync"), a check or a
        Print.
    """

    def __init__(self, *, bank: Value, edge: Value) -> None:
        self._bank = bank
        self._edge = edge

    def on_fragment(self, fragment: Fragment) -> Fragment:
        if isinstance(fragment, MemoryInstance):
            return self._memory(fragment)
        if isinstance(fragment, IOBufferInstance):
            raise TypeError("there are no two banks of a buffer of pins")
        if isinstance(fragment, Instance):
            raise TypeError(f"there are no two banks of an instance of {fragment.type}")
        others = {*fragment.statements} - {"comb", "sync"} | {*fragment.domains}
        if others:
            raise TypeError(f"there are no two banks of domain {min(others)!r}")
        new = super().on_fragment(fragment)
        _NoChecks().on_statements(new.statements.get("comb", ()))
        if "sync" in new.statements:
            self._registers(new, new.statements.pop("sync"))
        return new

    def _registers(self, fragment: Fragment, statements: Iterable[Statement]) -> None:
        masks = LHSMaskCollector()
        masks.visit_stmt(statements)
        following = {}
        for signal, start, stop in masks.chunks():
            if id(signal) not in following:
                following[id(signal)] = Signal(signal.shape(), name=f"{signal.name}_next")
                other = Signal(signal.shape(), name=f"{signal.name}_other", init=signal.init,
                               reset_less=signal.reset_less)
            part = slice(start, stop)
            fragment.add_statements("comb", following[id(signal)][part].eq(signal[part]))
            fragment.add_statements("sync", signal[part].eq(other[part]),
                                    other[part].eq(following[id(signal)][part]))
        fragment.add_statements("comb", _when(
            self._edge, _AssignTo(following).on_statements(statements)))

    def _memory(self, fragment: MemoryInstance) -> Fragment:
        data = fragment._data
        new = Fragment(src_loc=fragment.src_loc)
        doubled = MemoryInstance(
            data=MemoryData(shape=Shape.cast(data.shape).width, depth=2 * data.depth,
                            init=[row for row in data.init._raw for _ in range(2)]),
            attrs=fragment._attrs, src_loc=fragment.src_loc)
        new.add_subfragment(doubled, "banks")
        for write in fragment._write_ports:
            _check_domain(write._domain)
            doubled.write_port(domain="sync", addr=Cat(self._bank, write._addr), data=write._data,
                               en=write._en & self._edge.replicate(len(write._en)))
        for number, read in enumerate(fragment._read_ports):
            if read._domain == "comb":
                doubled.read_port(domain="comb", addr=Cat(self._bank, read._addr),
                                  data=read._data, en=read._en, transparent_for=())
                continue
            _check_domain(read._domain)
            # The word read at an edge arrives during the other bank's turn.
            width = len(read._data)
            came = Signal(width, name=f"came_{number}")
            asked = Signal(name=f"asked_{number}", reset_less=True)
            shown, other = (Signal(width, name=f"{name}_{number}", reset_less=True)
                            for name in ("shown", "other"))
            doubled.read_port(domain="sync", addr=Cat(self._bank, read._addr), data=came,
                              en=read._en, transparent_for=read._transparent_for)
            new.add_statements("sync", asked.eq(read._en & self._edge), other.eq(shown),
                               shown.eq(Mux(asked, came, other)))
            new.add_statements("comb", read._data.eq(shown))
        return new


class _NoChecks(StatementTransformer):
    """Statements unchanged, if all of them are assignments."""

    def on_Print(self, stmt: Any) -> Statement:
        raise TypeError("there are no two banks of a Print")

    def on_Property(self, stmt: Any) -> Statement:
        raise TypeError("there are no two banks of a check")


class _AssignTo(_NoChecks):
    """Statements that assign to other signals: to those of ``signals``, by the id of the signal
    that they replace. Signals that are read stay the same."""

    def __init__(self, signals: Mapping[int, Signal]) -> None:
        self._signals = signals

    def on_Assign(self, stmt: Any) -> Statement:
        return self._target(stmt.lhs).eq(stmt.rhs)

    def _target(self, value: Value) -> Value:
        match value:
            case Signal():
                return self._signals[id(value)]
            case Slice():
                return Slice(self._target(value.value), value.start, value.stop)
            case Part():
                return Part(self._target(value.value), value.offset, value.width, value.stride)
            case Concat():
                return Concat(self._target(part) for part in value.parts)
            case SwitchValue():
                return SwitchValue(value.test, [(patterns, self._target(one))
                                                for patterns, one in value.cases])
            case Operator():
                return Operator(value.operator, [self._target(one) for one in value.operands])
        raise TypeError(f"not to be assigned to: {value!r}")


def _when(condition: Value, statements: Iterable[Statement]) -> Switch:
    return Switch(condition, [(1, statements, None)])


def _check_domain(name: str) -> None:
    if name != "sync":
        raise TypeError(f"there are no two banks of domain {name!r}")
