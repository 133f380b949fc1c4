"""What comes of a job for each way in which it ends, in order, and in how many cycles."""

from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.layouts.via import Event, PacketKind, Status
from nicbed.rtl.vi.send.job import Job, JobKind
from nicbed.rtl.vi.send.job_end import Ending, JobEnd
from nicbed.rtl.vi.types import Break, Completion, ControlPacket, EngineEvent

from tests.labs.bench import parameters, reset_and_clock, run_bench, unpack
from tests.models.vi.consumer import field

QUEUE = 6
SAID = {"outcome__complete": Completion, "outcome__break_": Break, "outcome__wake": None,
        "outcome__control_packet": ControlPacket, "event": EngineEvent}
KEPT = ("position", "response", "unfinished")
FAILED = Status.PROTECTION

CASES: dict[str, tuple[Ending, dict[str, int], dict[str, int], list[str], int]] = {
    # Ending, fields of the job, inputs of the block; what is said and kept, then the errors.
    "done": (Ending.FINISH, {}, {}, ["complete"], 0),
    "done, alone": (Ending.FINISH, {"exclusive": 1}, {}, ["complete", "wake"], 0),
    "behind an error": (Ending.LATE, {}, {}, ["complete"], Status.FLUSHED),
    "an answer behind an error": (Ending.LATE, {"kind": JobKind.RESPOND.value}, {}, ["wake"],
                                  Status.FLUSHED),
    "error": (Ending.FAIL, {"first": 1}, {}, ["complete"], FAILED),
    "error of a connection": (Ending.FAIL, {"first": 1, "reliable": 1}, {},
                              ["complete", "position", "break_"], FAILED),
    "error in the middle": (Ending.FAIL, {"resumed": 1}, {}, ["complete", "position"],
                            FAILED | Status.PARTIAL),
    "error behind what is unfinished": (
        Ending.FAIL, {"first": 1, "reliable": 1, "until_received": 1}, {},
        ["position", "unfinished", "wake"], FAILED),
    "error of an answer": (Ending.FAIL, {"kind": JobKind.RESPOND.value, "first": 1}, {},
                           ["response", "event", "control_packet", "break_"], FAILED),
    "aborted": (Ending.DOOMED, {"first": 1}, {"doomed": 1}, ["complete"], Status.FLUSHED),
    "aborted in the middle": (
        Ending.DOOMED, {"resumed": 1}, {"doomed": 1, "failure": Status.TRANSPORT},
        ["position", "complete", "position"], Status.TRANSPORT | Status.PARTIAL),
    "aborted, and the receiver completes": (Ending.DOOMED, {"first": 1}, {"doomed": 1, "told": 1},
                                            ["wake"], Status.FLUSHED),
    "descriptor unreadable": (Ending.FINISH, {"silent": 1}, {}, ["complete", "position", "break_"],
                              0),
    "break": (Ending.BREAK, {}, {}, ["break_"], 0),
    "wake": (Ending.WAKE, {}, {}, ["wake"], 0),
}


@cocotb.test()
async def ends(dut: Any) -> None:
    values = parameters()
    ending, fields, inputs, want, errors = CASES[values["case"]]
    await reset_and_clock(dut, **{f"user__{name}": value for name, value in inputs.items()})
    edge = RisingEdge(dut.clk)
    job = field(Job, queue=QUEUE, length=99, **fields)
    dut.user__offered.value, dut.user__load.value = job, 1
    await edge
    dut.job.value, dut.user__load.value = job, 0
    dut.user__valid.value, dut.user__ending.value = 1, ending.value
    dut.user__status.value = FAILED
    await edge
    dut.user__valid.value = 0
    said: list[str] = []
    payloads: dict[str, Any] = {}
    for cycle in range(40):
        ready = int(cycle % values["slow"] == values["slow"] - 1)
        for name in SAID:
            getattr(dut, f"{name}__ready").value = ready
        await edge
        for name, shape in SAID.items():
            if ready and getattr(dut, f"{name}__valid").value == 1:
                short = name.removeprefix("outcome__")
                said.append(short)
                payloads[short] = unpack(shape, int(getattr(dut, f"{name}__payload").value))
        said += [name for name in KEPT if getattr(dut, f"user__{name}").value == 1]
        if dut.user__over.value == 1:
            break
    assert dut.user__over.value == 1, "never over"
    assert said == want
    assert int(dut.user__errors.value) == errors
    if values["slow"] == 1:
        waits = sum(name == "unfinished" or name not in KEPT for name in want)
        assert cycle + 1 == waits + {Ending.FAIL: 1, Ending.DOOMED: 2}.get(ending, 0)
    if "complete" in payloads:
        complete = payloads["complete"]
        assert complete["queue"] == QUEUE and complete["length"] == (0 if errors else 99)
        assert complete["status"] & 0x1FF == errors
    if "break_" in payloads:
        lost = Event.POST_DESC if fields.get("silent") else Event.CONN_LOST
        assert payloads["break_"] == {"vi": QUEUE >> 1, "event": lost}
    if "control_packet" in payloads:
        assert payloads["control_packet"]["kind"] == PacketKind.BREAK
        assert payloads["event"] == {"code": Event.RDMAR_PROT, "number": QUEUE >> 1}
    assert payloads.get("wake", QUEUE) == QUEUE


@pytest.mark.parametrize("slow", [1, 3])
@pytest.mark.parametrize("case", CASES)
def test_ends(case: str, slow: int) -> None:
    run_bench(JobEnd(), __file__, testcase="ends", case=case, slow=slow)
