"""The design that a check simulates: two NICs of one kind, with the rules of their sockets."""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Cat, ClockDomain, DomainRenamer, Module, ResetSignal, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.description import Description
from ...layouts.timing import own_registers, timing_values
from ...rtl.node.nic_rules import NicRules, watched
from ...rtl.node.nic_side import NicSide

__all__ = ["NICS", "Fields", "Pair"]

NICS = 2
_KEPT = ("cycle", "node", "timing", "own")
"""Inputs that the pair drives itself."""


class Fields:
    """The place of each port of a NIC in the vector of its inputs or outputs, and the layouts of
    those that are structures."""

    def __init__(self, ports: list[tuple[str, int]], layouts: Mapping[str, Any] | None = None
                 ) -> None:
        self.layouts = dict(layouts or {})
        self.places: dict[str, tuple[int, int]] = {}
        at = 0
        for name, width in ports:
            self.places[name] = at, (1 << width) - 1
            at += width
        self.width = at


class Pair(wiring.Component):
    """Two NICs of ``description``, numbers 0 and 1, whose clocks can stand still one by one.

    Members
    -------
    i0, i1 : In
        Their inputs side by side, but those that do not change (:attr:`inputs`).
    o0, o1 : Out
        Their outputs (:attr:`outputs`), ``quiet`` and ``broken`` of their rules.
    own : In
        The design's own timing registers, if it has any (:meth:`own_values`).
    rest : In(2)
        The clock of each NIC.
    """

    def __init__(self, description: Description) -> None:
        self._description = description
        design = description.design
        self.side: NicSide = design.side(description, 1)
        self._nics: list[Any] = [design.build(description, self.side) for _ in range(NICS)]
        self._rules: list[Any] = [NicRules(side=self.side, memory=description.memory.bytes,
                                mtu=description.nic.mtu, sleeps=design.sleeps)
                       for _ in range(NICS)]
        self.rules = self._rules[0].names
        ports = [("__".join(map(str, path)), member) for path, member, value in
                 self._nics[0].signature.flatten(self._nics[0])]
        widths = {name: len(Value.cast(value)) for name, (_, value) in _leaves(self._nics[0])}
        self.inputs = Fields([(name, widths[name]) for name, member in ports
                              if member.flow == In and name.split("__")[0] not in _KEPT])
        self.outputs = Fields([*((name, widths[name]) for name, member in ports
                                 if member.flow == Out),
                               ("quiet", 1), ("broken", len(self.rules))],
                              {name: value.shape() for name, (_, value) in
                               _leaves(self._nics[0]) if isinstance(value, data.View)})
        super().__init__({
            **{f"i{number}": In(self.inputs.width) for number in range(NICS)},
            **{f"o{number}": Out(self.outputs.width) for number in range(NICS)},
            **({"own": In(self.side.own)} if self.side.own is not None else {}),
            "rest": In(NICS),
        })

    def own_values(self, changes: Mapping[str, int]) -> int:
        """The bits of ``own``: what the description says, but for ``changes`` by the knob's key."""
        assert self.side.own is not None
        found = 0
        for register in own_registers(self._description):
            value = changes.get(register.key, register.value(self._description))
            found |= value << self.side.own[register.key].offset
        return found

    def elaborate(self, platform: object) -> Module:
        m = Module()
        edges: Any = self
        cycle = Signal(64)
        m.d.sync += cycle.eq(cycle + 1)
        values = timing_values(self._description)
        own = own_registers(self._description)
        for number, (nic, rules) in enumerate(zip(self._nics, self._rules, strict=True)):
            domain = ClockDomain(f"rest{number}", async_reset=True, local=True)
            m.domains += domain
            clock: Any = domain.clk
            reset: Any = domain.rst
            m.d.comb += [clock.eq(edges.rest[number]), reset.eq(ResetSignal())]
            m.submodules[f"nic_{number}"] = DomainRenamer(f"rest{number}")(nic)
            m.submodules[f"rules_{number}"] = rules
            m.d.comb += [nic.cycle.eq(cycle), nic.node.eq(number),
                         *_set(nic.timing, values[:len(values) - len(own)])]
            if self.side.own is not None:
                m.d.comb += nic.own.eq(edges.own)
            leaves = dict(_leaves(nic))
            given = getattr(self, f"i{number}")
            for name, (at, mask) in self.inputs.places.items():
                m.d.comb += Value.cast(leaves[name][1]).eq(given[at:at + mask.bit_length()])
            for name, (_, value) in _leaves(rules.nic, watched(self.side)):
                m.d.comb += Value.cast(value).eq(Value.cast(leaves[name][1]))
            m.d.comb += getattr(self, f"o{number}").eq(Cat(
                *(Value.cast(leaves[name][1]) for name in self.outputs.places if name in leaves),
                rules.quiet, rules.broken))
        return m


def _leaves(interface: Any, signature: Any = None) -> list[tuple[str, tuple[Any, Any]]]:
    """The ports of ``interface`` by their flat names."""
    return [("__".join(map(str, path)), (member, value)) for path, member, value in
            (signature or interface.signature).flatten(interface)]


def _set(struct: Any, values: list[int]) -> list[Any]:
    """Statements that give the registers side by side in ``struct`` their ``values``."""
    fields = [struct[name] for name, _ in struct.shape()]
    return [field.eq(value) for field, value in zip(fields, values, strict=True)]
