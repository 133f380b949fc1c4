"""What is owed to peers: the newest answer of each VI, by turns, however long the link is busy."""

import random
from typing import Any

import cocotb
import pytest
from nicbed.layouts.via import PacketKind
from nicbed.rtl.vi.send.owed_answers import OwedAnswers
from nicbed.rtl.vi.types import ControlPacket

from tests.labs.bench import Sink, Source, parameters, reset_and_clock, run_bench, seed

KINDS = (PacketKind.ACK, PacketKind.ACK, PacketKind.NAK, PacketKind.BREAK, PacketKind.SEND)


@cocotb.test()
async def pays(dut: Any) -> None:
    """Each answer is told, or a newer one of its VI; the newest last, unless none is owed any more;
    after at most those of each other VI."""
    values = parameters()
    rng = random.Random(seed())
    await reset_and_clock(dut)
    source = Source(dut, "i", shape=ControlPacket, stall=values["stall"], seed=seed())
    sink = Sink(dut, "o", shape=ControlPacket, stall=values["busy"], seed=seed() + 1)
    vis = values["vis"]
    answers: dict[int, list[dict[str, int]]] = {vi: [] for vi in range(vis)}
    told: dict[int, int] = dict.fromkeys(range(vis), -1)
    others: dict[int, list[int]] = {}
    taken = 0
    for number in range(values["count"]):
        vi = rng.choice((rng.randrange(vis), 1))
        answer = {"vi": vi, "kind": rng.choice(KINDS), "echo": rng.getrandbits(1),
                  "sequence": rng.getrandbits(8), "code": number}
        answers[vi].append(answer)
        source.send(answer)
    for _ in range(40 * values["count"]):
        await source._edge
        # One may be on its way into the line, and one out of it.
        for vi, owed in answers.items():
            came = [one for one in owed if one["code"] < source.sent]
            if came and came[-1]["kind"] == PacketKind.SEND:
                others.pop(vi, None)
            elif came and came[-1]["code"] > told[vi]:
                others.setdefault(vi, [])
        while taken < len(sink.taken):
            got = sink.taken[taken]
            taken += 1
            vi = got["vi"]
            assert got in answers[vi] and got["kind"] != PacketKind.SEND
            assert got["code"] > told[vi], "an older one"
            told[vi] = got["code"]
            others.pop(vi, None)
            for one, met in others.items():
                # Beside what was offered when it came.
                assert vi not in met[1:], f"VI {vi} twice before {one}"
                met.append(vi)
        if dut.idle.value == 1 and source.sent == values["count"]:
            break
    assert dut.idle.value == 1
    for vi, owed in answers.items():
        if owed and owed[-1]["kind"] != PacketKind.SEND:
            assert told[vi] == owed[-1]["code"]


@pytest.mark.parametrize("vis, stall, busy", [
    (2, 0.0, 0.0), (8, 0.0, 0.9), (64, 0.3, 0.5), (8, 0.7, 0.0)])
def test_pays(vis: int, stall: float, busy: float) -> None:
    run_bench(OwedAnswers(vis=vis), __file__, testcase="pays", vis=vis, stall=stall, busy=busy,
              count=600, seed=vis)


@cocotb.test()
async def takes_always(dut: Any) -> None:
    """While the link takes nothing, an answer is taken in every cycle; one is offered after 3."""
    await reset_and_clock(dut)
    sink = Sink(dut, "o", shape=ControlPacket, stall=1.0)
    source = Source(dut, "i", shape=ControlPacket)
    for _ in range(8):
        await source._edge
    source.send(*({"vi": n % 8, "kind": PacketKind.ACK, "code": n} for n in range(200)))
    for cycle in range(202):
        assert cycle < 5 or dut.o__valid.value == 1
        await source._edge
    assert source.sent == 200
    sink.stall = 0.0
    for _ in range(40):
        await source._edge
    assert sorted(one["code"] for one in sink.taken[1:]) == list(range(192, 200))


def test_takes_always() -> None:
    run_bench(OwedAnswers(vis=8), __file__, testcase="takes_always")


def test_wrong_sizes() -> None:
    with pytest.raises(TypeError, match="vis must be an integer"):
        OwedAnswers(vis="8")
    with pytest.raises(ValueError, match="vis must be a power of two"):
        OwedAnswers(vis=6)
