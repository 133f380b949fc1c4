"""Nothing of a packet is told before it is known to be good; then all of it is, once."""

from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.layouts.via import Event, PacketKind, Status
from nicbed.rtl.vi.receive.finish import Finish
from nicbed.rtl.vi.receive.parse import Parsed
from nicbed.rtl.vi.receive.receive_state import Message
from nicbed.rtl.vi.receive.turn import errors_of
from nicbed.rtl.vi.types import Completion, Detail, ViaHeader

from tests.labs.bench import parameters, reset_and_clock, run_bench, unpack
from tests.models.vi.consumer import field

TOLD = ("reports__break_", "reports__event", "acknowledged", "read_done")
FAULT = errors_of(Status.PROTECTION)

CASES: dict[str, tuple[dict[str, int], dict[str, int], set[str], list[PacketKind]]] = {
    # The packet's detail, its fate; what others are told; answers.
    "done": ({}, {"completes": 1}, set(), []),
    "acknowledged": ({}, {"completes": 1, "acknowledges": 1}, set(), [PacketKind.ACK]),
    "carries": ({"carries": 1}, {"reliable": 1}, {"acknowledged"}, []),
    "carries, of no avail": ({"carries": 1}, {}, set(), []),
    "answer": ({"kind": PacketKind.ACK}, {"replies": 1}, {"acknowledged"}, []),
    "read": ({}, {"on_read": 1, "completes": 1}, {"read_done"}, []),
    "read in error": ({}, {"on_read": 1, "completes": 1, "errors": FAULT}, set(), []),
    "broken": ({}, {"breaks": 1, "tells": 1, "acknowledges": 1, "completes": 1, "errors": FAULT},
               {"reports__break_"}, [PacketKind.BREAK]),
    "event": ({}, {"raises": 1, "event_code": Event.RDMAW_PROT, "refused": 1},
              {"reports__event"}, []),
}


@cocotb.test()
async def finishes(dut: Any) -> None:
    values = parameters()
    detail, fate, want, answers = CASES[values["case"]]
    waits, bad = values["waits"], values["bad"]
    await reset_and_clock(dut)
    edge = RisingEdge(dut.clk)
    turn = {"vi": 5, "walked": 1, "took": 1,
            "message": field(Message, held=1, bytes=7, index=1, address=99),
            "packet": field(Parsed, detail=field(Detail, **detail),
                            header=field(ViaHeader, sequence=3)), **fate}
    for name, value in turn.items():
        getattr(dut, f"turn__{name}").value = value
    dut.message.value = field(Message, begun=1)
    dut.user__index.value, dut.user__offset.value = 4, 44
    dut.user__begin.value = 1
    await edge
    dut.user__begin.value = 0
    dut.reports__complete__ready.value = 1
    said, stored, done = [], {}, []
    for cycle in range(1, 20):
        known = cycle > waits
        dut.user__whole.value, dut.user__good.value = int(known), int(known and not bad)
        await edge
        stored |= {name: int(getattr(dut, f"stores__next_{name}").value)
                   for name in ("sequence", "message", "reading")
                   if getattr(dut, f"stores__write_{name}").value == 1}
        said += [int(dut.answer__kind.value)] * int(dut.answer__valid.value)
        if dut.reports__complete__valid.value == 1:
            done.append(unpack(Completion, int(dut.reports__complete__payload.value)))
        if dut.user__ended.value == 1:
            break
        assert not said and not stored and not done and dut.user__over.value == 0
        assert dut.user__clear.value == 1
    assert cycle == waits + 1 + bad
    assert dut.user__over.value == int(not bad)
    await edge
    told = {name for name in TOLD if getattr(dut, f"{name}__valid").value == 1}
    if bad:
        # All that is left of it is the descriptor that it took.
        assert not told and not said and not done
        assert stored == {"message": field(Message, begun=1, held=1, address=99)}
        return
    assert told == want and said == answers
    assert len(done) == fate.get("completes", 0)
    kept = field(Message, held=1, bytes=7, index=4, offset=44, address=99)
    assert stored == {"sequence": fate.get("breaks", 0) << 9,
                      "reading" if fate.get("on_read") else "message": kept}
    for one in done:
        assert one["length"] == 7 and one["queue"] == 10 + (not fate.get("on_read"))
    for name in told:
        assert dut.user__clear.value == 0
        getattr(dut, f"{name}__ready").value = 1
        await edge
    await edge
    assert dut.user__clear.value == 1


@pytest.mark.parametrize("waits, bad", [(0, 0), (5, 0), (0, 1), (3, 1)])
@pytest.mark.parametrize("case", CASES)
def test_finishes(case: str, waits: int, bad: int) -> None:
    run_bench(Finish(), __file__, testcase="finishes", case=case, waits=waits, bad=bad)
