"""The link, cycle by cycle against a model that knows nothing but deadlines."""

import random
from fractions import Fraction
from math import ceil

import cocotb
import pytest
from nicbed.layouts.description import Description
from nicbed.layouts.trace import Kind
from nicbed.rtl.fabric.link import Link
from nicbed.rtl.parts.flit import Flit

from tests.labs.bench import Sink, Source, parameters, reset_and_clock, run_bench, seed, within
from tests.labs.packets import Watch, timing
from tests.labs.rows import more

SIGNALS = ("i__valid", "i__ready", "i__payload", "o__valid", "o__ready", "credit_stall", "idle",
           "event__valid", "event__kind", "event__number")
WRAP = (1 << 32) - 300


def check(rows, *, rate, latency, hold, depth):
    """Hold ``rows`` of SIGNALS, with the cycle before them, against the model."""
    ends, seen = [], []              # of each flit taken: exact end of wire time, first cycle seen
    closing = {}                     # packets by the cycle in which their wire time is over
    usable = []                      # of each flit handed over: when its credit is usable
    pending = None                   # an END still to be told
    over = None                      # cycle in which the flit on the wire is over
    for (now, i_valid, i_ready, payload, o_valid, o_ready, stall, idle, told, kind,
         number) in rows:
        size, first, last, trace = (payload >> 64 & 15, payload >> 68 & 1, payload >> 69 & 1,
                                    payload >> 70)
        pending = closing.pop(now, pending)
        credits = depth - len(ends) + sum(cycle <= now for cycle in usable)
        free = over is None or now + 1 >= over
        at_home = depth - len(ends) + sum(cycle < now for cycle in usable) == depth
        assert i_ready == (free and credits > 0), f"i.ready at {now}"
        assert stall == (i_valid and free and credits == 0), f"credit_stall at {now}"
        assert idle == (at_home and pending is None), f"idle at {now}"
        handed = len(usable)
        assert o_valid == (handed < len(seen) and seen[handed] <= now), f"o.valid at {now}"

        begin = i_valid and i_ready and first
        assert told == bool(begin or pending is not None), f"event at {now}"
        if begin:
            assert (kind, number) == (Kind.BEGIN, trace)
        elif told:
            assert (kind, number) == (Kind.END, pending)
            pending = None

        if o_valid and o_ready:
            usable.append(now + 1 + latency)
        if i_valid and i_ready:
            begins = now + 1
            start = ends[-1] if ends and over == begins else Fraction(begins)
            over = max(ceil(start + size / rate), begins + 1)
            ends.append(max(start + size / rate, over - 8 / rate))
            seen.append(over + latency + hold)
            if last:
                closing[over] = trace


@cocotb.test()
async def follows_the_model(dut):
    p = parameters()
    rng = random.Random(seed())
    rate = Fraction(p["rate"])
    await reset_and_clock(dut, hold=p["hold"], timing=timing(
        Description(link={"bytes_per_cycle": rate, "latency": p["latency"]})))
    sent = []
    for n in range(p["packets"]):
        sizes = [8] * rng.randint(1, 9) + rng.choice([[4], [rng.randint(1, 8), 4]])
        sent += [{"data": rng.getrandbits(64), "size": size, "first": int(k == 0),
                  "last": int(k == len(sizes) - 1), "trace": n} for k, size in enumerate(sizes)]
    source = Source(dut, "i", shape=Flit, stall=p["stall_in"], seed=seed())
    sink = Sink(dut, "o", shape=Flit, stall=p["stall_out"], seed=seed() + 1)
    watch = Watch(dut, *SIGNALS, start=WRAP, jump=p["jump"], seed=seed(),
                  quiet=lambda: dut.i__valid.value == 0)
    at = 0
    while at < len(sent):
        some = rng.choice([1, 5, 60, 300])
        source.send(*sent[at:at + some])
        at += some
        await within(50000, source.drain())
        if p["jump"]:
            await within(50000, until_idle(dut))
    assert await within(50000, sink.receive(len(sent))) == sent
    await within(50000, until_idle(dut))
    rows = [row for row in watch.rows if row[0] >= WRAP]
    check(rows, rate=Fraction(round(rate * 65536), 65536), latency=p["latency"], hold=p["hold"],
          depth=p["depth"])


async def until_idle(dut):
    from cocotb.triggers import RisingEdge
    edge = RisingEdge(dut.clk)
    await edge
    await edge
    while dut.idle.value != 1:
        await edge


@cocotb.test()
async def keeps_the_rate(dut):
    p = parameters()
    rate = Fraction(p["rate"])
    await reset_and_clock(dut, timing=timing(
        Description(link={"bytes_per_cycle": rate, "latency": p["latency"]})))
    Watch(dut, "idle")
    source = Source(dut, "i", shape=Flit)
    sink = Sink(dut, "o", shape=Flit)
    count = 600
    source.send(*({"data": n, "size": 8, "first": int(n % 10 == 0), "last": int(n % 10 == 9),
                   "trace": n // 10} for n in range(count)))
    await within(20000, sink.receive(count))
    took = sink.cycles[-1] - sink.cycles[0]
    exact = 8 * (count - 1) / Fraction(round(rate * 65536), 65536)
    if p["full"]:
        assert abs(took - exact) <= 1, f"{float(exact)} cycles expected, {took} taken"
        # The contract's latency: taken at edge t, offered from cycle t + wire + latency on.
        assert sink.cycles[0] - source.cycles[0] == ceil(8 / rate) + p["latency"] + 1
    else:
        # A credit comes round in a flit's wire time, twice the latency and two cycles.
        rounds = (count - 1) // p["depth"]
        took = sink.cycles[rounds * p["depth"]] - sink.cycles[0]
        assert took == rounds * (2 * p["latency"] + ceil(8 / rate) + 2)


@pytest.mark.parametrize(("rate", "latency", "hold", "buffer", "pipeline"), [
    ("2", 4, 0, 1024, 0), ("160/33", 4, 4, 1024, 8), ("5", 0, 1, 64, 0), more("8", 0, 0, 64, 0),
    more("8", 24, 3, 128, 2), more("1/4", 1, 0, 72, 0), more("7/3", 60, 0, 64, 0)])
@pytest.mark.parametrize(("stall_in", "stall_out", "jump"),
                         [(0, 0, 0), (0.3, 0.6, 0), (0.7, 0.2, 0.5), (0, 0.9, 0.5)])
def test_model(rate, latency, hold, buffer, pipeline, stall_in, stall_out, jump):
    link = Link(buffer=buffer, pipeline=pipeline)
    run_bench(link, __file__, testcase="follows_the_model", rate=rate, latency=latency, hold=hold,
              depth=link.depth, packets=40, stall_in=stall_in, stall_out=stall_out, jump=jump)


@pytest.mark.parametrize(("rate", "latency", "buffer", "full"), [
    ("2", 4, 1024, True), ("2", 24, 1024, True), ("2", 256, 1024, True), ("8", 64, 1024, True),
    ("8", 4, 64, True), ("160/33", 100, 1024, True), ("1/2", 62, 64, True),
    ("2", 600, 1024, False), ("8", 32, 64, False)])
def test_rate(rate, latency, buffer, full):
    link = Link(buffer=buffer)
    run_bench(link, __file__, testcase="keeps_the_rate", rate=rate, latency=latency, full=full,
              depth=link.depth)


def test_errors():
    for wrong in (0, 56, 65):
        with pytest.raises(ValueError, match=f"buffer must be 64 or more .* not {wrong}"):
            Link(buffer=wrong)
    with pytest.raises(ValueError, match="pipeline must not be negative, not -1"):
        Link(buffer=64, pipeline=-1)
    with pytest.raises(TypeError, match="buffer must be an integer, not '64'"):
        Link(buffer="64")
    assert (Link(buffer=64).buffer, Link(buffer=64, pipeline=2).depth) == (64, 13)
