"""Acknowledgements that data packets carry: which do, when they leave alone, and what they say."""

import random
from typing import Any

import cocotb
import pytest
from nicbed.layouts.via import PacketKind

from tests.labs.bench import cycles, parameters, reset_and_clock, run_bench, seed
from tests.labs.rows import more
from tests.labs.vi_sender import RD, RR, UD, Lab
from tests.rtl.vi.send.test_reliable import Peer
from tests.rtl.vi.send.test_sender import sender

Told = tuple[int, int, int | None]
SLOTS, VIS = 8, 8


def owe(lab: Lab, vi: int, sequence: int, kind: PacketKind = PacketKind.ACK, **more: int) -> None:
    """The receiver owes this answer."""
    lab.control_packet.send({"vi": vi, "kind": kind, "sequence": sequence, **more})


def told(lab: Lab, since: int = 0) -> list[Told]:
    """Of each packet since: VI, kind, sequence number that it told (an ACK carried, or an answer's
    own)."""
    return [(p.source, PacketKind(p.kind), p.sequence if p.kind in (PacketKind.ACK, PacketKind.NAK)
             else p.carried) for p in lab.packets[since:]]


async def let(lab: Lab, count: int) -> None:
    """Let ``count`` packets out, and perhaps the next one's beginning."""
    until = len(lab.packets) + count
    lab.tx.stall = 0.0
    await lab.until(lambda: len(lab.packets) >= until, 2000, f"packet {until}")
    lab.tx.stall = 1.0
    await cycles(lab.dut, 30)


async def held(dut: Any, *levels: int) -> Lab:
    """VIs from 1 on, and a wire that takes nothing."""
    await reset_and_clock(dut)
    lab = Lab(dut, vis=VIS, seed=seed(), timeout=1 << 24)
    for vi, level in enumerate(levels, start=1):
        await lab.open(vi, level)
    lab.tx.stall = 1.0
    await cycles(dut, 10)
    return lab


async def post(lab: Lab, vi: int, size: int, **more: Any) -> None:
    """A message; its packets are in line then."""
    lab.post(2 * vi, lab.descriptor([b"m" * size], **more))
    await cycles(lab.dut, 150)


@cocotb.test()
async def carries(dut: Any) -> None:
    """An ACK leaves with the next packet of its VI in line, be there others before it; alone if
    there is none. What is told replaces what was owed before."""
    lab = await held(dut, RD, RR, RD)
    await post(lab, 2, 64 * 3)
    await post(lab, 1, 8)
    await post(lab, 2, 8)
    owe(lab, 1, 5)
    owe(lab, 3, 9)
    await cycles(dut, 20)
    await let(lab, 6)
    send, ack = PacketKind.SEND, PacketKind.ACK
    assert told(lab) == [(2, send, None), (2, send, None), (3, ack, 9), (2, send, None),
                         (1, send, 5), (2, send, None)]
    lab.tx.stall = 0.0
    lab.acknowledge(1, 1)
    lab.acknowledge(2, 4)
    await lab.quiet()
    lab.post(2, lab.descriptor([b"once"]))
    await lab.until(lambda: len(lab.packets) == 7, 200, "a packet")
    assert told(lab, 6) == [(1, send, None)], "told once"
    began = lab.cycle
    owe(lab, 1, 6)
    await lab.until(lambda: len(lab.packets) == 8, 20, "an ACK, at once")
    assert told(lab, 7) == [(1, ack, 6)] and lab.cycle - began < 15


@cocotb.test()
async def urgent(dut: Any) -> None:
    """Another answer of the VI does not wait, and stands for the one before it; unless the next
    packet is the VI's."""
    values = parameters()
    lab = await held(dut, RD, RD)
    await post(lab, 2, 64 * 3)
    await post(lab, 1, 8)
    owe(lab, 1, 5)
    await cycles(dut, 20)
    owe(lab, 1, 6, PacketKind(values["kind"]), echo=values["echo"], code=values["echo"])
    await cycles(dut, 20)
    await let(lab, 5)
    assert told(lab)[1:] == [(2, PacketKind.SEND, None), (1, values["kind"], 6),
                             (2, PacketKind.SEND, None), (1, PacketKind.SEND, None)]
    await post(lab, 1, 64 * 2)
    owe(lab, 1, 7)
    await cycles(dut, 10)
    owe(lab, 1, 8)
    await let(lab, 3)
    assert told(lab, 5) == [(1, PacketKind.SEND, None), (1, PacketKind.SEND, 7),
                            (1, PacketKind.ACK, 8)]
    lab.acknowledge(2, 3)
    await post(lab, 2, 64 * 2)
    await post(lab, 1, 8)
    owe(lab, 1, 9)
    await let(lab, 1)
    owe(lab, 1, 10)
    await let(lab, 2)
    assert told(lab, 8) == [(2, PacketKind.SEND, None), (2, PacketKind.SEND, None),
                            (1, PacketKind.SEND, 10)]
    await post(lab, 2, 8)
    await let(lab, 1)
    assert told(lab, 11) == [(2, PacketKind.SEND, None)]


@cocotb.test()
async def cannot(dut: Any) -> None:
    """Packets with immediate data of their own, requests of RDMA reads, and NAKs and what answers a
    probe."""
    lab = await held(dut, UD, RD, RD, RD, RR)
    # The wire has the first.
    await post(lab, 1, 8)
    await post(lab, 2, 8, immediate=77)
    await post(lab, 3, 64 + 8, immediate=78)
    await post(lab, 4, 8, operation=2)
    await post(lab, 5, 8)
    owe(lab, 2, 12)
    owe(lab, 3, 13)
    owe(lab, 4, 14)
    owe(lab, 5, 15, PacketKind.NAK)
    await cycles(dut, 30)
    await let(lab, 9)
    send, ack = PacketKind.SEND, PacketKind.ACK
    assert sorted(told(lab), key=str) == sorted((
        (1, send, None), (2, ack, 12), (4, ack, 14), (5, PacketKind.NAK, 15), (2, send, None),
        (3, send, 13), (3, send, None), (4, PacketKind.READ_REQUEST, None), (5, send, None)),
        key=str)
    assert [p.value for p in lab.packets if p.source in (2, 3) and p.kind == send] == [77, 13, 78]


@cocotb.test()
async def again(dut: Any) -> None:
    """A packet that is sent again carries what is owed then, or nothing."""
    lab = await held(dut, UD, RD)
    await post(lab, 1, 8)
    await post(lab, 2, 8)
    owe(lab, 2, 5)
    await let(lab, 2)
    lab.acknowledge(2, 0, again=1)
    await let(lab, 1)
    lab.acknowledge(2, 0, again=1)
    await cycles(dut, 30)
    await let(lab, 1)
    # The wire has the first when the second is owed an acknowledgement.
    await post(lab, 1, 8)
    lab.acknowledge(2, 0, again=1)
    await cycles(dut, 30)
    owe(lab, 2, 6)
    await let(lab, 2)
    of = [p for p in lab.packets if p.source == 2]
    assert [(p.sequence, p.carried, p.value) for p in of] == [
        (0, 5, 5), (0, None, 0), (0, None, 0), (0, 6, 6)]


@cocotb.test()
async def forgotten(dut: Any) -> None:
    """Where the packet that it was left to is acknowledged in line, the ACK leaves in its place; or
    not at all where the connection is over."""
    aborts = parameters()["aborts"]
    lab = await held(dut, RD, RD)
    await post(lab, 2, 64 * 3)
    await post(lab, 1, 8)
    await let(lab, 4)
    for vi in (2, 1):
        lab.acknowledge(vi, 0, again=1)
        await cycles(dut, 30)
    owe(lab, 1, 7)
    await let(lab, 1)
    assert told(lab, 4) == [(2, PacketKind.SEND, None)]
    if aborts:
        await lab.abort(1)
    else:
        lab.acknowledge(1, 1)
    await let(lab, 3)
    began, then = (2, PacketKind.SEND, None), (2, PacketKind.SEND, None)
    assert told(lab, 5) == ([began, (1, PacketKind.BREAK, None), then] if aborts
                            else [began, then, (1, PacketKind.ACK, 7)])
    if not aborts:
        return
    await cycles(dut, 30)
    await lab.open(1, RD)
    await post(lab, 1, 8)
    await let(lab, 1)
    assert told(lab, 8) == [(1, PacketKind.SEND, None)]


@pytest.mark.parametrize("testcase", ["carries", more("cannot"), more("again")])
def test_carries(testcase: str) -> None:
    run_bench(sender(), __file__, testcase=testcase)


@pytest.mark.parametrize("kind, echo", [
    (PacketKind.ACK, 0), more(PacketKind.ACK, 1), more(PacketKind.NAK, 0)])
def test_urgent(kind: PacketKind, echo: int) -> None:
    run_bench(sender(), __file__, testcase="urgent", kind=int(kind), echo=echo)


@pytest.mark.parametrize("aborts", [0, 1])
def test_forgotten(aborts: int) -> None:
    run_bench(sender(), __file__, testcase="forgotten", aborts=aborts)


@cocotb.test()
async def always_told(dut: Any) -> None:
    """Data and losses on all VIs, answers owed at random: none is told twice or after a newer one
    of its VI, and each, or a newer one, before more packets have left than there are slots, and one
    answer of each VI."""
    values = parameters()
    rng = random.Random(seed())
    await reset_and_clock(dut)
    lab = Lab(dut, vis=VIS, seed=seed(), ready=values["ready"], timeout=900, retries=200)
    for vi in range(VIS):
        await lab.open(vi, (RD, RR)[vi % 2])
        Peer(lab, vi, loss=values["loss"], delay=40, seed=vi)
    owed = dict.fromkeys(range(VIS), 0)
    due: dict[int, tuple[int, int]] = {}
    last = dict.fromkeys(range(VIS), 0)
    seen = carried = alone = 0

    def look() -> None:
        nonlocal seen, carried, alone
        for vi, kind, number in told(lab, seen):
            seen += 1
            if number is not None:
                # Numbers are less than 128 apart.
                number = last[vi] + (number - last[vi] & 127)
                assert last[vi] < number <= owed[vi], f"VI {vi}: {number} after {last[vi]}"
                last[vi] = number
                carried += kind == PacketKind.SEND
                alone += kind != PacketKind.SEND
                if vi in due and number >= due[vi][0]:
                    del due[vi]
        for vi, (number, packet) in due.items():
            # Beside one under way, one in line for the link, and probes.
            data = [p for p in lab.packets[packet:] if p.kind != PacketKind.PROBE]
            assert len(data) <= SLOTS + VIS + 2, f"VI {vi}: {number} is not told"

    for _ in range(values["count"]):
        vi = rng.randrange(VIS)
        if rng.random() < 0.9 and not lab.vis[vi].posted[0]:
            lab.post(2 * vi, *(lab.descriptor([rng.randbytes(rng.choice((8, 64, 300)))])
                               for _ in range(rng.randrange(1, 4))))
        if rng.random() < 0.2:
            owed[vi] += rng.randrange(1, 4)
            due.setdefault(vi, (owed[vi], len(lab.packets)))
            owe(lab, vi, owed[vi] & 127, rng.choice((PacketKind.ACK,) * 5 + (PacketKind.NAK,)))
        for _ in range(rng.randrange(60)):
            await lab.edge
        look()
        lab.done.taken.clear()
    await lab.quiet(200_000)
    look()
    assert last == owed and lab.breaks.taken == []
    assert carried > 3 and alone > 10, (carried, alone)


@pytest.mark.parametrize("loss, ready, seed", [(0.2, 0.6, 2), more(0.0, 0.5, 1), more(0.1, 0.8, 3)])
def test_the_acknowledgement_always_arrives(loss: float, ready: float, seed: int) -> None:
    run_bench(sender(), __file__, testcase="always_told", loss=loss, ready=ready, count=400,
              seed=seed, many_cycles=True)
