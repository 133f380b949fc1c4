"""VIA's firmware on the NIC processor: the promises of the engine's tests, on the model target.

The same functions as on the engine (docs/via-conformance.md), run by the real image; a few of each
file at each change, all of them with ``--full``. What is left out, and why:
:mod:`tests.labs.firmware_cases`.
"""

import importlib
import re
from pathlib import Path
from typing import Any

import pytest
from nicbed.firmware.build import image
from nicbed.host.via.engine.firmware import Command
from nicbed.layouts.via import ADDRESS, Doorbell, RemoteOperation

from tests.labs import via_model as via_model_lab
from tests.labs.firmware_cases import (
    MODULES,
    OTHERWISE,
    UNSUPPORTED,
    chosen,
    on_firmware,
    with_firmware,
)
from tests.labs.on_simulator import Case, cases
from tests.labs.via_model import RD, status
from tests.programs.vipl import SMALL, describe

FIRMWARE = Path(__file__).parents[4] / "firmware" / "via"
QUICK = {
    "test_a_message_arrives", "test_an_event_at_the_next_completion", "test_rdma_write",
    "test_disconnecting_flushes_and_a_reliable_peer_loses_its_connection",
    "test_a_deregistered_handle_never_translates_again", "test_rdma_write_refused_at_the_target",
    "test_the_states_of_a_vi", "test_too_many_posted_is_vi_overrun",
}
"""One case of each at each change."""
WORDS = QUICK | {"test_a_completion_queue", "test_descriptors_posted_again_and_again",
                 "test_waiting_never_misses_one"}
"""Those that run with doorbells as words, too; but those that are about the queue."""
QUEUE = {"test_too_many_posted_is_vi_overrun"}
CASES = chosen()


def marked(case: Case, quick: set[str] = QUICK) -> object:
    """``case`` as a parameter, always run or only with ``--full``."""
    always = case.name in quick and case is next(
        one for one in CASES if (one.module, one.name) == (case.module, case.name))
    return pytest.param(case, id=str(case), marks=[] if always else [pytest.mark.full])


@pytest.mark.parametrize("case", [marked(case) for case in CASES])
def test_as_the_engine(case: Case) -> None:
    with on_firmware(case):
        case.function(**case.arguments)


@pytest.mark.parametrize("case", [marked(case, {"test_a_message_arrives", "test_rdma_write"})
                                  for case in CASES if case.name in WORDS - QUEUE])
def test_with_doorbells_as_words(case: Case) -> None:
    with on_firmware(case, "words"):
        case.function(**case.arguments)


@pytest.mark.parametrize("doorbells", ["queue", "words"])
def test_a_token_that_is_overwritten_is_found(doorbells: str) -> None:
    """Three on an empty queue at once: as words the firmware sees the last; Next leads from the
    first, which it looks up, to the others."""
    async def sender(side: Any) -> None:
        words = []
        for place in (0, 64, 128):
            side.raw.write(side.descriptors, place, [side.data.at(place, 8)])
            va, handle, _ = side.descriptors.at(place)
            side.descriptors.write(place, (va + 64).to_bytes(8, "little")
                                   + handle.to_bytes(4, "little"))
            words.append(ADDRESS.pack(va=va, handle=handle))
        for _ in range(2):
            await side.raw.burst(1, Doorbell.SEND, *words)
            for place in (0, 64, 128):
                assert await side.done(place) == (status(RemoteOperation.SEND), 8)
                side.descriptors.write(place + 28, bytes(4))

    async def receiver(side: Any) -> None:
        for _ in range(6):
            await side.receive(64)

    case = Case("tests.via_model.test_messages", "test_a_message_arrives", 0, {})
    with on_firmware(case, doorbells):
        via_model_lab.run_pair(RD, sender, receiver)


@pytest.mark.parametrize("command", list(Command))
def test_a_command_with_a_number_that_is_none(command: Command) -> None:
    """Answered, and nothing is reached that is not there."""
    async def sender(side: Any) -> None:
        for number in (1 << 10, 1 << 20, 1 << 31, (1 << 32) - 1):
            assert await side.raw.mailbox.call(command, number, 1, 2, 3, 4) == 0

    async def receiver(side: Any) -> None:
        pass

    with on_firmware(Case("tests.via_model.test_messages", "test_a_message_arrives", 0, {})):
        via_model_lab.run_pair(RD, sender, receiver)


def test_what_is_left_out_is_there() -> None:
    """No name of a test that is left out, or always run, is out of date."""
    names = {case.name for name in MODULES for case in cases(importlib.import_module(name))}
    assert QUICK | WORDS <= names
    assert set(OTHERWISE) | set(UNSUPPORTED) <= names


def test_commands_have_the_same_numbers_on_both_sides() -> None:
    text = (FIRMWARE / "via_fw.h").read_text()
    names = re.search(r"enum command \{(.*?)\}", text, re.S)
    assert names is not None
    found = [name.strip().split(" ")[0] for name in names[1].split(",")]
    assert found == [f"COMMAND_{command.name}" for command in Command]
    assert [int(command) for command in Command] == list(range(1, len(Command) + 1))
    description = with_firmware(describe(SMALL, {}))
    assert description.via.design == "firmware"


@pytest.mark.parametrize("core", ["picorv32", "serv", "vexriscv"])
def test_firmware_fits_the_least_memory(core: str) -> None:
    """64 KiB of NIC memory have room for code, the stack and 40 KiB of tables."""
    assert image("via", core, 65536).stack > 40 << 10
