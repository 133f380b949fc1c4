"""The VI engine's promises to raw host programs, on the functional model."""

from typing import Any

import pytest
from am_scenarios import describe, pattern
from model_target import Model
from nicbed.layouts.via import Reliability, RemoteOperation, Status
from via_raw import Raw

DONE = int(Status.DONE)
UD, RD, RR = Reliability
RELIABILITIES = [UD, RD, RR]
LEVELS = pytest.mark.parametrize("level", RELIABILITIES, ids=lambda level: level.name)
SMALL = {"via.vis": 8, "via.translations": 256, "via.cache_sets": 4, "memory.bytes": 1 << 20}


def run(*programs: Any, limit: int = 20_000_000, **knobs: Any) -> list[Any]:
    """Results of ``programs``, each called with its node's Raw, opened."""
    description = describe(SMALL, {name.replace("__", "."): value for name, value in knobs.items()})
    model = Model(description)

    def started(program: Any) -> Any:
        async def start(node: Any) -> Any:
            raw = Raw(node)
            await raw.open()
            return await program(raw)
        return start

    return model.run([started(program) for program in programs], limit=limit).results


def status(operation: RemoteOperation, errors: int = 0) -> int:
    return DONE | errors | operation << 16


@LEVELS
@pytest.mark.parametrize("translation", ["cache", "table", "physical"])
@pytest.mark.parametrize("length", [0, 1, 8, 1000, 5000])
def test_a_message_arrives(level, translation, length):
    data = pattern(length, 3)

    async def sender(raw):
        region = await raw.region(16384, start=100)
        region.write(28, data)
        descriptors = await raw.region(4096)
        await raw.connect(1, 1, 2, reliability=level)
        raw.write(descriptors, 64, [region.at(28, length)])
        await raw.port.delay(20000)
        await raw.post(1, descriptors, 64)
        assert await raw.done(descriptors, 64) == (status(RemoteOperation.SEND), length)

    async def receiver(raw):
        region = await raw.region(16384)
        descriptors = await raw.region(4096)
        await raw.connect(2, 0, 1, reliability=level)
        raw.write(descriptors, 0, [region.at(9, 3), region.at(50, length + 5)])
        await raw.post(2, descriptors, 0, receive=True)
        assert await raw.done(descriptors, 0) == (status(RemoteOperation.RECEIVE), length)
        assert region.read(9, 3)[:length] == data[:3]
        assert region.read(50, length)[:max(0, length - 3)] == data[3:]
        assert await raw.get("vi_posted") == 1 << 16
        assert await raw.get("vi_completed") == 1 << 16
        assert await raw.events() == []

    run(sender, receiver, via__translation=translation)
