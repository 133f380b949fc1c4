"""The whole fabric: every packet arrives once, in order, on several graphs; exact flight times."""

import random
from math import ceil

import cocotb
import pytest
from nicbed.layouts.description import Description
from nicbed.layouts.fabric import Graph
from nicbed.layouts.packet import HEADER
from nicbed.layouts.topologies.chain import chain
from nicbed.layouts.trace import Block
from nicbed.rtl.fabric.fabric import Fabric
from nicbed.rtl.parts.flit import Flit

from tests.labs.bench import (
    Sink,
    Source,
    cycles,
    parameters,
    reset_and_clock,
    run_bench,
    seed,
    within,
)
from tests.labs.packets import Watch, packet, timing, with_crc
from tests.labs.rows import more


def delivered(flits):
    """``flits`` of a packet whose route was used up."""
    header = HEADER.pack(**HEADER.unpack(flits[0]["data"]) | {"route": 0})
    return [flits[0] | {"data": header}, *flits[1:]]


@cocotb.test()
async def delivers(dut):
    p = parameters()
    topology = chain(*p["chain"])
    nodes = len(topology.places)
    rng = random.Random(seed())
    await reset_and_clock(dut, timing=timing(Description(link={"latency": p["latency"]})))
    Watch(dut, "idle", jump=0.2, start=(1 << 32) - 500, seed=seed(), quiet=lambda: all(
        getattr(dut, f"up__{n}__valid").value == 0 for n in range(nodes)))
    sources = [Source(dut, f"up__{n}", shape=Flit, stall=p["stall_in"], seed=n)
               for n in range(nodes)]
    sinks = [Sink(dut, f"down__{n}", shape=Flit, stall=p["stall_out"], seed=99 + n)
             for n in range(nodes)]
    expected = {}
    for source in range(nodes):
        for k in range(p["packets"]):
            to = rng.randrange(nodes)
            sent = with_crc(packet(rng, rng.choice([8, 12, 61, 200]), source=source,
                                   destination=to, route=topology.route(source, to)),
                            source * 1000 + k)
            sources[source].send(*sent)
            expected.setdefault((source, to), []).append(delivered(sent))
    for source in sources:
        await within(200000, source.drain())

    async def quiet():
        while dut.idle.value != 1:
            await cycles(dut, 1)
    await cycles(dut, 2)
    await within(20000, quiet())
    for to, sink in enumerate(sinks):
        found, rest = {}, list(sink.taken)
        while rest:
            whole = 1 + next(k for k, flit in enumerate(rest) if flit["last"])
            found.setdefault((rest[0]["trace"] // 1000, to), []).append(rest[:whole])
            rest = rest[whole:]
        for source in range(nodes):
            assert found.get((source, to), []) == expected.get((source, to), [])


@cocotb.test()
async def flies_exactly(dut):
    p = parameters()
    topology = chain(*p["chain"])
    await reset_and_clock(dut, timing=timing(Description(
        link={"latency": p["latency"], "bytes_per_cycle": p["rate"]},
        switch={"latency": p["hop"]})))
    Watch(dut, "idle")
    to = len(topology.places) - 1
    source = Source(dut, "up__0", shape=Flit)
    sink = Sink(dut, f"down__{to}", shape=Flit)
    sent = with_crc(packet(random.Random(1), 64, route=topology.route(0, to)), 1)
    source.send(*sent)
    assert await within(10000, sink.receive(len(sent))) == delivered(sent)
    hops = len(topology.way(0, to))
    wire = ceil(8 / p["rate"])
    flight = (hops + 1) * (wire + p["latency"]) + hops * (p["hop"] + 1)
    assert sink.cycles[0] - source.cycles[0] == flight + 1
    # Cut through: the last flit follows the first as it did when it was sent.
    assert sink.cycles[-1] - sink.cycles[0] == 8 * wire + ceil(4 / p["rate"])


@pytest.mark.parametrize(("places", "latency", "buffer", "stall_in", "stall_out"), [
    ((2, 1, 16), 4, 1024, 0.2, 0.2), more((4, 1, 4), 0, 64, 0, 0.7), ((5, 2, 4), 30, 64, 0.5, 0.2),
    more((6, 3, 5), 4, 256, 0, 0)])
def test_delivers(places, latency, buffer, stall_in, stall_out):
    run_bench(Fabric(topology=chain(*places), buffer=buffer), __file__, testcase="delivers",
              chain=places, latency=latency, stall_in=stall_in, stall_out=stall_out, packets=15)


@pytest.mark.promise("flight",
                     "over h switches, a word w cycles on a link of latency l",
                     "(h + 1) (w + l) + h (switch.latency + 1) + 1")
@pytest.mark.parametrize("latency", [0, more(4), 24])
@pytest.mark.parametrize(("places", "rate", "hop"), [((2, 1, 16), 2, 4), ((3, 3, 4), 2, 1)])
def test_flight(places, rate, hop, latency):
    run_bench(Fabric(topology=chain(*places), buffer=1024), __file__, testcase="flies_exactly",
              chain=places, rate=rate, hop=hop, latency=latency)


def test_sources_and_hardware():
    fabric = Fabric(topology=chain(3, 2, 8), buffer=64)
    sources = fabric.event_sources
    assert len(sources) == len(fabric.events)
    count = {block: sum(b == block for _, b in sources) for block in Block}
    # Of 2 x 8 ports, 3 have nodes and 2 a trunk; each switch reports misrouted packets besides.
    assert (count[Block.FAULT], count[Block.SEND_LINK], count[Block.RECEIVE_LINK],
            count[Block.SWITCH], count[Block.TRUNK]) == (3, 3, 3, 5 + 2, 2)


def test_errors():
    with pytest.raises(TypeError, match="topology must be a Graph"):
        Fabric(topology="chain", buffer=64)
    with pytest.raises(ValueError, match="no port 2 on a switch 0"):
        Fabric(topology=Graph(1, 2, ((0, 0), (0, 2)), ()), buffer=64)
    with pytest.raises(ValueError, match="uses port 0 of switch 0 twice"):
        Fabric(topology=Graph(1, 2, ((0, 0), (0, 0)), ()), buffer=64)
