"""VIA's firmware on the NIC processor: the promises of the engine's tests, on the model target.

The same functions as on the engine (docs/reference/via-conformance.md), run by the real image;
a few of each file at each change, all of them with ``--full``. What is left out, and why:
:mod:`tests.labs.firmware_cases`.
"""

import importlib
import re
from pathlib import Path
from typing import Any

import pytest
from nicbed.firmware.build import image
from nicbed.host.via.engine.firmware import Command
from nicbed.host.via.kernel import Kernel
from nicbed.layouts.via import ADDRESS, EVENT, Doorbell, Event, RemoteOperation

from tests.labs import via_model as via_model_lab
from tests.labs.firmware_cases import (
    MODULES,
    OTHERWISE,
    UNSUPPORTED,
    FirmwareModel,
    chosen,
    on_firmware,
    with_firmware,
)
from tests.labs.on_simulator import Case, cases
from tests.labs.via_model import RD, status
from tests.programs import vipl as vipl_programs
from tests.programs.vipl import SMALL, SUCCESS, UD, connect, describe

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


def test_an_event_before_a_late_clear_interrupts_again() -> None:
    """The interrupt is cleared by a write that a slow bus is late to take. Messages on two VIs make
    two events, at several distances; after the second one nothing else would wake the receiver."""
    distances = (0, 40, 400)

    async def post(side: Any, call: Any, vi: Any) -> None:
        va, handle = await side.make(side.segment(0, 4))
        assert await call(vi, va, handle) is SUCCESS

    async def both(side: Any) -> list[Any]:
        vis = [side.vi, await side.create()]
        await connect(side.vipl, side.nic, vis[1], side.other, client=side.node.number == 0,
                      port=b"second")
        return vis

    async def sender(side: Any) -> None:
        vipl, port, vis = side.vipl, side.node.port, await both(side)
        for _ in distances:
            await post(side, vipl.VipPostRecv, vis[0])
        for distance in distances:
            assert (await vipl.VipRecvWait(vis[0], None))[0] is SUCCESS
            made = [await side.make(side.segment(0, 4)) for _ in vis]
            await port.delay(3000)
            for vi, (va, handle) in zip(vis, made, strict=True):
                assert await vipl.VipPostSend(vi, va, handle) is SUCCESS
                await port.delay(1 + distance)
                await port.flush()
            for vi in vis:
                assert (await vipl.VipSendWait(vi, None))[0] is SUCCESS

    async def receiver(side: Any) -> None:
        vipl, kernel, vis = side.vipl, side.node.service(Kernel), await both(side)
        for _ in distances:
            seen: list[Any] = []
            for vi in vis:
                await post(side, vipl.VipPostRecv, vi)
                await vipl.VipRecvNotify(vi, None, lambda *told, seen=seen: seen.append(told))
            await post(side, vipl.VipPostSend, vis[0])
            assert (await vipl.VipSendWait(vis[0], None))[0] is SUCCESS
            while len(seen) < len(vis):
                await kernel.doze(None)

    case = Case("tests.host.via.vipl.test_completions", "test_waiting_never_misses_one", 0, {})
    with on_firmware(case):
        vipl_programs.run_pair(sender, receiver, UD, limit=200_000, via__spin=0,
                               bus__pio_write=300, nic__irq_latency=1000, cpu__path_scale=0)


def test_the_count_of_events_taken_arrives_before_another_cpu_takes_more() -> None:
    """It is the kernel's, and posted: a count that comes behind a later one takes that back."""
    model = FirmwareModel(describe(SMALL, {"node.cpus": 2, "bus.pio_write": 300}))

    async def program(cpu: Any) -> int:
        cpu.share_nic()
        kernel = cpu.kernel(Kernel)
        async with kernel.lock.held():
            await kernel.start()
        provider, port = kernel.provider, cpu.port
        await port.delay(began - await port.flush() + 100 * cpu.cpu)
        await port.flush()
        async with kernel.lock.held():
            if cpu.cpu:
                return await port.pio_read(provider._taken_at)
            event = EVENT.pack(code=Event.CQ_READY, valid=1)
            cpu.memory.write(provider._events, event.to_bytes(8, "little"))
            return len(await provider.events())

    began = 2_000_000
    assert model.run([[program] * 2, None], limit=500_000).results[0] == [1, 1]


def test_tests_that_are_left_out_exist() -> None:
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
