"""The store: what it returns, what trouble costs, and that two processes measure nothing twice."""

import errno
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nicbed import Testbed, UserError
from nicbed.testbench.backends import kept as simulators
from nicbed.testbench.results import document as files
from nicbed.testbench.store import Store, Trouble, key, standard
from nicbed.testbench.store.store import age
from nicbed.testbench.store.upkeep import Kept, kept, parse_age, parse_size, prune, verify
from nicbed.testbench.testbed.listener import Listener
from nicbed.testbench.testbed.options import Options

from tests.models.round_trips import round_trips
from tests.testbench.test_cli import nicbed


class Heard(Listener):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told_: list[str] = []
        self.warned: list[str] = []

    def told(self, line: str) -> None:
        self.told_.append(line)

    def warn(self, line: str) -> None:
        self.warned.append(line)


def outcome(figure: float = 1) -> dict[str, Any]:
    """Of a benchmark; its keys are not in the order of letters."""
    words = round_trips(9, words2=figure)["results"]["words"]
    return {"results": {"rtt": 9, "words": {"2": words["2"], "1": words["1"]}},
            "truth": {}, "points": {}, "checks": []}


@pytest.fixture
def bed(tmp_path: Path) -> Iterator["Counted"]:
    with Counted(store=Store(tmp_path / "store"), options=Options(listener=Heard())) as one:
        yield one


class Counted(Testbed):
    """A bed whose jobs return an outcome at once."""

    figure = 1
    jobs = 0

    def job(self, *_: Any, **__: Any) -> Any:
        self.jobs += 1
        return outcome(self.figure)

    @property
    def heard(self) -> Heard:
        assert isinstance(self.listener, Heard)
        return self.listener


def test_what_was_measured_is_not_measured_again(bed: Counted) -> None:
    first, second = bed.bench("rtt"), bed.bench("rtt")
    assert bed.jobs == 1 and (first.stored, second.stored) == (False, True)
    assert second.text == first.text and second.document == first.document
    assert list(second.results["words"]) == ["2", "1"]  # in the order of the measuring, as fresh
    assert bed.heard.told_ == ["rtt: from the store"] and not bed.heard.warned


def test_a_key_is_all_that_can_change_a_result(bed: Counted, monkeypatch: pytest.MonkeyPatch
                                               ) -> None:
    plain = bed.benchmark("rtt")
    other = [bed.benchmark("rtt", knobs={"link.latency": 5}),
             bed.benchmark("rtt", knobs={"cpu.call": 7}), bed.benchmark("overhead"),
             bed.benchmark("bandwidth"), bed.benchmark("bandwidth", layer="via"),
             replace(plain, sim="icarus"), replace(plain, parameters={"trips": 3}),
             bed.program("mm"), bed.program("mm", blocks=2),
             bed.benchmark("rtt", knobs={"nic.processor": "picorv32"})]
    keys = [key(plain), *map(key, other), key(plain, 5)]
    assert len(set(keys)) == len(keys)
    assert key(bed.benchmark("rtt")) == keys[0]
    monkeypatch.setattr("nicbed.testbench.store.keys.sources", lambda: "another state of them")
    assert key(plain) != keys[0]


@pytest.mark.parametrize("name", ["layouts/trace.py", "rtl/target.py", "firmware/am/main.c",
                                  "host/am/gam.py", "testbench/truth/spans.py",
                                  "testbench/lab.py", "testbench/results/document.py"])
def test_the_sources_that_count(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                ) -> None:
    """Each changed byte of them is another hash."""
    from nicbed.testbench.store import keys

    for folder in keys.FOLDERS:
        (tmp_path / folder).mkdir(parents=True)
    for module in (*keys.MODULES, name):
        (tmp_path / module).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / module).write_text("before")
    monkeypatch.setattr(keys, "_PACKAGE", tmp_path)
    before = keys.sources.__wrapped__()
    assert keys.sources.__wrapped__() == before
    (tmp_path / name).write_text("after!")
    assert keys.sources.__wrapped__() != before


def test_fresh_measures_and_compares(bed: Counted) -> None:
    bed.bench("rtt")
    bed.options = replace(bed.options, fresh=True)
    assert not bed.bench("rtt").stored and bed.jobs == 2
    assert bed.heard.told_ == ["rtt: measured again, and the same as in the store"]
    bed.figure = 2
    with pytest.raises(UserError, match=r"rtt: is not what the store has: "
                                        r"results\.words\.2\.rtt was 1, is 2: something beside"):
        bed.bench("rtt")
    bed.options = replace(bed.options, fresh=False)
    assert bed.bench("rtt").results["words"]["2"]["rtt"] == 1  # what was there is there


def test_a_wave_or_a_time_line_is_measured_and_compared(bed: Counted, tmp_path: Path) -> None:
    bed.bench("rtt")
    bed.bench("rtt", wave=tmp_path / "w.fst")
    bed.bench("rtt", timeline=tmp_path / "t.pftrace")
    assert bed.jobs == 3 and bed.heard.told_ == []


def test_experiments_and_boards_are_measured_always(bed: Counted, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("async def program(node):\n    return 1\n")
    for _ in range(2):
        bed.experiment(file)
    assert bed.jobs == 2 and not bed.store.entries()
    assert not Testbed(sim="board", options=Options(port="/dev/x")).benchmark("rtt").pure
    assert bed.benchmark("rtt").pure


def entry(bed: Counted) -> Path:
    [one] = bed.store.entries()
    return one.path


@pytest.mark.parametrize("spoil", [
    lambda data: data[:-20], lambda data: b"", lambda data: data.replace(b"9", b"8"),
    lambda data: b"{}\n" + data.split(b"\n")[1], lambda data: b"\x80" + data])
def test_a_damaged_entry_is_told_and_measured_again(bed: Counted, spoil: Any) -> None:
    whole = bed.bench("rtt").text
    path = entry(bed)
    path.write_bytes(spoil(path.read_bytes()))
    assert verify(bed.store) == (0, [f"{path}: the entry is damaged"])
    assert bed.bench("rtt").text == whole and bed.jobs == 2
    assert bed.heard.warned == [f"{path}: the entry is damaged; measuring"]
    assert verify(bed.store) == (1, []) and bed.bench("rtt").stored


def test_an_entry_under_another_name_is_damaged(bed: Counted) -> None:
    bed.bench("rtt")
    path = entry(bed)
    os.rename(path, path.with_name("0" * 24 + ".json"))
    assert verify(bed.store)[0] == 0


def test_a_store_of_another_version_is_left_alone(bed: Counted) -> None:
    bed.bench("rtt")
    mark = bed.store.root / "store.json"
    for content, said in (('{"format": 2}', "2"), ("nonsense", "unknown")):
        mark.write_text(content)
        before = sorted(bed.store.root.rglob("*.json"))
        bed.heard.warned.clear()
        assert bed.bench("overhead", knobs={"link.latency": 5}).results
        assert len(bed.heard.warned) == 2
        assert all(f"has format {said}, this nicbed has 1: choose another folder with NICBED_STORE"
                   in line for line in bed.heard.warned)
        assert sorted(bed.store.root.rglob("*.json")) == before
        with pytest.raises(Trouble, match=f"has format {said}"):
            bed.store.entries()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_a_full_or_read_only_store_costs_the_keeping_alone(
        bed: Counted, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(files.os, "replace", refuse)
    assert bed.bench("rtt").results and bed.jobs == 1
    assert bed.heard.warned == [f"{bed.store.root}: the store cannot be written: "
                                f"{os.strerror(number)}; the result is not kept"]
    assert not list(bed.store.root.rglob("*.json")) and not list(bed.store.root.rglob(".*.json.*"))


def test_what_was_used_last_is_first(bed: Counted) -> None:
    """A look is a use: what is asked for stays when a store is pruned."""
    bed.bench("rtt")
    bed.bench("overhead")
    for place, one in enumerate(sorted(bed.store.entries(), key=lambda one: str(one.path))):
        os.utime(one.path, (1000 + place, 1000 + place))
    last, first = bed.store.entries()
    assert last.used == 1001 and first.used == 1000
    bed.bench(str(first.about["benchmark"]))
    assert bed.store.entries()[0].path == first.path
    assert bed.store.entries()[0].used > time.time() - 60


def test_what_is_kept_is_listed_by_what_it_is(bed: Counted, tmp_path: Path,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NICBED_CACHE", str(tmp_path / "cache"))
    bed.bench("rtt", knobs={"fabric.nodes": 4})
    path = entry(bed)
    [listed] = kept(bed.store)
    assert (listed.kind, listed.what, listed.path) == ("results", "rtt am verilator, 4 nodes", path)
    assert listed.bytes == path.stat().st_size and kept(bed.store, ["builds"]) == []
    path.write_bytes(b'{"format": 9, "key": "a", "sha256": "b"}')
    assert [one.what for one in kept(bed.store)] == ["damaged"]
    folder = tmp_path / "cache" / "verilator"
    folder.mkdir(parents=True)
    (folder / "notes").mkdir()
    (folder / ("0" * 24)).write_text("a file")
    assert kept(None) == []


def test_a_store_says_its_version(bed: Counted) -> None:
    bed.bench("rtt")
    mark = bed.store.root / "store.json"
    assert json.loads(mark.read_text()) == {"format": 1}
    before = mark.stat().st_mtime_ns
    os.utime(mark, (1, 1))
    bed.bench("overhead")
    assert mark.stat().st_mtime == 1 < before  # written once


def test_trouble_ends_a_command_with_1() -> None:
    assert Trouble("damaged").status == 1


@pytest.mark.parametrize(("past", "said"), [
    (0, "0 s"), (-5, "0 s"), (59, "59 s"), (60, "1 min"), (3599, "60 min"), (3600, "1 h"),
    (86399, "24 h"), (86400, "1 d"), (3 * 86400, "3 d")])
def test_an_age_is_told_in_its_unit(monkeypatch: pytest.MonkeyPatch, past: int, said: str) -> None:
    monkeypatch.setattr(time, "time", lambda: 1e9)
    assert age(1e9 - past) == said


def test_a_store_where_no_folder_can_be(bed: Counted, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    bed.store = Store(tmp_path / "file" / "store")
    assert bed.bench("rtt").results
    assert bed.heard.warned and all("file" in line for line in bed.heard.warned)


def test_no_lock_stays(bed: Counted) -> None:
    bed.bench("rtt")
    assert not list(bed.store.root.rglob("*.lock"))


CLAIMING = """
import sys, time
from pathlib import Path
from nicbed.testbench.store import Store
store, log = Store(Path(sys.argv[1])), Path(sys.argv[2])
with store.claim("ab" + "0" * 22):
    with log.open("a") as file: file.write("in\\n")
    time.sleep(float(sys.argv[3]))
    with log.open("a") as file: file.write("out\\n")
"""


def test_who_wants_what_is_being_measured_waits(tmp_path: Path) -> None:
    log = tmp_path / "log"
    several = [subprocess.Popen([sys.executable, "-c", CLAIMING, str(tmp_path / "s"), str(log),
                                 "0.2"]) for _ in range(4)]
    assert [one.wait(timeout=60) for one in several] == [0] * 4
    assert log.read_text().split() == ["in", "out"] * 4


def test_two_do_not_hold_a_key(tmp_path: Path) -> None:
    """The second has it when the first gives it back, and not before; another key is another's."""
    store, wanted = Store(tmp_path / "s"), "ab" + "0" * 22
    asks, has = threading.Event(), threading.Event()

    def second() -> None:
        asks.set()
        with store.claim(wanted):
            has.set()

    thread = threading.Thread(target=second)
    with store.claim(wanted):
        thread.start()
        assert asks.wait(60) and not has.wait(0.3)
        with store.claim("ab" + "1" * 22):
            assert not has.is_set()
    assert has.wait(60)
    thread.join()
    assert not list(store.root.rglob("*.lock"))


def test_who_is_killed_holds_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log"
    held = subprocess.Popen([sys.executable, "-c", CLAIMING, str(tmp_path / "s"), str(log), "60"])
    while not log.exists():
        time.sleep(0.01)
    held.kill()
    held.wait()
    begin = time.monotonic()
    with Store(tmp_path / "s").claim("ab" + "0" * 22):
        assert time.monotonic() - begin < 20


def test_the_users_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NICBED_STORE", "none")
    assert standard() is None and Testbed().store is None
    monkeypatch.setenv("NICBED_STORE", str(tmp_path))
    assert Testbed().store.root == tmp_path
    monkeypatch.delenv("NICBED_STORE")
    monkeypatch.setenv("NICBED_CACHE", str(tmp_path / "cache"))
    assert standard().root == tmp_path / "cache" / "results"


def one(name: str, old: float, size: int, folder: Path) -> Kept:
    (folder / name).write_bytes(b"x" * size)
    return Kept("results", name, folder / name, size, time.time() - old)


@pytest.mark.parametrize(("older", "larger", "left"), [
    (None, None, "abcd"), (50, None, "ab"), (5, None, ""), (None, 30, "ab"), (None, 0, ""),
    (None, 35, "ab"), (50, 10, "a"), (None, 1000, "abcd")])
def test_pruning_by_age_and_size(tmp_path: Path, older: float | None, larger: int | None,
                                 left: str) -> None:
    found = [one(name, old, size, tmp_path)
             for name, old, size in (("a", 10, 10), ("b", 20, 20), ("c", 100, 30), ("d", 200, 5))]
    gone = prune(found, older=older, larger=larger)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(left)
    assert {kept.what for kept in gone} == set("abcd") - set(left)


def test_builds_are_kept_things_and_prune_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                ) -> None:
    from nicbed.testbench.simulators import cache

    monkeypatch.setenv("NICBED_CACHE", str(tmp_path))
    cache.entry("verilator", ["old"], lambda place: (place / "big").write_bytes(b"x" * 100))
    old = cache.find("verilator", ["old"])
    os.utime(old, (1, 1))
    cache.entry("verilator", ["new"], lambda place: (place / "big").write_bytes(b"x" * 10))
    assert [(kept.kind, kept.bytes) for kept in kept(None)] == [("builds", 10), ("builds", 100)]
    assert kept(None, ["results"]) == []
    assert cache.find("verilator", ["old"]) == old  # used now
    assert [kept.bytes for kept in kept(None)] == [100, 10]
    os.utime(old, (1, 1))
    assert len(prune(kept(None), older=3600, larger=None)) == 1
    assert cache.find("verilator", ["old"]) is None and cache.find("verilator", ["new"])
    assert [path.name for path in (tmp_path / "verilator").iterdir() if "work" in path.name] == []


def test_ages_and_sizes() -> None:
    assert (parse_age("30d"), parse_age("12h"), parse_age("1.5min")) == (2592000, 43200, 90)
    assert (parse_size("500MB"), parse_size("2GB"), parse_size("10 B")) == (
        500 << 20, 2 << 30, 10)
    for wrong in ("30", "d", "-1d", "3 weeks", ""):
        with pytest.raises(UserError, match="must be a number and one of s, min, h, d"):
            parse_age(wrong)
    with pytest.raises(UserError, match="--size 5: must be a number and one of B, KB, MB, GB"):
        parse_size("5")


@pytest.mark.skipif(not simulators.possible(), reason="slow where simulators are not kept")
def test_the_command_line_says_where_a_result_is_from(tmp_path: Path) -> None:
    variables = {"NICBED_STORE": str(tmp_path / "store"), "COLUMNS": "100"}
    runs = [nicbed("bench", "rtt", "--out", str(tmp_path / name), *more, **variables)
            for name, *more in (["one"], ["two"], ["two", "--fresh"], ["two", "-q"])]
    assert [run.returncode for run in runs] == [0] * 4
    assert [run.stderr for run in runs] == [
        "", "nicbed: rtt: from the store\n",
        "nicbed: rtt: measured again, and the same as in the store\n", ""]
    assert [path.read_bytes() for path in sorted((tmp_path / "one").iterdir())] == [
        path.read_bytes() for path in sorted((tmp_path / "two").iterdir())]
    assert runs[0].stdout.replace("/one/", "/two/") == runs[1].stdout == runs[2].stdout
    listed = json.loads(nicbed("store", "list", "--only", "results", "--json", **variables).stdout)
    assert [one["what"] for one in listed] == ["rtt am verilator, 2 nodes"]
    assert "1 result" in nicbed("store", "list", "--only", "results", **variables).stdout
    assert "each as it was kept" in nicbed("store", "verify", **variables).stdout
    Path(listed[0]["path"]).write_text("nothing")
    wrong = nicbed("store", "verify", **variables)
    assert wrong.returncode == 1 and len(wrong.stderr.splitlines()) == 1
    assert "the entry is damaged; damaged: 1 of 1 result, which" in wrong.stderr
    pruned = nicbed("store", "prune", "--age", "0s", "--only", "results", **variables)
    assert pruned.stdout.startswith("removed 1 result and 0 builds")


@pytest.mark.parametrize(("arguments", "said"), [
    (["verify"], "NICBED_STORE = none: there is no store"),
    (["prune"], "prune needs --age, such as 30d, or --size"),
    (["prune", "--age", "4"], "--age 4: must be a number"),
    (["lits"], "no command is called lits; did you mean list"),
])
def test_mistakes_are_one_line(arguments: list[str], said: str) -> None:
    run = nicbed("store", *arguments)
    assert run.returncode == 2 and run.stdout == ""
    assert said in run.stderr and len(run.stderr.splitlines()) == 1
