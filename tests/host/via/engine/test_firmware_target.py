"""VIA's firmware on the real target: cases of host/via/engine/test_firmware in simulators, and
latency."""

from typing import Any

import pytest
from nicbed.layouts.description import Description
from nicbed.testbench.backends.session import run_job

from tests.host.via.test_target import MODEL_ONLY
from tests.labs.firmware_cases import chosen
from tests.programs.vipl import SMALL, describe

JOBS = "tests.programs.via_firmware_jobs"
FEW = {"test_a_message_arrives", "test_rdma_write", "test_rdma_write_refused_at_the_target",
       "test_an_event_at_the_next_completion", "test_the_states_of_a_vi",
       "test_a_deregistered_handle_never_translates_again", "test_too_many_posted_is_vi_overrun"}
"""Always; the first case of every function with ``--full``."""
BATCH = 16
NOT_SO = {
    "test_packets_of_no_connection_are_dropped_and_counted": "wants three nodes",
}
"""Takes another target for granted."""
NOT_OF_WORDS = {
    "test_a_completion_queue_s_page_belongs_to_its_process":
        "a write where no word is, is refused and counted",
    "test_a_doorbell_of_another_process_is_refused_and_counted":
        "arming is a command of the mailbox, at whatever offset",
    "test_unreliable_messages_arrive_at_most_once_in_order_and_whole":
        "posts more than 64 before the firmware has looked, which VIPL does not",
}
"""Takes doorbells for a queue."""



def describe_target(**nic: Any) -> Description:
    """The netlist of the other firmwares' tests: one simulator serves them all."""
    return describe({**SMALL, "memory.bytes": Description().memory.bytes, "via.design": "firmware",
                     "nic.processor": "picorv32", "via.vis": 64, "via.retry_timeout": 200_000,
                     **{f"nic.{name}": value for name, value in nic.items()}}, {})


def job(name: str, nic: dict[str, Any] | None = None, **arguments: Any) -> Any:
    return run_job(describe_target(**(nic or {})), function=f"{JOBS}:{name}", arguments=arguments)


def firsts() -> list[Any]:
    """The first case of every function."""
    found: dict[tuple[str, str], Any] = {}
    for case in chosen():
        if case.name in MODEL_ONLY:
            continue
        found.setdefault((case.module, case.name), case)
    return list(found.values())


def check(cases: list[Any], doorbells: str = "queue", **nic: Any) -> None:
    without = NOT_SO | (NOT_OF_WORDS if doorbells == "words" else {})
    cases = [case for case in cases if case.name not in without]
    found: dict[str, str] = {}
    for at in range(0, len(cases), BATCH):
        found |= job("run_cases_inside", nic, chosen=[tuple(case) for case in cases[at:at + BATCH]],
                     doorbells=doorbells)
    bad = {name: text for name, text in found.items() if text}
    assert not bad, "\n".join([*bad, *(f"{name}: {text}" for name, text in bad.items())])


def few() -> list[Any]:
    return [case for case in firsts() if case.name in FEW]


@pytest.mark.parametrize("doorbells", ["queue", "words"])
def test_a_few_programs(doorbells: str) -> None:
    check(few(), doorbells)


@pytest.mark.full
@pytest.mark.parametrize("core", ["vexriscv", "serv"])
def test_a_few_on_other_cores(core: str) -> None:
    check(few(), processor=core)


@pytest.mark.full
def test_a_few_on_the_memory_bus() -> None:
    check(few(), attachment="memory_bus")


@pytest.mark.full
@pytest.mark.parametrize("doorbells", ["queue", "words"])
def test_one_program_of_each_kind(doorbells: str) -> None:
    check(firsts(), doorbells)


def test_open_vis_cost_latency_only_with_doorbells_as_words() -> None:
    """The hardware queue says which VI; of words all that are open are looked at."""
    times = {(doorbells, vis): job("round_trips", vis=vis, size=4, settings={
        "via.spin": 1 << 20, "processor.doorbells": doorbells})[0][-1]
        for doorbells in ("queue", "words") for vis in (1, 8, 64)}
    queue = [times["queue", vis] for vis in (1, 8, 64)]
    words = [times["words", vis] for vis in (1, 8, 64)]
    assert max(queue) < 1.02 * min(queue) and max(queue) < 14_000
    assert words[0] < words[1] < words[2] and words[2] > 1.5 * words[0]
