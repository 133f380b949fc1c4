"""Firmware on a node's NIC processor: loading, commands and queues, on the functional target."""

import random
from pathlib import Path
from typing import Any

import pytest
from nicbed.firmware.build import BuildError, image
from nicbed.host.port.node import Node
from nicbed.host.processor import Mailbox, NicProcessor, ProcessorError
from nicbed.host.processor import describe as in_words
from nicbed.host.processor.loader import load_sum
from nicbed.layouts.processor import CrashReason, State
from nicbed.layouts.registers import address
from nicbed.testbench.backends.model.processor import ModelProcessor

from tests.models.target import Model
from tests.programs.firmware import FIRMWARE, LIMIT, describe, echoing, lengths, turning

CORES = ("serv", "picorv32", "vexriscv")


def run(program: Any, **sections: Any) -> Any:
    """The result of ``program`` on node 0."""
    core = sections.pop("core", "picorv32")
    model = Model(describe(core, **sections))
    return model.run([program, None], limit=20 * LIMIT).results[0]


@pytest.mark.parametrize("core", CORES)
def test_the_example_turns_packets_around(core: str) -> None:
    count = 25
    back, turned = Model(describe(core)).run(turning(count), limit=20 * LIMIT).results
    sent = lengths(count, 1024, 1)
    assert turned == count and [data for _, data in back] == sent
    assert all((header["source"], header["destination"], header["length"]) == (1, 0, len(data))
               for header, data in back)


def test_states_and_restart() -> None:
    async def program(node: Node) -> None:
        processor = node.service(NicProcessor)
        assert node.service(NicProcessor) is processor
        assert await processor.state() is State.RESET and processor.image is None
        for name in (FIRMWARE / "echo", "turnaround", FIRMWARE / "echo"):
            started = await processor.start(name)
            await node.port.delay(2000)
            assert await processor.state() is State.ASLEEP
            assert node.firmware is processor.image is started and started.name == Path(name).name
        await processor.stop()
        assert await processor.state() is State.RESET and node.firmware is None
        with pytest.raises(ProcessorError, match="no firmware runs on node 0"):
            processor.symbol("ready")
    run(program)


@pytest.mark.parametrize("core", ["picorv32", "serv"])
def test_ready_of_an_earlier_start_does_not_count(core: str) -> None:
    """NIC memory keeps what it held, so "ready" comes with what is loaded."""
    made = image(FIRMWARE / "echo", core)
    assert made.symbols["ready"].address + 8 <= len(made.code)

    async def program(node: Node) -> None:
        processor = node.service(NicProcessor)
        for number in range(3):
            await processor.start(FIRMWARE / "echo")
            mailbox = Mailbox(processor)
            assert await mailbox.call(2, number, 0, 0, 0, 0, 100) == 0
            assert await mailbox.answer() == number + 100
    run(program, core=core)


@pytest.mark.parametrize("doorbells", ["queue", "words"])
def test_commands(doorbells: str) -> None:
    async def program(node: Node) -> None:
        processor = node.service(NicProcessor)
        node.port.process = 5
        await processor.start(FIRMWARE / "echo")
        mailbox = Mailbox(processor)
        rng = random.Random(3)
        for _ in range(5):
            words = [2, *(rng.getrandbits(64) for _ in range(6))]
            assert await mailbox.call(*words) == 0
            assert await mailbox.answer() == (words[1] + words[6]) % (1 << 64)
            assert await mailbox.answer(1) == words[1] ^ words[6]
        assert await mailbox.call(9) == 77
        assert node.port.process == 5
        with pytest.raises(ValueError, match="1 to 7 words, not 8"):
            await mailbox.call(*range(8))
        await processor.stop()
        processor.image = node.firmware
        with pytest.raises(ProcessorError, match="firmware of node 0 does not answer command 0x2 "
                                                 "within 5000 cycles"):
            await mailbox.call(2, limit=5000)
    run(program, processor={"doorbells": doorbells})


@pytest.mark.parametrize("core", ["picorv32", "serv"])
@pytest.mark.parametrize("kind", ["queue", "words", "coherent"])
@pytest.mark.parametrize("keep, seed", [(1, 1), (1, 2), (8, 3), (4, 4)])
def test_queues(core: str, kind: str, keep: int, seed: int) -> None:
    sections = {"processor": {"doorbells": "words" if kind == "words" else "queue"},
                "nic": {"attachment": "memory_bus" if kind == "coherent" else "io_bus"}}
    sent, found = run(echoing(64, seed, kind == "coherent", keep), core=core, **sections)
    assert found == sent


def test_no_processor() -> None:
    async def program(node: Node) -> None:
        with pytest.raises(ProcessorError, match=r"this NIC has no processor \(nic.processor = "):
            node.service(NicProcessor)
    run(program, core="none")


def test_wrong_images() -> None:
    async def program(node: Node) -> None:
        processor = node.service(NicProcessor)
        with pytest.raises(BuildError, match="there is no firmware 'nix'"):
            await processor.start("nix")
        with pytest.raises(ValueError, match="has no parameter 'nix'"):
            await processor.start("turnaround", {"nix": 1})
        await processor.start("turnaround")
        with pytest.raises(ProcessorError, match="firmware turnaround has no object 'nix'"):
            processor.address("nix")
    run(program)


@pytest.mark.parametrize("how, text", [
    ("flip", "loading NIC memory of node 0: load_sum is 0x[0-9a-f]+, of what was written it is"),
    ("lose", r"loading NIC memory of node 0: load_words is \d+, \d+ words were written"),
])
def test_what_did_not_arrive_is_noticed(how: str, text: str, monkeypatch: pytest.MonkeyPatch
                                        ) -> None:
    real = ModelProcessor.window_write

    def wrong(self: ModelProcessor, offset: int, word: int, process: int) -> None:
        if offset != 64:
            real(self, offset, word, process)
        elif how == "flip":
            real(self, offset, word ^ 1 << 40, process)
    monkeypatch.setattr(ModelProcessor, "window_write", wrong)

    async def program(node: Node) -> None:
        with pytest.raises(ProcessorError, match=text):
            await node.service(NicProcessor).start("turnaround")
        assert await node.service(NicProcessor).state() is State.RESET
    run(program)


def test_never_ready() -> None:
    async def program(node: Node) -> None:
        with pytest.raises(ProcessorError, match="firmware crashes of node 0 is not ready after "
                                                 r"5000 cycles: asleep at main\+0x"):
            await node.service(NicProcessor).start(FIRMWARE / "crashes", {"how": 102}, limit=5000)
    run(program)


def test_pages_belong_to_a_process() -> None:
    async def program(node: Node) -> int:
        processor, port = node.service(NicProcessor), node.port
        await processor.start(FIRMWARE / "echo")
        await processor.own("slots", 7)
        place = processor.address("slots", 8)
        for process, word in ((7, 11), (6, 12), (0, 13)):
            port.process = process
            await port.pio_write(place, word, posted=False)
            assert await port.pio_read(place) == {7: 11, 6: 0, 0: 13}[process]
        port.process = 7
        await port.pio_write(processor.address("ready"), 5, posted=False)
        port.process = 0
        return await port.pio_read(processor.address("ready"))
    assert run(program) == 1


def test_a_new_start_takes_all_pages_back() -> None:
    async def program(node: Node) -> tuple[int, int]:
        processor, port = node.service(NicProcessor), node.port
        for _ in range(2):
            await processor.start(FIRMWARE / "echo")
            place = processor.address("slots", 8)
            port.process = 7
            await port.pio_write(place, 11, posted=False)
            await port.pio_write(processor.doorbell(5), 1, posted=False)
            port.process = 0
            assert await port.pio_read(place) == 0
            refused = await port.pio_read(address("page_refused"))
            await processor.own("slots", 7)
            await processor.own_doorbell(5, 7)
        return refused, await port.pio_read(address("window_refused"))
    assert run(program) == (2, 2)


def test_the_sum_is_sensitive_to_order() -> None:
    assert load_sum([]) == 0 and load_sum([1, 2]) == 4 and load_sum([2, 1]) == 5
    assert load_sum([1 << 63, 0]) == 1


@pytest.mark.parametrize("reason, cause, text", [
    (CrashReason.TRAP, 0, "a trap: an illegal or misaligned instruction or access at gives_up"),
    (CrashReason.EXCEPTION, 2,
     "illegal instruction at gives_up+0x0 (tests/firmware/crashes/main.c:"),
    (CrashReason.EXCEPTION, 99, "exception 0x63 at"),
    (CrashReason.WATCHDOG, 0, "the watchdog expired: awake for processor.watchdog cycles"),
    (CrashReason.PANIC, 18, "panic with code 0x12 at"),
    (CrashReason.PANIC, 0xFFFF0000, "main() returned at"),
    (CrashReason.BUS, 0x40000000, "an access to address 0x40000000, where there is no memory at"),
    (CrashReason.BUS, 0x80000FF0, "an access to address 0x80000ff0, where there is no register"),
])
def test_crashes_in_words(reason: CrashReason, cause: int, text: str) -> None:
    made = image(FIRMWARE / "crashes", "vexriscv")
    pc = made.symbols["gives_up"].address
    assert text in in_words(made, reason, pc, cause)
    assert "no firmware was started" in in_words(None, reason, pc, cause)

