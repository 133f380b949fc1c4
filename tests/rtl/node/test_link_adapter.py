"""The link adapter: packets in wide flits and in flits of 8 bytes are the same bytes."""

import random
from typing import Any

import cocotb
import pytest
from nicbed.rtl.node.link_adapter import LinkAdapter
from nicbed.rtl.parts.flit import Flit, flit_stream

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


def flits(packet: bytes, width: int, trace: int) -> list[dict[str, int]]:
    """``packet`` in flits of ``width`` bytes."""
    return [{"data": int.from_bytes(packet[at:at + width], "little"),
             "size": min(width, len(packet) - at), "first": int(at == 0),
             "last": int(at + width >= len(packet)), "trace": trace}
            for at in range(0, len(packet), width)]


def streams(dut: Any, width: int, stall: float) -> tuple[Source, Sink, Source, Sink]:
    """Sent by the NIC, and at the link; received from the link, and at the NIC."""
    wide = flit_stream(width).members["payload"].shape
    return (Source(dut, "nic__tx", shape=wide, stall=stall, seed=1),
            Sink(dut, "link__tx", shape=Flit, stall=stall, seed=2),
            Source(dut, "link__rx", shape=Flit, stall=stall, seed=3),
            Sink(dut, "nic__rx", shape=wide, stall=stall, seed=4))


@cocotb.test()
async def carries_the_same_bytes(dut: Any) -> None:
    width = parameters()["width"]
    draw = random.Random(seed())
    await reset_and_clock(dut)
    sent, on_link, from_link, received = streams(dut, width, parameters()["stall"])
    packets = [draw.randbytes(draw.choice((9, 12, 16, 8 + draw.randint(1, 3 * width))))
               for _ in range(60)]
    narrow = [flit for trace, packet in enumerate(packets) for flit in flits(packet, 8, trace)]
    wide = [flit for trace, packet in enumerate(packets) for flit in flits(packet, width, trace)]
    sent.send(*wide)
    from_link.send(*narrow)
    assert await within(20_000, on_link.receive(len(narrow))) == narrow
    assert await within(20_000, received.receive(len(wide))) == wide
    await cycles(dut, 3)
    assert dut.idle.value == 1 and not on_link.taken and not received.taken


@cocotb.test()
async def takes_a_cycle_for_8_bytes(dut: Any) -> None:
    width = parameters()["width"]
    await reset_and_clock(dut, link__credit_stall=1)
    sent, on_link, from_link, received = streams(dut, width, 0.0)
    packet = bytes(range(width + 9))
    sent.send(*flits(packet, width, 1), *flits(packet, width, 2))
    from_link.send(*flits(packet, 8, 1), *flits(packet, 8, 2))
    parts = width // 8 + 2
    await within(200, on_link.receive(2 * parts))
    await within(200, received.receive(4))
    assert on_link.cycles == [on_link.cycles[0] + at for at in range(2 * parts)]
    assert received.cycles == [from_link.cycles[at] for at in (
        parts - 3, parts - 1, 2 * parts - 3, 2 * parts - 1)]
    assert dut.nic__credit_stall.value == 1


@pytest.mark.parametrize("width, stall", [(8, 0.4), (16, 0.4), (32, 0.0), (64, 0.5)])
def test_carries_the_same_bytes(width: int, stall: float) -> None:
    run_bench(LinkAdapter(width=width), __file__, testcase="carries_the_same_bytes", width=width,
              stall=stall)


def test_takes_a_cycle_for_8_bytes() -> None:
    run_bench(LinkAdapter(width=32), __file__, testcase="takes_a_cycle_for_8_bytes", width=32)


def test_parameters() -> None:
    assert LinkAdapter(width=16).width == 16
    with pytest.raises(ValueError, match="width must be a power of two, at least 8, not 24"):
        LinkAdapter(width=24)
