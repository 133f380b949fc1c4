"""Where the VI engine joins the NIC: packets merged towards the link, split behind the FIFO."""

import random
from typing import Any

import cocotb
import pytest
from nicbed.layouts.packet import HEADER, Protocol
from nicbed.layouts.processor import PROTOCOL_SELECT
from nicbed.rtl.nic.packet_merge import PacketMerge
from nicbed.rtl.nic.protocol_split import ProtocolSplit
from nicbed.rtl.parts.flit import Flit
from nicbed.rtl.parts.receive_word import ReceiveWord

from tests.labs.bench import Sink, Source, parameters, reset_and_clock, run_bench, seed, within


def packets(rng: random.Random, count: int, source: int) -> list[list[dict[str, int]]]:
    made = []
    for number in range(count):
        length = rng.choice((1, 2, rng.randrange(1, 12)))
        made.append([{"data": source << 32 | number << 8 | at, "size": 8, "first": at == 0,
                      "last": at == length - 1, "trace": source} for at in range(length)])
    return made


@cocotb.test()
async def keeps_packets_whole(dut: Any) -> None:
    await reset_and_clock(dut)
    given = parameters()
    rng = random.Random(seed())
    inputs = given["inputs"]
    sent = [packets(rng, 60, number) for number in range(inputs)]
    for number, some in enumerate(sent):
        source = Source(dut, f"i__{number}", shape=Flit, stall=given["stall"], seed=seed() + number)
        source.send(*(flit for packet in some for flit in packet))
    sink = Sink(dut, "o", shape=Flit, stall=given["o_stall"], seed=seed() + 9)
    flits = await within(20000, sink.receive(sum(len(p) for some in sent for p in some)))
    order = []
    while flits:
        source = flits[0]["trace"]
        packet = sent[source].pop(0)
        assert flits[:len(packet)] == packet
        del flits[:len(packet)]
        order.append(source)
    assert not any(sent)
    if not given["stall"]:
        # As long as all of them have packets, each has its turn.
        assert order[:inputs * 40] == list(range(inputs)) * 40


@pytest.mark.parametrize("inputs, stall, o_stall", [(2, 0.0, 0.0), (2, 0.5, 0.3), (3, 0.0, 0.5)])
def test_merge(inputs: int, stall: float, o_stall: float) -> None:
    run_bench(PacketMerge(inputs=inputs), __file__, testcase="keeps_packets_whole", inputs=inputs,
              stall=stall, o_stall=o_stall)


def test_merge_refuses() -> None:
    with pytest.raises(ValueError, match="inputs must be at least 2, not 1"):
        PacketMerge(inputs=1)
    with pytest.raises(TypeError, match="inputs must be an integer"):
        PacketMerge(inputs=2.0)  # type: ignore[arg-type]


@cocotb.test()
async def splits(dut: Any) -> None:
    await reset_and_clock(dut, select=PROTOCOL_SELECT.pack(enable=1, protocol=Protocol.VIA))
    given = parameters()
    rng = random.Random(seed())
    words: list[dict[str, int]] = []
    ways: dict[str, list[dict[str, int]]] = {"match": [], "other": []}
    for number in range(120):
        protocol = rng.choice(list(Protocol))
        length = rng.choice((1, 2, rng.randrange(1, 9)))
        # Data that look like headers of the other kind.
        packet = [{"data": HEADER.pack(protocol=rng.randrange(4), source=number, length=at),
                   "following": 0, "first": at == 0, "last": at == length - 1,
                   "bad": at == length - 1 and number % 3 == 0, "trace": number}
                  for at in range(length)]
        packet[0]["data"] = HEADER.pack(protocol=protocol, source=number)
        words += packet
        ways["match" if protocol is Protocol.VIA else "other"] += packet
    Source(dut, "i", shape=ReceiveWord, stall=given["stall"], seed=seed()).send(*words)
    sinks = {name: Sink(dut, name, shape=ReceiveWord, stall=given["o_stall"], seed=seed() + 1)
             for name in ways}
    for name, expected in ways.items():
        assert await within(20000, sinks[name].receive(len(expected))) == expected


@pytest.mark.parametrize("stall, o_stall", [(0.0, 0.0), (0.4, 0.3), (0.0, 0.7)])
def test_split(stall: float, o_stall: float) -> None:
    run_bench(ProtocolSplit(), __file__, testcase="splits", stall=stall,
              o_stall=o_stall)
