"""Programs on the functional target, by the command line's way."""

import pytest
from nicbed import Testbed, UserError
from nicbed.testbench.results.document import ESTIMATED

PROGRAM = """
from nicbed.host.am import Gam


async def program(node):
    got = []
    gam = Gam(node, [lambda am, source, word: got.append((source, word))])
    await gam.enable()
    await gam.request(1 - node.number, 0, 7 + node.number)
    await gam.wait(lambda: got)
    await gam.disable()
    return got
"""
STUCK = """
async def program(node):
    while True:
        await node.port.delay(1000)
"""


def test_a_program_runs_without_a_build(tmp_path):
    file = tmp_path / "exchange.py"
    file.write_text(PROGRAM)
    with Testbed(sim="model", nodes=2, store=None) as bed:
        bed.set("bus.pio_write", 4)
        first, again = bed.experiment(file), bed.experiment(file)
    assert first.document["results"]["nodes"] == [[[1, 8]], [[0, 7]]]
    assert first.document == again.document
    assert first.document["sim"] == "model" and ESTIMATED in first.document["notes"]


def test_knobs_of_timing_count(tmp_path):
    file = tmp_path / "exchange.py"
    file.write_text(PROGRAM)
    cycles = []
    for latency in (4, 400):
        with Testbed(sim="model", nodes=2, store=None, link={"latency": latency}) as bed:
            cycles.append(bed.experiment(file).document["results"]["cycles"])
    assert cycles[1] - cycles[0] > 700


def test_a_run_ends_at_its_limit(tmp_path):
    file = tmp_path / "stuck.py"
    file.write_text(STUCK)
    with Testbed(sim="model", nodes=2, store=None, limit=50_000) as bed, \
            pytest.raises(UserError, match="stopped at cycle 50000, the limit"):
        bed.experiment(file)


@pytest.mark.parametrize("call, text", [
    (lambda bed, path: bed.bench("rtt"), "--sim model: its cycles are estimates"),
    (lambda bed, path: bed.experiment(path, timeline=path.with_suffix(".pftrace")),
     "--sim model draws no time line"),
    (lambda bed, path: bed.experiment(path, wave=path.with_suffix(".fst")),
     "--sim model records no waveform"),
])
def test_unsupported_requests_are_one_line(tmp_path, call, text):
    file = tmp_path / "exchange.py"
    file.write_text(PROGRAM)
    with Testbed(sim="model", nodes=2, store=None) as bed, pytest.raises(UserError, match=text):
        call(bed, file)
