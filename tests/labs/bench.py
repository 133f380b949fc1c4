"""Block-level benches: one Amaranth component in a simulator, driven by cocotb.

A test file holds the pytest functions and, beside them, the cocotb tests that run inside the
simulator (named without ``test_`` so that pytest leaves them alone)::

    import cocotb
    import pytest
    from nicbed.rtl.parts.flit import Flit
    from tests.labs.bench import Sink, Source, reset_and_clock, run_bench, seed, within

    from mine import FlitFifo                            # the block under test

    @cocotb.test()
    async def passes_everything(dut):
        await reset_and_clock(dut)                       # all inputs 0, then reset, then released
        source = Source(dut, "i", shape=Flit, stall=0.3, seed=seed())
        sink = Sink(dut, "o", shape=Flit, stall=0.5, seed=seed() + 1)
        sent = [{"data": n, "size": 8, "first": 1, "last": 1, "trace": n} for n in range(100)]
        source.send(*sent)
        assert await within(2000, sink.receive(100)) == sent

    @pytest.mark.parametrize("depth", [2, 3, 16])
    def test_passes_everything(depth):
        run_bench(FlitFifo(depth=depth), __file__, testcase="passes_everything", depth=depth)

Ports of the component are ``dut.<flat name>``: member names joined by ``__`` (array elements by
their index: ``up__0__payload``). A ``Struct`` port is one vector; :class:`Source` and :class:`Sink`
take its ``shape`` and then speak dicts of fields (no shape: integers). Values are sampled after
``RisingEdge``, i.e. as they were before it. Keyword arguments of :func:`run_bench` beyond its own
reach the cocotb side as ``parameters()``. Every wait has a limit: :func:`within`.

Icarus runs the benches; those of a large block for many cycles Verilator, which is built more
slowly and runs faster, and all where there is no Icarus (``NICBED_BENCH_SIM`` chooses). Instances
of nicbed_memory and nicbed_trace find their Verilog.
"""

import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Awaitable
from functools import cache
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree

__all__ = ["run_bench", "parameters", "seed", "reset_and_clock", "within", "cycles", "Source",
           "Sink", "Monitor", "pack", "unpack", "PERIOD"]

PERIOD = 10
"""Nanoseconds of a clock cycle."""

ROOT = Path(__file__).resolve().parents[2]

TIME_LIMIT = 600
"""Seconds after which a simulator is stopped."""


def run_bench(component: Any, module: str, *, testcase: str | None = None, seed: int = 1,
              source: str = "", many_cycles: bool = False, unkind: bool = True,
              **parameters: Any) -> None:
    """Run the cocotb tests of file ``module`` (or the one called ``testcase``) on ``component``,
    from time 0, in a process of its own: a fork of a simulator that :mod:`.started` keeps.
    ``source`` is Verilog of modules that it instantiates; ``many_cycles`` is for Verilator; with
    ``unkind``, what a BlockRam reads where it is written comes inverted.

    Raises
    ------
    AssertionError
        With the name and the message of the first test that failed.
    """
    from nicbed.testbench.backends.environment import cocotb_environment
    from nicbed.testbench.simulators import verilog

    from tests.labs.netlists import netlist
    from tests.labs.started import run_case
    from tests.models.unkind_target import unkindly
    text = netlist(component, unkindly if unkind else None)
    fits = "verilator" if many_cycles or not shutil.which("iverilog") else "icarus"
    if os.environ.get("NICBED_BENCH_SIM", fits) == "icarus":
        command = _build_icarus(text, source)
    else:
        command = _build_verilator(text, source, ["clk", "rst", *verilog.ports(component)])
    file = Path(module).resolve()
    with tempfile.TemporaryDirectory(prefix="nicbed-bench-") as work:
        results = Path(work) / "results.xml"
        inputs = [name for name, (_, is_input) in verilog.ports(component).items() if is_input]
        passed = {"inputs": inputs, "parameters": parameters, "seed": seed}
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        environment = cocotb_environment(top="top", modules=name, results=str(results),
                                         seed=seed, extra={
                                             "NICBED_BENCH": json.dumps(passed),
                                             "COCOTB_REWRITE_ASSERTION_FILES": ""})
        environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), environment["PYTHONPATH"]])
        if testcase is not None:
            environment["COCOTB_TEST_FILTER"] = rf"\.{re.escape(testcase)}$"
        try:
            log = run_case(command, Path(work), environment, TIME_LIMIT)
        except TimeoutError as error:
            raise AssertionError(f"{file.name}: no end after {TIME_LIMIT} s") from error
        _check(file.name, results, log)


def _check(name: str, results: Path, log: str) -> None:
    if not results.is_file():
        raise AssertionError(f"{name}: the simulator ended without results\n{log[-4000:]}")
    cases = list(ElementTree.parse(results).getroot().iter("testcase"))
    ran = [case for case in cases if case.find("skipped") is None]
    if not ran:
        raise AssertionError(f"{name}: no cocotb test ran")
    for case in ran:
        for failure in (*case.findall("failure"), *case.findall("error")):
            message = failure.get("message") or failure.get("error_msg") or failure.text or ""
            raise AssertionError(f"{case.get('name')}: {message}\n{log[-6000:]}")


def _cache(text: str, *keys: str) -> Path:
    from nicbed.testbench.simulators import cache, verilator, verilog
    digest = hashlib.sha256(text.encode())
    for source in (verilog.__file__, verilator.__file__, *sorted(verilog.SOURCES.glob("*.v"))):
        digest.update(Path(source).read_bytes())
    from importlib.metadata import version
    for key in (sys.version, version("cocotb"), *keys):
        digest.update(key.encode())
    return cache.root() / "bench" / digest.hexdigest()[:24]


def _build_icarus(text: str, extra_source: str) -> list[str]:
    import cocotb_tools.config
    from nicbed.testbench.simulators.verilog import instances, module_files, to_verilog
    place = _cache(text, "icarus", extra_source)
    built = place.with_suffix(".vvp")
    if not built.is_file():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as work:
            source = Path(work) / "top.v"
            source.write_text(to_verilog(text, processes=False) + extra_source)
            traces = instances(text, ["nicbed_trace"])
            roots = ["-s", "nicbed_trace_file"] if traces else []
            files = map(str, module_files(text, Path(work)))
            done = subprocess.run(["iverilog", "-g2012", "-o", f"{work}/top.vvp", "-s", "top",
                                   *roots, str(source), *files], capture_output=True, text=True)
            if done.returncode:
                raise AssertionError(f"Icarus refuses the block: {done.stderr[-2000:]}")
            os.replace(f"{work}/top.vvp", built)
    return ["vvp", "-m", cocotb_tools.config.lib_entry("vpi", "icarus"), str(built), "-none"]


def _build_verilator(text: str, extra_source: str, ports: list[str]) -> list[str]:
    from nicbed.testbench.simulators import cache
    from nicbed.testbench.simulators.verilator import build_block
    place = _cache(text, "verilator", extra_source)
    cache.entry(place.parent.name, [place.name],
                lambda work: build_block(text, work, ports, extra=extra_source), place=place)
    return [str(place / "simulator")]


# What follows runs inside the simulator.


def _passed() -> dict[str, Any]:
    return json.loads(os.environ["NICBED_BENCH"])


def parameters() -> dict[str, Any]:
    """The keyword arguments that were given to :func:`run_bench` beyond its own."""
    return _passed()["parameters"]


def seed() -> int:
    """The seed given to :func:`run_bench`."""
    return _passed()["seed"]


async def reset_and_clock(dut: Any, cycles: int = 2, **initial: int) -> None:
    """Drive every input 0 (or as in ``initial``), start ``dut.clk``, hold ``dut.rst`` for
    ``cycles``; returns just after the edge at which reset was released."""
    from cocotb.clock import Clock
    from cocotb.triggers import RisingEdge
    for name in _passed()["inputs"]:
        getattr(dut, name).value = initial.get(name, 0)
    dut.rst.value = 1
    dut.clk.value = 0
    Clock(dut.clk, PERIOD, unit="ns").start()
    edge = RisingEdge(dut.clk)
    for _ in range(cycles):
        await edge
    dut.rst.value = 0
    await edge


async def cycles(dut: Any, count: int) -> None:
    """Let ``count`` clock edges pass."""
    from cocotb.triggers import RisingEdge
    edge = RisingEdge(dut.clk)
    for _ in range(count):
        await edge


async def within(limit: int, awaitable: Awaitable[Any]) -> Any:
    """The result of ``awaitable``, or a failure once ``limit`` cycles have passed."""
    from cocotb.triggers import SimTimeoutError, with_timeout
    try:
        return await with_timeout(awaitable, limit * PERIOD, "ns")
    except SimTimeoutError:
        raise AssertionError(f"nothing after {limit} cycles") from None


@cache
def _fields(shape: Any) -> dict[str, tuple[int, int, Any]]:
    """Offset, mask and shape of each field of ``shape``."""
    from amaranth.hdl import Shape
    from amaranth.lib import data
    return {name: (field.offset, (1 << Shape.cast(field.shape).width) - 1, field.shape)
            for name, field in data.Layout.cast(shape)}


def pack(shape: Any, value: Any) -> int:
    """The integer that carries ``value`` (a dict of fields, or an integer) in ``shape``."""
    if shape is None or isinstance(value, int):
        return int(value)
    fields = _fields(shape)
    result = 0
    for name, item in value.items():
        offset, mask, inner = fields[name]
        result |= (pack(inner if isinstance(item, dict) else None, item) & mask) << offset
    return result


def unpack(shape: Any, value: int) -> Any:
    """The dict of fields that integer ``value`` carries in ``shape``."""
    if shape is None:
        return value
    return {name: value >> offset & mask for name, (offset, mask, _) in _fields(shape).items()}


class _Stream:
    """One stream port of the block, ``<name>__payload``, ``__valid`` and ``__ready``."""

    def __init__(self, dut: Any, name: str, *, shape: Any = None, stall: float = 0.0,
                 seed: int = 0) -> None:
        import cocotb
        from cocotb.triggers import RisingEdge
        self.name = name
        self.stall = stall
        """Probability that a cycle is a stall; may be changed while running."""
        self._shape = shape
        self._random = random.Random(seed)
        self._payload = getattr(dut, f"{name}__payload")
        self._valid = getattr(dut, f"{name}__valid")
        self._ready = getattr(dut, f"{name}__ready")
        self._edge = RisingEdge(dut.clk)
        self.cycle = 0
        """Clock edges since this object was made."""
        self._task = cocotb.start_soon(self._run())

    async def _run(self) -> None:
        raise NotImplementedError

    def _stalls(self) -> bool:
        return self.stall > 0 and self._random.random() < self.stall

    def stop(self) -> None:
        """End the task behind this object; the port keeps its values."""
        self._task.cancel()


class Source(_Stream):
    """Drives a stream into the block: what :meth:`send` queued, in order, with random pauses."""

    def __init__(self, dut: Any, name: str, **options: Any) -> None:
        self._queue: deque[int] = deque()
        self.sent = 0
        """Transfers done."""
        self.cycles: list[int] = []
        """The edge of each transfer."""
        super().__init__(dut, name, **options)

    def send(self, *values: Any) -> None:
        """Queue ``values`` (dicts of fields, or integers)."""
        self._queue.extend(pack(self._shape, value) for value in values)

    async def drain(self) -> None:
        """Wait until everything queued has been taken."""
        while self._queue:
            await self._edge

    async def _run(self) -> None:
        offering = shown = False
        self._valid.value = 0
        while True:
            await self._edge
            self.cycle += 1
            if offering and self._ready.value == 1:
                self._queue.popleft()
                self.sent += 1
                self.cycles.append(self.cycle)
                offering = False
            if not offering:
                offering = bool(self._queue) and not self._stalls()
                if offering is not shown:
                    self._valid.value = int(offering)
                    shown = offering
                if offering:
                    self._payload.value = self._queue[0]


class Sink(_Stream):
    """Takes a stream out of the block, with random pauses, and checks its rules as Monitor does."""

    def __init__(self, dut: Any, name: str, **options: Any) -> None:
        self._taken: list[Any] = []
        self.cycles: list[int] = []
        """The edge of each transfer."""
        self._rules = _Rules(name)
        super().__init__(dut, name, **options)

    @property
    def taken(self) -> list[Any]:
        """All transfers so far."""
        return self._taken

    async def receive(self, count: int = 1) -> list[Any]:
        """The next ``count`` transfers, removed from :attr:`taken`."""
        while len(self._taken) < count:
            await self._edge
            self._rules.raise_if_broken()
        values, self._taken[:count] = self._taken[:count], []
        return values

    async def _run(self) -> None:
        ready = not self._stalls()
        self._ready.value = int(ready)
        while True:
            await self._edge
            self.cycle += 1
            value = self._rules.sample(self._valid, self._payload, ready, self.cycle)
            if value is not None:
                self._taken.append(unpack(self._shape, value))
                self.cycles.append(self.cycle)
            now = not self._stalls()
            if now is not ready:
                self._ready.value = int(now)
                ready = now


class Monitor(_Stream):
    """Watches a stream that others drive: collects its transfers in :attr:`taken` (with their edges
    in :attr:`cycles`), and fails when ``valid`` drops or the payload changes before a transfer."""

    def __init__(self, dut: Any, name: str, **options: Any) -> None:
        self.taken: list[Any] = []
        self.cycles: list[int] = []
        self._rules = _Rules(name)
        super().__init__(dut, name, **options)

    def check(self) -> None:
        """Fail if a rule was broken so far."""
        self._rules.raise_if_broken()

    async def _run(self) -> None:
        while True:
            await self._edge
            self.cycle += 1
            value = self._rules.sample(self._valid, self._payload, self._ready.value == 1,
                                       self.cycle)
            if value is not None:
                self.taken.append(unpack(self._shape, value))
                self.cycles.append(self.cycle)


class _Rules:
    """A producer's duties: once valid, stay valid with the same payload until taken."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._waiting: int | None = None
        self._broken: str | None = None

    def sample(self, valid: Any, payload: Any, ready: bool, cycle: int) -> int | None:
        """Look at one edge; the payload if it transferred."""
        offered = valid.value
        if offered != 1:
            if offered != 0:
                self._break(f"{self._name}: valid is {offered} at edge {cycle}")
            if self._waiting is not None:
                self._break(f"{self._name}: valid dropped before a transfer, at edge {cycle}")
            return None
        try:
            value = int(payload.value)
        except ValueError:
            self._break(f"{self._name}: payload is {payload.value} while valid, at edge {cycle}")
        if self._waiting is not None and value != self._waiting:
            self._break(f"{self._name}: payload changed before a transfer, at edge {cycle}: "
                        f"{self._waiting:#x} to {value:#x}")
        self._waiting = None if ready else value
        return value if ready else None

    def _break(self, text: str) -> NoReturn:
        self._broken = self._broken or text
        raise AssertionError(text)

    def raise_if_broken(self) -> None:
        if self._broken:
            raise AssertionError(self._broken)
