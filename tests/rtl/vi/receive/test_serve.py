"""Services of manager and sender: what completes, what is kept, in how many cycles."""

from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.layouts.via import RemoteOperation, Status
from nicbed.rtl.vi.receive.receive_state import Message
from nicbed.rtl.vi.receive.serve import Serve, Service
from nicbed.rtl.vi.receive.turn import StatusLayout
from nicbed.rtl.vi.types import Address, Completion, Control, ControlAction, Reading

from tests.labs.bench import parameters, reset_and_clock, run_bench, unpack
from tests.models.vi.consumer import field

VI = 5
HELD, READ, AHEAD = (field(Address, va=va, handle=1) for va in (0x100, 0x200, 0x300))
RECEIVE, RDMA_READ = int(RemoteOperation.RECEIVE), int(RemoteOperation.RDMA_READ)
PARTIAL = Status.FLUSHED | Status.PARTIAL

CASES: dict[str, tuple[Service, dict[str, int], list[tuple[int, int, int]], int]] = {
    # Service; state of the VI; what completes: address, operation, errors; cycles.
    "connect": (Service.CONTROL, {"action": ControlAction.CONNECT.value, "held": 1, "read": 1}, [],
                2),
    "abort": (Service.CONTROL, {"action": ControlAction.ABORT.value}, [], 2),
    "abort a message": (
        Service.CONTROL, {"action": ControlAction.ABORT.value, "held": 1, "begun": 1, "bytes": 9},
        [(HELD, RECEIVE, PARTIAL)], 2),
    "abort what was taken ahead": (
        Service.CONTROL, {"action": ControlAction.ABORT.value, "ahead": 1},
        [(AHEAD, RECEIVE, Status.FLUSHED)], 2),
    "abort a message and a read": (
        Service.CONTROL, {"action": ControlAction.ABORT.value, "held": 1, "read": 1, "landed": 8},
        [(HELD, RECEIVE, Status.FLUSHED), (READ, RDMA_READ, PARTIAL)], 3),
    "a read begins": (Service.READING, {"connected": 1}, [], 1),
    "a read comes too late": (Service.READING, {}, [(READ, RDMA_READ, Status.FLUSHED)], 2),
    "a read is lost": (Service.READ_LOST, {"read": 1, "landed": 4},
                       [(READ, RDMA_READ, Status.TRANSPORT | Status.PARTIAL)], 2),
    "no read is lost": (Service.READ_LOST, {}, [], 2),
}


@cocotb.test()
async def serves(dut: Any) -> None:
    values = parameters()
    service, state, want, cycles = CASES[values["case"]]
    await reset_and_clock(dut)
    edge = RisingEdge(dut.clk)
    dut.control__payload.value = field(Control, vi=VI, action=state.get("action", 0))
    dut.reading__payload.value = field(Reading, vi=VI, address=READ)
    dut.message.value = field(Message, held=state.get("held", 0), begun=state.get("begun", 0),
                              bytes=state.get("bytes", 0), address=HELD)
    dut.kept_reading.value = field(Message, held=state.get("read", 0),
                                   bytes=state.get("landed", 0), address=READ)
    dut.void__held.value, dut.void__address.value = state.get("ahead", 0), AHEAD
    dut.connected.value = state.get("connected", 0)
    dut.user__valid.value, dut.user__service.value, dut.user__vi.value = 1, service.value, VI
    await edge
    dut.user__valid.value = 0
    done, taken, stored, forgot, voided = [], [], set(), False, False
    for cycle in range(1, 30):
        dut.complete__ready.value = int(cycle % values["slow"] == 0)
        await edge
        if dut.complete__valid.value == 1 and dut.complete__ready.value == 1:
            one = unpack(Completion, int(dut.complete__payload.value))
            status = unpack(StatusLayout, one["status"])
            assert one["queue"] == 2 * VI + (status["operation"] == RECEIVE)
            assert one["length"] == 0
            done.append((one["address"], status["operation"], status["errors"] << 1))
        taken += [name for name in ("control", "reading", "read_lost")
                  if getattr(dut, f"{name}__ready").value == 1]
        for name in ("sequence", "message", "reading"):
            if getattr(dut, f"stores__write_{name}").value == 1:
                stored.add((name, int(getattr(dut, f"stores__next_{name}").value)))
        forgot |= dut.forgets.value == 1
        voided |= dut.void__valid.value == 1
        assert dut.user__controls.value == int(service is Service.CONTROL)
        if dut.user__over.value == 1:
            break
    assert dut.user__over.value == 1, "never over"
    assert done == want
    assert taken == [service.name.lower()]
    assert values["slow"] > 1 or cycle == cycles
    assert voided == (service is Service.CONTROL)
    assert forgot == (state.get("action") == ControlAction.CONNECT.value)
    read = {("reading", field(Message, held=1, address=READ))}
    assert stored == {Service.CONTROL: {(name, 0) for name in ("sequence", "message", "reading")},
                      Service.READING: read if state.get("connected") else set(),
                      Service.READ_LOST: {("reading", 0)}}[service]


@pytest.mark.parametrize("slow", [1, 4])
@pytest.mark.parametrize("case", CASES)
def test_serves(case: str, slow: int) -> None:
    run_bench(Serve(), __file__, testcase="serves", case=case, slow=slow)
