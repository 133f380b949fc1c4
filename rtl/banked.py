"""A block that is two of its kind: one copy of the logic, two of all that it remembers."""

from collections.abc import Iterable, Mapping
from typing import Any

from amaranth.hdl import Cat, Mux, Shape, Signal, Value
from amaranth.hdl._ast import Concat, Operator, Part, Slice, Statement, Switch, SwitchValue
from amaranth.hdl._ir import Fragment, Instance
from amaranth.hdl._mem import MemoryData, MemoryInstance
from amaranth.hdl._xfrm import FragmentTransformer, LHSMaskCollector, StatementTransformer

__all__ = ["Banked"]

_BANKS = range(2)


class Banked(FragmentTransformer):
    """Makes of a block one that has two banks of registers and memories, one in use at a time.

    To be called with the block, as EnableInserter is, and as there what is in domain ``sync`` is
    meant. ``bank`` says whose inputs the block has and whose outputs it shows. An edge changes
    nothing without its bit of ``edge``, and then that bank alone. A reset of the domain resets
    both. After an edge of a bank a clock passes before that bank is used again: what its memories
    read is put aside then.

    An FPGA without room for two copies of the logic may have it for this: a flip-flop more a
    register's bit, a LUT that chooses, and a block of RAM that was half empty is so no more.

    Parameters
    ----------
    bank : Value
        The bank in use: 0 or 1.
    edge : Value
        Two bits, a bank each: the next edge is that bank's, which ``bank`` then says.

    Raises
    ------
    TypeError
        Some of the block is no RTL of one clock domain: an instance, another domain, a check.
    """

    def __init__(self, *, bank: Value, edge: Value) -> None:
        self._bank = bank
        self._edge = edge

    def on_fragment(self, fragment: Fragment) -> Fragment:
        if isinstance(fragment, MemoryInstance):
            return self._memory(fragment)
        domains = {*fragment.statements, *fragment.domains} - {"comb", "sync"}
        if isinstance(fragment, Instance) or domains:
            what = f"domain {min(domains)!r}" if domains else f"an instance of {fragment.type}"
            raise TypeError(f"there are no two banks of {what}")
        new = super().on_fragment(fragment)
        if "sync" in new.statements:
            self._registers(new, new.statements.pop("sync"))
        return new

    def _registers(self, fragment: Fragment, statements: Iterable[Statement]) -> None:
        masks = LHSMaskCollector()
        masks.visit_stmt(statements)
        banks: list[dict[int, Signal]] = [{}, {}]
        for signal, _ in masks.masks():
            for bank in _BANKS:
                banks[bank][id(signal)] = Signal(
                    signal.shape(), name=f"{signal.name}_{bank}", init=signal.init,
                    reset_less=signal.reset_less)
        for signal, start, stop in masks.chunks():
            first, second = (banks[bank][id(signal)][start:stop] for bank in _BANKS)
            fragment.add_statements("comb",
                                    signal[start:stop].eq(Mux(self._bank, second, first)))
        for bank in _BANKS:
            renamed = _AssignTo(banks[bank]).on_statements(statements)
            fragment.add_statements("sync", _when(self._edge[bank], renamed))

    def _memory(self, fragment: MemoryInstance) -> Fragment:
        data = fragment._data
        new = Fragment(src_loc=fragment.src_loc)
        doubled = MemoryInstance(
            data=MemoryData(shape=Shape.cast(data.shape).width, depth=2 * data.depth,
                            init=[row for row in data.init._raw for _ in _BANKS]),
            attrs=fragment._attrs, src_loc=fragment.src_loc)
        new.add_subfragment(doubled, "banks")
        for write in fragment._write_ports:
            _check_domain(write._domain)
            doubled.write_port(domain="sync", addr=Cat(self._bank, write._addr), data=write._data,
                               en=write._en & self._edge.any().replicate(len(write._en)))
        ended = Signal(2)
        new.add_statements("sync", ended.eq(self._edge))
        for number, read in enumerate(fragment._read_ports):
            if read._domain == "comb":
                doubled.read_port(domain="comb", addr=Cat(self._bank, read._addr),
                                  data=read._data, en=read._en, transparent_for=())
                continue
            _check_domain(read._domain)
            width = len(read._data)
            came = Signal(width, name=f"came_{number}")
            asked = Signal(name=f"asked_{number}")
            kept = [Signal(width, name=f"kept_{number}_{bank}") for bank in _BANKS]
            doubled.read_port(domain="sync", addr=Cat(self._bank, read._addr), data=came,
                              en=read._en, transparent_for=read._transparent_for)
            new.add_statements("sync", asked.eq(read._en))
            for bank in _BANKS:
                new.add_statements("sync", _when(asked & ended[bank], [kept[bank].eq(came)]))
            new.add_statements("comb", read._data.eq(Mux(self._bank, kept[1], kept[0])))
        return new


class _AssignTo(StatementTransformer):
    """Statements that assign to other signals: those of ``signals``, by the id of what they stand
    for. What is read stays as it is."""

    def __init__(self, signals: Mapping[int, Signal]) -> None:
        self._signals = signals

    def on_Assign(self, stmt: Any) -> Statement:
        return self._target(stmt.lhs).eq(stmt.rhs)

    def on_Print(self, stmt: Any) -> Statement:
        raise TypeError("there are no two banks of a Print")

    def on_Property(self, stmt: Any) -> Statement:
        raise TypeError("there are no two banks of a check")

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
