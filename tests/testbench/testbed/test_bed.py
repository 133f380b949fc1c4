"""A testbed: what it measures, what it refuses, and that its simulator stays."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nicbed
import pytest
from nicbed import RunError, Testbed, UserError
from nicbed.testbench.backends import kept
from nicbed.testbench.descriptions.load import for_layer
from nicbed.testbench.lab import Run
from nicbed.testbench.simulators.simulator import same_simulator
from nicbed.testbench.testbed.options import Options
from nicbed.testbench.timeline.reading import read

from tests.programs import short_logp

pytestmark = pytest.mark.skipif(not kept.possible(), reason="simulators are kept on Linux alone")

LIMIT = 1_000_000


@pytest.fixture(scope="module")
def bed() -> Iterator[Testbed]:
    with Testbed("default", link={"latency": 9}, limit=LIMIT) as one:
        yield one


async def processes(node: Any) -> tuple[int, int]:
    await node.port.delay(300)
    return os.getppid(), node.description.bus.dma_setup


def test_the_simulator_stays_whatever_timing_and_cost_do(bed: Testbed) -> None:
    first = bed.run(processes)
    bed.set("bus.dma_setup", 12)
    bed.set("cpu.call", 40)
    second = bed.run(processes)
    bed.set("bus.dma_setup", first.results[0][1])
    bed.set("cpu.call", 6)
    assert second.results == [(first.results[0][0], 12)] * 2
    assert len({simulator for simulator, _ in first.results}) == 1


def test_more_nodes_are_another_process_and_no_build(bed: Testbed) -> None:
    of_two = bed.run(processes).results[0][0]
    of_three = bed.run(processes, knobs={"fabric.nodes": 3}).results
    assert len(of_three) == 3 and of_three[0][0] != of_two
    assert bed.run(processes).results[0][0] == of_two


def test_a_bench_is_the_command_lines(bed: Testbed) -> None:
    result = bed.bench("rtt")
    assert result.document == nicbed.bench("rtt", overrides=["link.latency=9"])
    assert result.results["words"]["1"]["rtt"] == result.metric("results.words.1.rtt").value
    assert result.metric("RTT, 1 word").unit == "cycles"
    far = bed.bench("rtt", knobs={"link.latency": 109})
    more = far.metric("RTT, 1 word").value - result.metric("RTT, 1 word").value
    assert more == pytest.approx(400, abs=1)  # twice two links of 100 cycles; polls have a period
    assert bed.description.link.latency == 9
    assert "rtt" in repr(result) and "<pre" in result._repr_html_()
    assert result.plot().png[1:4] == b"PNG" if result.draw else True


def test_knobs_by_name_and_by_section() -> None:
    made = Testbed("default", link={"latency": 9}, knobs={"nic.mtu": 512, "cpu.call": 7})
    assert (made.description.nic.mtu, made.description.link.latency) == (512, 9)
    assert made.description.cpu.call == 7
    for wrong, said in (({"nic.mut": 1}, "no knob is called nic.mut; did you mean nic.mtu"),
                        ({"nic.mtu": 7}, "nic.mtu = 7"), ({"mtu": 512}, "mtu")):
        with pytest.raises(UserError, match=said):
            Testbed("default", knobs=wrong)
    for given in (["nic.mtu=1024"], {5: 1}, 3):
        with pytest.raises(UserError, match="must be values by name, such as") as caught:
            Testbed("default", knobs=given)  # type: ignore[arg-type]
        assert str(caught.value).startswith(f"knobs = {given}: ")
        with pytest.raises(UserError, match="must be values by name, such as"):
            made.benchmark("rtt", knobs=given)  # type: ignore[arg-type]
    with pytest.raises(UserError) as caught:
        Testbed("default", link={"latency": 24}, knobs={"link.latency": 25})
    assert str(caught.value) == ('link.latency is given twice: by link={"latency": 24} and by '
                                 'knobs={"link.latency": 25}')
    with pytest.raises(UserError, match=r'nic = .*: is the description; .* knobs=\{"nic.mtu": 1'):
        Testbed(nic={"mtu": 512})  # type: ignore[arg-type]


def test_a_benchs_nodes_are_the_benchs_unless_given(bed: Testbed) -> None:
    assert bed.benchmark("pairs").description.fabric.nodes == 4
    assert bed.benchmark("rtt").description.fabric.nodes == 2
    given = bed.benchmark("many-to-one", knobs={"fabric.nodes": 3})
    assert given.description.fabric.nodes == 3
    with pytest.raises(UserError, match="exchange needs 3 nodes: fabric.nodes = 2"):
        Testbed(nodes=2).benchmark("exchange")


def test_a_run_has_its_events_marks_and_counters(bed: Testbed) -> None:
    pytest.importorskip("pandas")

    async def program(node: Any) -> int:
        am = nicbed.Gam(node, [lambda am, source, word: None])
        await am.enable()
        if node.number == 0:
            await am.request(1, 0, 7)
        await am.disable()
        return node.number * factor

    factor = 3
    run = bed.run(program)
    assert run.results == [0, 3] and isinstance(run.run, Run)
    assert run.microseconds == pytest.approx(run.cycles / 66)
    assert len(run.events) == len(run.run.events) > 0
    assert list(run.events.columns) == ["cycle", "node", "block", "kind", "number", "arg"]
    sent = run.marks[(run.marks.activity == "REQUEST_SEND") & (run.marks.node == 0)]
    assert list(sent.kind) == ["BEGIN", "END"]
    assert run.counters[(run.counters.node == 1)]["count"].sum() == sum(
        run.run.counters[1].values())
    assert bed.run(program, trace=False).cycles == run.cycles
    assert bed.run(program, trace=False).run.events == []
    one = bed.run([program, program])
    assert one.cycles == run.cycles


def test_time_lines_of_a_run_and_of_a_bench(bed: Testbed, tmp_path: Path) -> None:
    bed.run(processes).timeline(tmp_path / "run.pftrace")
    assert {one.name for one in read(tmp_path / "run.pftrace")} >= {"run 1"}
    plain = bed.bench("rtt")
    drawn = bed.bench("rtt", timeline=tmp_path / "rtt.pftrace")
    assert drawn.document == plain.document
    assert len(read(tmp_path / "rtt.pftrace")) > 100
    bed.run(processes).timeline(tmp_path / "new" / "run.pftrace")
    with pytest.raises(UserError, match="cannot be written: Not a directory"):
        bed.run(processes).timeline(tmp_path / "run.pftrace" / "new" / "run.pftrace")


def test_an_experiment_and_an_app(bed: Testbed) -> None:
    found = bed.experiment(short_logp.__file__)
    assert found.results["rtt"]["trips"] and found.frame is not None
    app = bed.app("mm", blocks=2, block=4, knobs={"fabric.nodes": 2})
    assert app.metric("time").value == app.results["cycles"]
    assert all(check["ok"] for check in app.checks)


@pytest.mark.parametrize(("call", "said"), [
    (lambda bed: bed.set("bus.dma_setp", 1), "no knob is called bus.dma_setp; did you mean"),
    (lambda bed: bed.set("link.latency", -1), "set: link.latency = -1: must be a whole number"),
    (lambda bed: bed.bench("lgop"), "no benchmark is called lgop; did you mean logp"),
    (lambda bed: bed.bench("rtt", layer="via"), "rtt does not exist for layer via"),
    (lambda bed: bed.bench("rtt", full=True), "--full: rtt leaves nothing out"),
    (lambda bed: bed.app("mn"), "no program is called mn"),
    (lambda bed: bed.experiment("nowhere.py"), "nowhere.py: no such file"),
    (lambda bed: bed.run([processes]), "1 programs for 2 nodes"),
    (lambda bed: bed.run(processes, layer="vai"), "no layer is called vai"),
    (lambda bed: bed.run(processes, layer="gm"), "nic.processor = none: layer gm is firmware"),
    (lambda bed: Testbed(lnk={"latency": 1}), "lnk.latency: no knob is called"),
    (lambda bed: Testbed(fresh=True), r"fresh: is given as options=Options\(fresh=…\)"),
    (lambda bed: Testbed(link=4), "link = 4: must be knobs and values"),
    (lambda bed: Testbed("nowhere"), "nowhere: no such NIC description"),
    (lambda bed: Testbed(sim="vcs"), "no simulator is called vcs"),
])
def test_mistakes_are_one_line(bed: Testbed, call: Any, said: str) -> None:
    before = bed.description
    with pytest.raises(UserError, match=said) as caught:
        call(bed)
    assert "\n" not in str(caught.value)
    assert bed.description is before


def test_a_programs_exception_is_one_line_with_its_place(bed: Testbed) -> None:
    async def program(node: Any) -> None:
        await node.port.delay(5)
        raise ValueError(f"nothing at {node.number}")

    line = program.__code__.co_firstlineno + 2
    with pytest.raises(RunError, match=f"^test_bed.py:{line}: ValueError: nothing at 0") as caught:
        bed.run(program)
    assert "Traceback" in caught.value.details
    assert bed.run(processes).results


def test_a_program_that_cannot_be_carried_is_one_line(bed: Testbed) -> None:
    lock = threading.Lock()

    async def program(node: Any) -> None:
        lock.acquire()

    with pytest.raises(UserError, match="the program refers to what the simulator's process"):
        bed.run(program)


def test_the_limit_is_told(bed: Testbed) -> None:
    async def program(node: Any) -> None:
        while True:
            await node.port.delay(50)

    with pytest.raises(RunError, match="at cycle 5000, the limit") as caught:
        bed.run(program, limit=5000)
    assert caught.value.kind == "Stuck"


def running(process: int) -> bool:
    """Whether there is such a process that has not ended."""
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C as Python has it; a shell's background jobs begin with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_leaves_a_usable_bed(bed: Testbed, tmp_path: Path) -> None:
    """As Ctrl-C in a notebook: the run ends at once, with its process, and the next call goes."""
    begun = tmp_path / "begun"

    async def program(node: Any) -> None:
        begun.write_text(str(os.getpid()))
        time.sleep(60)

    def interrupt() -> None:
        while not begun.exists() or not begun.read_text():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    before = bed.run(processes).results
    waiting = threading.Thread(target=interrupt, daemon=True)
    waiting.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        bed.run(program)
    assert time.monotonic() - begin < 30
    waiting.join()
    while running(int(begun.read_text())):
        assert time.monotonic() - begin < 30
    after = bed.run(processes).results
    assert after[0][0] != before[0][0] and after[0][1:] == before[0][1:]


def test_a_simulator_that_is_no_longer_in_the_cache_is_built_again(bed: Testbed) -> None:
    bed.run(processes)
    key = same_simulator(for_layer(bed.description, "am"))
    found = bed._built[key]
    bed._built[key] = type(found)(found.sim, Path("/nowhere"), ["/nowhere/simulator"], None)
    assert bed.run(processes).results
    assert bed._built[key].place == found.place


def test_a_simulator_is_built_while_building_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    building, held = threading.Lock(), []

    class Built:
        command = ("nothing",)

        def __init__(self, *_: Any, **__: Any) -> None:
            held.append(building.locked())

    monkeypatch.setattr("nicbed.testbench.testbed.bed.built_simulator", Built)
    with Testbed(store=None, options=Options(building=building)) as bed:
        bed._simulator(bed.description, None)
    assert held == [True] and not building.locked()


def test_a_closed_bed_ends_its_processes_and_refuses() -> None:
    with Testbed(limit=LIMIT) as one:
        simulator = one.run(processes).results[0][0]
        assert Path(f"/proc/{simulator}").exists()
    assert not Path(f"/proc/{simulator}").exists()
    with pytest.raises(UserError, match="this testbed is closed"):
        one.run(processes)


def cpu_seconds() -> float:
    """CPU time of this process and of its children's, those that have ended among them."""
    parents, spent = {}, {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        number = int(place.parent.name)
        parents[number], spent[number] = int(fields[1]), sum(map(int, fields[11:15]))
    return sum(one for number, one in spent.items()
               if number == os.getpid() or parents.get(number) == os.getpid()
               ) / os.sysconf("SC_CLK_TCK")


@pytest.mark.full
def test_what_a_warm_call_takes(bed: Testbed, capsys: pytest.CaptureFixture[str]) -> None:
    """A call on a warm bed starts in 20 ms of CPU."""
    async def program(node: Any) -> None:
        await node.port.delay(1)

    bed.run(program)
    calls = 100
    begin = cpu_seconds()
    for _ in range(calls):
        bed.run(program)
    took = (cpu_seconds() - begin) / calls
    with capsys.disabled():
        print(f"\na call on a warm bed: {1000 * took:.1f} ms of CPU")
    assert took < 0.020
