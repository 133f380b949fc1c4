"""NICs that break a rule each: wire_nic with a small change, which ``nicbed check nic`` names.

All changes are in one NIC, whose own knob ``fault`` chooses one, so that there is one simulator.
"""

import shutil
from pathlib import Path

import pytest
from nicbed.testbench.check.bench import How
from nicbed.testbench.check.report import findings
from nicbed.testbench.check.scenarios import Scenario
from nicbed.testbench.check.simulator import Simulator, has_icarus
from nicbed.testbench.descriptions import load

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "wire_nic"

FAULTS = [
    ("dma holds",
     "request.payload.address.eq(address),\n            bus.request.payload.beats.eq(\n",
     "request.payload.address.eq(address ^ (FAULT & self.cycle[0]) << 3),\n"
     "            bus.request.payload.beats.eq(\n"),
    ("dma burst", "beats_of((left + 7) >> 3, self.timing.bus_max_burst >> 3)",
     "Mux(FAULT, (left + 7) >> 3, "
     "beats_of((left + 7) >> 3, self.timing.bus_max_burst >> 3))"),
    ("dma tags", "with m.If(bus.done):\n                            self._burst_done(",
     "with m.If(bus.done | FAULT):\n                            self._burst_done("),
    ("dma words", "with m.If(frames.o.valid & words.o.valid):\n",
     "m.d.comb += bus.write.valid.eq(FAULT & words.o.valid)\n"
     "                with m.If(frames.o.valid & words.o.valid):\n"),
    ("dma memory", "place * self._slot_bytes + 8)",
     "place * (self._slot_bytes + Mux(FAULT, 4096, 0)) + 8)"),
    ("link holds", "connect(m, crc.o, flipped(self.link.tx))\n",
     "connect(m, crc.o, flipped(self.link.tx))\n"
     "        m.d.comb += self.link.tx.p.data.eq(crc.o.p.data ^ (FAULT & self.cycle[0]))\n"),
    ("link framing", "out.i.payload.first.eq(1)", "out.i.payload.first.eq(~FAULT)"),
    ("link length", "left.eq(ask.header.length)",
     "left.eq(ask.header.length - Mux(FAULT & (ask.header.length > 16), 8, 0))"),
    ("pio answer", "pio.answer.valid.eq(pio.valid & ~pio.write)",
     "pio.answer.valid.eq((pio.valid & ~pio.write) | (FAULT & pio.answer.valid))"),
    ("register rw", "file.access.data.eq(pio.data)",
     "file.access.data.eq(Mux(FAULT, pio.data & ~(1 << 5), pio.data))"),
    ("delivery", "bus.write.payload.data.eq(word.data)",
     "bus.write.payload.data.eq(word.data ^ (FAULT & (left == 2)))"),
    ("events", "event.kind.eq(Kind.BEGIN)]\n                    m.d.sync += [address.eq(ask",
     "event.kind.eq(Mux(FAULT, 99, 0))]\n                    m.d.sync += [address.eq(ask"),
    ("idle", "(sends.level == 0) & (out", "((sends.level == 0) | FAULT) & (out"),
    ("sleep", "& (pause == 0)\n                & crc",
     "& ((pause == 0) | FAULT)\n                & crc"),
]
"""The rule, and the change that breaks it."""


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Simulator:
    place = tmp_path_factory.mktemp("faults") / "wire_nic"
    shutil.copytree(EXAMPLE, place, ignore=shutil.ignore_patterns("__pycache__"))
    text = (place / "nic.py").read_text()
    for number, (rule, old, new) in enumerate(FAULTS, 1):
        assert text.count(old) == 1, f"{rule}: {text.count(old)} times {old!r}"
        text = text.replace(old, new.replace("FAULT", f"(self.own.fault == {number})"))
    (place / "nic.py").write_text(text)
    design = (place / "design.py").read_text()
    knob = f'    fault: int = timing(0, ge=0, le={len(FAULTS)}, doc="what is broken")\n\n\nclass W'
    (place / "design.py").write_text(design.replace("\n\nclass W", knob, 1))
    description = load.load(str(place), ["nic.mtu=64", "bus.max_burst=32", "wire_nic.slots=4",
                                         "wire_nic.gap=30"], nodes=2)
    return Simulator(description)


def runs(fault: int) -> list[Scenario]:
    own = (("fault", fault),)
    return [Scenario("registers", "registers", How(stall=0.2, own=own)),
            Scenario("frames", "frames", How(own=own)),
            Scenario("frames, asleep", "frames", How(asleep=True, own=own)),
            Scenario("frames, stalls", "frames", How(stall=0.4, own=own))]


def test_each_fault_is_named(simulator: Simulator) -> None:
    each = [runs(fault) for fault in range(len(FAULTS) + 1)]
    outcomes = simulator.run("icarus" if has_icarus() else "verilator",
                             [one for found in each for one in found], lambda *_: None)
    named = {}
    for fault, scenarios in enumerate(each):
        ran = list(zip(scenarios, outcomes[4 * fault:4 * fault + 4], strict=True))
        found = findings(simulator.pair, simulator.description, ran, None, "left out")
        named[fault] = {one.rule: one.text for one in found if one.failed}
    assert named[0] == {}
    for fault, (rule, _, _) in enumerate(FAULTS, 1):
        assert rule in named[fault], (rule, named[fault])
    assert named[1]["dma holds"].startswith("NIC ")
    assert "dma[0].request at cycle " in named[1]["dma holds"]
