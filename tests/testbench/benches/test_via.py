"""The VIA benchmarks over the functional model: complete documents, checks that hold."""

import asyncio
import json

import pytest
from nicbed.testbench import benches
from nicbed.testbench.benches.fields import plain
from nicbed.testbench.descriptions import load as descriptions
from nicbed.testbench.results import document as files
from nicbed.testbench.results import plots
from nicbed.testbench.results.tables import checks, console

from tests.labs.model import ModelLab

SMALL = {
    "latency": {"sizes": [4, 64, 4096], "trips": 4},
    "bandwidth": {"sizes": [4, 64, 1024, 4096], "bytes": 16384},
    "logp": {"sizes": [4, 1024, 4096], "bytes": 1 << 16, "delays": ["0", "1"], "interrupts": 8},
    "buffers": {"sizes": [4, 4096], "pages": [1, 4]},
    "connections": {"vis": [1, 4, 64]},
    "blocking": {"sizes": [4, 1024]},
    "gather": {"totals": [256], "segments": [1, 8, 64]},
    "cq": {"queues": [1, 8]},
    "incast": {"senders": [1, 3], "sizes": [16, 256], "bytes": 4096, "loss": [0.0]},
    "alltoall": {"nodes": [2, 3], "sizes": [16, 1024], "bytes": 32768},
    "nics": {"sizes": [16, 1024], "bytes": 8192},
    "vis": {"vis": [1, 4, 16], "sizes": [4, 1024], "bytes": 16384},
}
ALL = sorted(SMALL)
KNOBS = {"nics": ("node.nics=2",)}
"""What a benchmark needs for a curve."""


def outcome(name: str, *overrides: str, **changes):
    bench = benches.get(name)
    module = bench.module("via")
    description = descriptions.for_layer(descriptions.load(
        overrides=overrides, nodes=bench.nodes), "via")
    parameters = {**module.parameters(description), **SMALL[name], **changes}
    found = asyncio.run(benches.run(ModelLab(description), name, "via", parameters))
    return module, files.build(name, "via", "model", description, parameters, found)


def test_the_list_of_benchmarks_is_complete():
    assert ALL == sorted(name for name in benches.BENCHES.names()
                         if "via" in benches.get(name).layers)


@pytest.mark.parametrize("name", ALL)
def test_benchmark(name, capsys):
    module, document = outcome(name, *KNOBS.get(name, ()))
    text = files.text(document)
    assert {"results", "truth", "points", "checks"} <= set(document) and document["checks"]
    assert not [check for check in document["checks"] if not check["ok"]]
    read = json.loads(text)
    assert plain(module.bench.results(read)) == read["results"]
    out = console()
    for item in [*module.tables(read), *checks(document["checks"])]:
        out.print(item)
    assert len(capsys.readouterr().out.splitlines()) > 4
    figure = plots.render(module.draw, read)
    assert figure[".png"].startswith(b"\x89PNG") and b"</svg>" in figure[".svg"]
    assert all(one.value is None or one.value >= -1 for one in module.headline(read))
    assert len(module.series(read).points) > 1


def test_two_runs_give_the_same_bytes():
    assert files.text(outcome("cq")[1]) == files.text(outcome("cq")[1])


def test_cost_of_an_interrupt_and_of_spinning():
    found = outcome("blocking", "cpu.interrupt=2000")[1]["results"]["extra"]
    less = outcome("blocking", "cpu.interrupt=1000")[1]["results"]["extra"]
    # 1,000 CPU cycles at 200 MHz are 330 target cycles at 66 MHz.
    assert found["blocking"]["4"] - less["blocking"]["4"] == pytest.approx(330, abs=2)
    assert abs(found["spin, then block"]["4"]) < 3


def test_cost_of_a_completion_queue_does_not_depend_on_its_queues():
    extra = outcome("cq")[1]["results"]["extra"]["completion queue"]
    assert 0 < extra["1"] < 40 and abs(extra["8"] - extra["1"]) < 3


def test_a_slower_cpu_moves_the_overheads_and_not_the_flight():
    fast = outcome("latency")[1]["truth"]["latency"]["64"]["legs"]
    slow = outcome("latency", "cpu.clock_mhz=100")[1]["truth"]["latency"]["64"]["legs"]
    assert slow["o_r"] > 1.8 * fast["o_r"] and slow["o_s"] > 1.3 * fast["o_s"]
    assert slow["flight"] == pytest.approx(fast["flight"], abs=8)


def test_registering_costs_a_trap_and_the_pages():
    found = outcome("buffers")[1]["results"]["registering"]
    more = outcome("buffers", "via.register_page=500")[1]["results"]["registering"]
    assert found["1"]["register"] > 400 * 66 / 200
    for pages in (1, 4):
        extra = more[str(pages)]["register"] - found[str(pages)]["register"]
        assert extra == pytest.approx(pages * 250 * 66 / 200, abs=1)


def test_the_counting_loop_says_what_an_interrupt_costs():
    cheap = outcome("logp", "cpu.interrupt=1000", sizes=[4, 64])[1]["results"]["interrupts"]
    dear = outcome("logp", "cpu.interrupt=3000", sizes=[4, 64])[1]["results"]["interrupts"]
    assert dear["o_r"] - cheap["o_r"] == pytest.approx(660, abs=2 * dear["per_count"])


def test_without_an_engine_the_host_copies():
    # No timer in between: it shifts which of the two nodes waits for the other.
    found = outcome("logp", "via.design=kernel", "via.retry_timeout=1000000", sizes=[4, 1024],
                    delays=["0"], interrupts=0)[1]
    assert not [check for check in found["checks"] if not check["ok"]]
    sizes = found["results"]["by_size"]
    assert sizes["1024"]["o_s"] > sizes["4"]["o_s"] + 100
    engine = outcome("logp", sizes=[4, 1024], delays=["0"], interrupts=0)[1]["results"]["by_size"]
    assert engine["1024"]["o_s"] == pytest.approx(engine["4"]["o_s"], abs=0.01)
    assert engine["4"]["o_s"] < sizes["4"]["o_s"] / 4
    # What it does in interrupts is its work as well.
    assert sizes["4"]["bound_by"] == "host" and sizes["4"]["busy"] > 0.97


def test_more_than_a_window_does_not_go_without_the_cpu():
    found = outcome("logp", "via.design=kernel", "via.window=2", sizes=[4096], bytes=4096,
                    delays=["0"], interrupts=0)[1]["results"]["by_size"]["4096"]
    assert found["o_r"] is None and found["L"] is None and found["o_s"] > 0


def test_a_call_that_fails_ends_the_run_with_its_name():
    from nicbed.host.via.returns import VIP_RETURN
    from nicbed.host.via.session import Session

    class Node:
        place = "node 1"

    party = Session.__new__(Session)
    party.node = Node()
    assert party.sound("VipOpenNic", (VIP_RETURN.SUCCESS, 5)) == 5
    with pytest.raises(RuntimeError, match="VipCreateVi on node 1: ERROR_RESOURCE"):
        party.sound("VipCreateVi", (VIP_RETURN.ERROR_RESOURCE, None))
