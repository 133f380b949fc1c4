"""The sender: messages of every shape and level, resending, aborts, flushing, RDMA."""

import random
from typing import Any

import cocotb
import pytest
from nicbed.layouts.description import Description, Nic, Via
from nicbed.layouts.via import PacketKind
from nicbed.rtl.vi.send.sender import Sender
from nicbed.rtl.vi.types import Address

from tests.labs.bench import cycles, parameters, reset_and_clock, run_bench, seed
from tests.labs.rows import more
from tests.labs.vi_sender import UD, Descriptor, Lab
from tests.models.vi.consumer import field


def sender(*, mtu: int = 64, **via: Any) -> Sender:
    values = {"vis": 8, "send_slots": 8, "window": 4, **via}
    return Sender(description=Description(nic=Nic(mtu=mtu), via=Via(**values)))


def status(descriptor: Descriptor, errors: int = 0) -> int:
    return errors | (descriptor.operation << 1) << 16


def check(completion: dict[str, int], queue: int, descriptor: Descriptor, errors: int = 0) -> None:
    """``completion`` is that of ``descriptor``."""
    assert completion["queue"] == queue
    assert completion["address"] == field(Address, va=descriptor.va, handle=descriptor.handle)
    assert completion["status"] == status(descriptor, errors), hex(completion["status"])
    assert completion["length"] == (0 if errors else len(descriptor.payload))
    assert not completion["silent"] and completion["trace"] == descriptor.trace


@cocotb.test()
async def unreliable(dut: Any) -> None:
    """Messages of many VIs, of all lengths, in any number of segments, arrive whole."""
    values = parameters()
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=seed(), stall=values["stall"], ready=values["ready"],
              beats=values["beats"])
    rng = random.Random(seed())
    mtu = values["mtu"]
    for vi in range(8):
        await lab.open(vi, UD)
    posted: dict[int, list[Descriptor]] = {vi: [] for vi in range(8)}
    for trace in range(1, values["count"] + 1):
        vi = rng.randrange(8)
        total = rng.choice((0, 1, 8, mtu - 1, mtu, mtu + 1, rng.randrange(4 * mtu)))
        cuts = sorted(rng.randrange(total + 1)
                      for _ in range(rng.choice((0, 0, 1, 2, 3, 5, 9))))
        payload = rng.randbytes(total)
        pieces = [payload[a:b] for a, b in zip([0, *cuts], [*cuts, total], strict=True)]
        immediate = rng.choice((0, rng.randrange(1, 1 << 32)))
        descriptor = lab.descriptor(pieces, trace=trace, immediate=immediate)
        descriptor.immediate = immediate  # type: ignore[attr-defined]
        posted[vi].append(descriptor)
    for vi, mine in posted.items():
        rest = list(mine)
        while rest:
            some = rng.randrange(1, len(rest) + 1)
            lab.post(2 * vi, *rest[:some])
            rest = rest[some:]
            # A new chain is only begun when nothing is pending, as the work queue does.
            await lab.until(lambda vi=vi: not lab.vis[vi].posted[0], 200000, "taken")
    done = await lab.completed(values["count"], 200000)
    await lab.quiet()
    for vi, mine in posted.items():
        got = [packet for packet in lab.packets if packet.source == vi]
        assert [packet.sequence for packet in got] == [n & 0xFF for n in range(len(got))]
        for completion, descriptor in zip([c for c in done if c["queue"] == 2 * vi], mine,
                                          strict=True):
            check(completion, 2 * vi, descriptor)
            count = max(1, -(-len(descriptor.payload) // mtu))
            packets, got = got[:count], got[count:]
            assert b"".join(packet.data for packet in packets) == descriptor.payload
            assert [packet.first for packet in packets] == [1] + [0] * (count - 1)
            assert [packet.last for packet in packets] == [0] * (count - 1) + [1]
            assert all(packet.kind == PacketKind.SEND and not packet.acknowledge
                       and packet.trace == descriptor.trace for packet in packets)
            immediate = descriptor.immediate  # type: ignore[attr-defined]
            assert all(packet.immediate == bool(immediate) for packet in packets)
            assert packets[-1].value == immediate
        assert not got
    assert lab.sent == len(lab.packets) and lab.resent == 0


@pytest.mark.parametrize("mtu, stall, ready, beats", [
    (64, 0.2, 0.5, 4), (1024, 0.0, 0.7, 32), more(64, 0.0, 0.0, 32), more(128, 0.1, 0.0, 1)])
def test_unreliable(mtu: int, stall: float, ready: float, beats: int) -> None:
    run_bench(sender(mtu=mtu), __file__, testcase="unreliable", mtu=mtu, stall=stall, ready=ready,
              beats=beats, count=50, seed=mtu + beats, many_cycles=True)


@cocotb.test()
async def timing(dut: Any) -> None:
    """The cycles that the contract promises."""
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=1)
    for vi in range(8):
        await lab.open(vi, UD)
    await cycles(dut, 4)
    lab.post(0, lab.descriptor([b"8 bytes!"]))
    await lab.until(lambda: len(lab.flit_cycles) == 1, 200, "a packet")
    first = lab.flit_cycles[0] - lab.next_cycles[0]
    lab.post(0, *(lab.descriptor([b"8 bytes!"]) for _ in range(12)))
    await lab.until(lambda: len(lab.flit_cycles) == 13, 1000, "packets")
    one = (lab.flit_cycles[12] - lab.flit_cycles[2]) / 10
    for vi in range(4):
        lab.post(2 * vi, *(lab.descriptor([b"8 bytes!"]) for _ in range(6)))
    await lab.until(lambda: len(lab.flit_cycles) == 37, 2000, "packets")
    many = (lab.flit_cycles[36] - lab.flit_cycles[16]) / 20
    dut._log.info(f"first flit {first}, one VI {one}, several {many}")
    assert first <= 27 and one <= 18 and many <= 16, (first, one, many)


@pytest.mark.promise("VI engine: token to first flit", "8 bytes, an idle sender", "at most 27")
@pytest.mark.promise("VI engine: message to message", "8 bytes, one VI", "at most 18")
def test_timing() -> None:
    run_bench(sender(), __file__, testcase="timing")

