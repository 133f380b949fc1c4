"""What is measured of an entry, and a testbed's check, on measurements that nobody made."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from nicbed.layouts.description import Description
from nicbed.testbench.benches.common.headline import Headline
from nicbed.testbench.errors import UserError
from nicbed.testbench.gate import bed as beds
from nicbed.testbench.gate import measuring
from nicbed.testbench.gate.bed import GatedTestbed
from nicbed.testbench.gate.file import Entry, Gate
from nicbed.testbench.gate.record import Kept, keep

from tests.testbench.gate.fakes import CONFIG, KEPT, MOVED, SPLIT

FILE = """\
[[gate]]
name = "near"
bench = ["logp", "rtt"]
set = {"link.latency" = 5}
nodes = 4

[gate.accepted.logp]
o_s = 20.5
g = "none"

[gate.accepted.rtt]
"RTT, 1 word" = 200

[[gate]]
name = "far"
bench = ["rtt"]
"""
FIGURES = {"o_s": 20.5, "g": None, "RTT, 1 word": 200, "new": 1}


class FakeBed:
    """Measures :data:`FIGURES`; keeps what it was asked for."""

    description = Description()

    def __init__(self, nic: str = "default", *, nodes=None, options=None) -> None:
        self.made = nic, nodes, options
        self.asked: list[str] = []
        self.closed = False

    def wanted(self, benches, layer=None):
        if "wrong" in benches:
            raise UserError("no benchmark is called wrong", status=2)
        return {bench: SimpleNamespace(name=bench, layer=layer or "am") for bench in benches}

    def measure(self, wanted):
        self.asked.append(wanted.name)
        figures = [Headline(name, value) for name, value in FIGURES.items()]
        return SimpleNamespace(figures=figures, document={"blocks": {"merge": {"lut": 3}}},
                               metric=lambda name: Headline(name, FIGURES[name]))

    def bench(self, name, *, layer, knobs):
        self.asked.append(f"{name} {layer} {knobs}")
        return SimpleNamespace(document={})

    def job(self, wanted, **_):
        self.asked.append(f"job {wanted.arguments}")
        return {}

    def close(self):
        self.closed = True


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeBed]:
    monkeypatch.setattr(measuring, "Testbed", FakeBed)
    monkeypatch.setattr(measuring, "figures", lambda _: {})
    monkeypatch.setattr(measuring, "Observation", lambda **_: SPLIT)
    return FakeBed


def gate(*entries: Entry) -> Gate:
    return SimpleNamespace(path=Path("some/gate.toml"), entries=entries)


def test_figures_are_those_that_were_accepted_or_all(fake):
    accepted = {"logp": {"g": "none", "o_s": 20.5}}
    found = measuring.measured(gate(Entry("near", "default", ("logp", "rtt"), accepted=accepted)))
    near = found["near"]
    assert near.values == {"logp": {"g": "none", "o_s": 20.5},
                           "rtt": {**FIGURES, "g": "none"}}
    assert near.kept == Kept(CONFIG, SPLIT)


def test_everything_is_checked_before_anything_is_measured(fake, monkeypatch):
    made = []
    monkeypatch.setattr(measuring, "Testbed", lambda *args, **options: made.append(
        fake(*args, **options)) or made[-1])
    with pytest.raises(UserError, match="^some/gate.toml: gate b: no benchmark is called wrong$"
                       ) as error:
        measuring.measured(gate(Entry("a", "default", ("rtt",)), Entry("b", "x", ("wrong",))))
    assert error.value.status == 2 and not any(bed.asked for bed in made)


def test_a_run_that_fails_is_told_with_its_gate_and_ends_the_bed(fake, monkeypatch):
    made = []

    def fail(self, wanted):
        made.append(self)
        raise UserError("the limit was reached", status=1)

    monkeypatch.setattr(fake, "measure", fail)
    with pytest.raises(UserError, match="^some/gate.toml: gate a: the limit was reached$") as error:
        measuring.measured(gate(Entry("a", "default", ("rtt",))))
    assert error.value.status == 1 and made[0].closed


@pytest.mark.parametrize("entry, split", [
    (Entry("a", "default", ("rtt",)), True), (Entry("a", "default", ("rtt",), layer="am"), True),
    (Entry("a", "default", ("rtt",), why=False), False),
    (Entry("a", "default", ("rtt",), layer="splitc"), False),
    (Entry("a", "default", ("area",)), False), (Entry("a", "default", ("area", "rtt")), True)])
def test_a_round_trip_is_split_where_there_is_one(fake, entry, split):
    bed = fake()
    kept = measuring.kept_of(bed, entry)
    assert kept.split == (SPLIT if split else None)
    assert bool([one for one in bed.asked if one.startswith(("job", "logp"))]) == split
    assert kept.area == ({"merge": {"lut": 3}} if "area" in entry.benches else None)
    if split:
        assert "logp am {'fabric.nodes': 2}" in bed.asked


@pytest.fixture
def gated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GatedTestbed:
    """On the gate above, which holds, measuring nothing."""
    path = tmp_path / "gate.toml"
    path.write_text(FILE)
    keep(path, {"near": KEPT})
    monkeypatch.setattr(GatedTestbed, "now", dict(FIGURES), raising=False)
    monkeypatch.setattr(beds, "figures_of", lambda bed, entry, bench, names: tuple(
        Headline(name, bed.now[name]) for name in names))
    monkeypatch.setattr(beds, "kept_of", lambda bed, entry: KEPT)
    return GatedTestbed(path, store=None)


def test_a_bed_is_on_its_entry(gated):
    assert gated.entry.name == "near" and gated.description.link.latency == 5
    assert gated.description.fabric.nodes == 4
    with GatedTestbed(gated.path, "far", store=None) as far:
        assert far.entry.name == "far" and far.description.link.latency != 5


def test_what_was_accepted_passes(gated):
    gated.check()
    gated.check("logp:o_s")
    gated.check(["logp:o_s", "logp:g", "rtt:RTT, 1 word"])


@pytest.mark.parametrize("more", [1e-6, -1e-6, 0.02, 1])
def test_any_move_fails(gated, more):
    gated.now["o_s"] += more
    for metrics in (None, "logp:o_s", ["rtt:RTT, 1 word", "logp:o_s"]):
        with pytest.raises(AssertionError, match="1 of . figures? is not as it was accepted"):
            gated.check(metrics)
    gated.check(["rtt:RTT, 1 word", "logp:g"])


def test_parts_that_moved_fail_a_whole_check_alone(gated, monkeypatch):
    """A check of single figures that hold measures no round trip."""
    monkeypatch.setattr(beds, "kept_of", lambda bed, entry: Kept(CONFIG, MOVED))
    with pytest.raises(AssertionError, match=r"out: receive DMA \+1"):
        gated.check()
    gated.check("logp:o_s")


def test_missing_figures_and_files_are_refused(gated, tmp_path):
    with pytest.raises(UserError, match="gate near accepts no logp:o_r; did you mean logp:o_s"):
        gated.check("logp:o_r")
    with pytest.raises(UserError, match="no such file"):
        GatedTestbed(tmp_path / "none.toml", "near")
    with GatedTestbed(tmp_path / "none.toml", store=None) as plain, \
            pytest.raises(UserError, match="none.toml: no such file: `nicbed gate init`"):
        plain.check()
