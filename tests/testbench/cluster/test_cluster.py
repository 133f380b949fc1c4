"""Studies on a Dask cluster of processes on this machine, whose workers are killed."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from nicbed import UserError, load, optimise, sweep
from nicbed.testbench.cluster import connection, executor
from nicbed.testbench.cluster.executor import Cluster
from nicbed.testbench.simulators import simulator
from nicbed.testbench.store import Store
from nicbed.testbench.sweeps import Local, Outcome, Plan, Task, measured, planned, prepare
from nicbed.testbench.sweeps.executor import Ended, Keeping
from nicbed.testbench.testbed.measurement import Measurement

from tests.models.round_trips import round_trips
from tests.testbench.test_cli import nicbed

distributed = pytest.importorskip("distributed")

METRICS = {"rtt": "rtt:RTT, 1 word"}


def plan(*latencies: int) -> Plan:
    return planned({"link.latency": list(latencies)}, ["rtt"], metrics=METRICS)


class Counting(Store):
    """A store that knows what was put into it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.kept: list[str] = []

    def put(self, key: str, document: Mapping[str, Any]) -> None:
        self.kept.append(key)
        super().put(key, document)


class Meanwhile:
    """An executor that does something after each outcome of another one."""

    def __init__(self, other: Any, act: Callable[[int], None]) -> None:
        self._other, self._act = other, act

    def outcomes(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        for count, outcome in enumerate(self._other.outcomes(tasks), 1):
            yield outcome
            self._act(count)


@contextmanager
def cluster(workers: int = 2, **variables: str) -> Iterator[Any]:
    """A scheduler in this process, and workers in others with ``variables`` of the environment."""
    with distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None,
            host="127.0.0.1", memory_limit=None, env=variables, silence_logs=60) as made:
        yield made


def pids(of: Any) -> list[int]:
    return [nanny.pid for nanny in of.workers.values() if nanny.pid]


def test_killed_workers_lose_nothing(tmp_path: Path) -> None:
    """Both workers are killed in the middle; then the scheduler ends in the middle, too, and a
    local study has the rest to measure."""
    store, cache = Counting(tmp_path / "store"), tmp_path / "cache"
    told: list[str] = []
    simulator.build(load("default"))
    with cluster(NICBED_CACHE=str(cache)) as there:
        address = there.scheduler_address
        before = pids(there)

        def kill(count: int) -> None:
            if count == 1:
                for pid in before:
                    os.kill(pid, signal.SIGKILL)

        table = measured(prepare(plan(4, 8, 16, 32)),
                         Meanwhile(Cluster(address, store=store, warn=told.append), kill))
        assert [row["error"] for row in table.rows] == [None] * 4
        assert not set(before) & set(pids(there))
        assert all("the cluster has no worker; waiting for one" in line for line in told)
        assert len(store.kept) == len(set(store.kept)) == 4
        assert len(list(cache.glob("verilator/*/simulator"))) == 1  # shipped: nothing was compiled
        assert not (cache / "model").exists()

        def end(count: int) -> None:
            if count == 5:  # four are from the store
                there.close()

        with pytest.raises(Ended, match="the cluster has gone; what was measured is in the store"):
            measured(prepare(plan(4, 8, 16, 32, 40, 48, 56, 64)),
                     Meanwhile(Cluster(address, store=store, warn=told.append), end))
    done = list(store.kept)
    assert 5 <= len(done) < 8
    whole = measured(prepare(plan(4, 8, 16, 32, 40, 48, 56, 64)), Local(1, store=store))
    assert store.kept[:len(done)] == done and len(store.kept) == len(set(store.kept)) == 8
    again = measured(prepare(plan(4, 32, 64)), Local(1))  # without the store: the same
    assert again.rows == tuple(row for row in whole.rows if row["link.latency"] in (4, 32, 64))


@pytest.fixture(scope="module")
def one() -> Iterator[Any]:
    """A cluster with one worker."""
    with cluster(1) as made:
        yield made


def test_a_worker_with_other_sources_is_refused(one: Any, monkeypatch: pytest.MonkeyPatch,
                                                tmp_path: Path) -> None:
    def other(*_: Any) -> dict[str, str]:
        return {"sources": "0123456789abcdef", "verilator": "5.48.0"}

    monkeypatch.setattr(executor, "identity", other)
    store = Counting(tmp_path / "store")
    with pytest.raises(Ended) as caught:
        measured(prepare(plan(4, 8)), Cluster(one.scheduler_address, store=store))
    [address] = one.scheduler_info["workers"]
    assert str(caught.value).startswith(f"the worker {address} measures with other sources of "
                                        "nicbed (")
    assert "here 0123456789" in str(caught.value) and store.kept == []


def test_a_program_with_files_of_its_own_is_refused() -> None:
    link = executor.Link(None, "tcp://far:1", Keeping())
    wanted = Measurement("own", "am", "verilator", load("default"), {}, "own:run", {}, "own",
                         pure=False)
    with pytest.raises(UserError, match="^own has files of its own, which are not where the workers"
                                        " of tcp://far:1 are"):
        link.document(wanted)


def test_a_point_that_fails_there_is_a_row(one: Any) -> None:
    """Also: a client in place of an address."""
    with distributed.Client(one.scheduler_address, set_as_default=False) as client:
        table = sweep({"link.latency": [4]}, ["rtt"], metrics=METRICS, limit=50, dask=client)
        assert "at cycle 50" in table.rows[0]["error"]
        assert client.status == "running"


@pytest.fixture
def dumb() -> Iterator[str]:
    """The address of a server that answers nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_where_is_no_cluster_is_one_line(dumb: str, monkeypatch: pytest.MonkeyPatch,
                                         tmp_path: Path) -> None:
    monkeypatch.setattr(connection, "SECONDS", 1)
    for name, text in (("text", "tcp://x:1"), ("list.json", "[]"), ("number", '{"address": 5}'),
                       ("place", '{"address": "x"}')):
        (tmp_path / name).write_text(text)
    for address, said in ((dumb, "does not answer as a scheduler"),
                          ("tcp://127.0.0.1:1", "there is no cluster: Timed out"),
                          ("nonsense", "there is no cluster: missing port"),
                          ("bar://x:1", "there is no cluster: unknown address scheme 'bar'"),
                          ("ucx://x:1", "there is no cluster: "),
                          ("tls://127.0.0.1:1", "tls needs certificates"),
                          (str(tmp_path), "there is no cluster: missing port"),
                          ("no/where.json", "no/where.json: no such file"),
                          (str(tmp_path / "text"), "is no file of a scheduler: Expecting value"),
                          (str(tmp_path / "list.json"), "a scheduler: it has no address"),
                          (str(tmp_path / "number"), "a scheduler: it has no address"),
                          (str(tmp_path / "place"), "there is no cluster: missing port")):
        with pytest.raises(Ended, match=said) as caught:
            measured(prepare(plan(4)), Cluster(address))
        assert str(caught.value).startswith(f"--dask {address}: ")
        assert "\n" not in str(caught.value)


def test_what_is_in_the_store_needs_no_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                               ) -> None:
    """There is one connection, when something has to be measured, for all rounds of a search."""
    class Here:
        """In place of a link."""

        def __init__(self, *_: Any) -> None:
            pass

        def document(self, wanted: Any) -> dict[str, Any]:
            latency = wanted.description.link.latency
            return wanted.document(round_trips(latency))

        def take_back(self) -> None:
            pass

    seen: list[str] = []

    @contextmanager
    def connected(address: Any) -> Iterator[Any]:
        seen.append("opened")
        yield address
        seen.append("closed")

    store = Store(tmp_path / "store")
    monkeypatch.setattr(executor, "connected", connected)
    monkeypatch.setattr(executor, "Link", Here)
    whole = measured(prepare(plan(4, 8)), Cluster("x", store=store))
    assert seen == ["opened", "closed"]
    again = measured(prepare(plan(4, 8)), Cluster("x", store=store))
    assert again.rows == whole.rows and len(seen) == 2
    pytest.importorskip("optuna")
    trials = optimise({"link.latency": list(range(4, 16))}, ["rtt:RTT, 1 word"],
                      executor=Cluster("x", store=store))
    assert len(trials.rows) == 12 and seen == ["opened", "closed"] * 2


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense"])
def test_the_command_says_that_there_is_no_cluster(address: str, tmp_path: Path) -> None:
    """Whatever a client of Dask would say at the process's end."""
    run = nicbed("sweep", "--vary", "link.latency=4", "--dask", address, "--out", str(tmp_path))
    assert run.returncode == 1 and run.stdout == ""
    assert run.stderr.startswith(f"nicbed: --dask {address}: there is no cluster: ")
    assert len(run.stderr.splitlines()) == 1 and list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_the_command_waits_for_workers(tmp_path: Path) -> None:
    """The first worker comes when the sweep waits for one; it builds its own simulator, as its
    compiler's command is another one."""
    compiler = f"{sys.executable} -P -m ziglang c++"
    file, cache = tmp_path / "scheduler", tmp_path / "cache"
    with distributed.LocalCluster(n_workers=0, processes=True, dashboard_address=None,
                                  host="127.0.0.1", memory_limit=None, silence_logs=60,
                                  env={"NICBED_CACHE": str(cache), "NICBED_CXX": compiler}
                                  ) as made:
        file.write_text(json.dumps(made.scheduler.identity()))
        command = [sys.executable, "-m", "nicbed.testbench.cli", "sweep", "--vary",
                   "link.latency=4,8", "--bench", "rtt", "--dask", str(file), "--out",
                   str(tmp_path), "-q"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as run:
            line = run.stderr.readline()
            made.scale(1)
            out, errors = run.communicate(timeout=300)
    assert line == f"nicbed: --dask {file}: the cluster has no worker; waiting for one\n"
    assert (run.returncode, errors) == (0, "") and Path(out.strip()).exists()
    assert (cache / "model").exists()  # compiled there
