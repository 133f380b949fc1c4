"""VIA's firmware under random programs, good and bad: nothing hangs, nothing is lost.

The programs of via_model/test_random, without Reliable Reception; an RDMA read is malformed.
"""

import random

import pytest
from nicbed.layouts.via import Event

from tests.labs.firmware_cases import on_firmware
from tests.labs.on_simulator import Case
from tests.labs.via_model import RD, run
from tests.via_model import test_random as test_via_model_random

CASE = Case("tests.via_model.test_random", "test_random_programs", 0, {})
SEEDS = {"queue": (0, 60), "words": (100, 130)}


def play(seed: int, doorbells: str, monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Codes of the events that there were."""
    monkeypatch.setattr(test_via_model_random, "RR", RD)
    draw = random.Random(seed)
    loss = draw.choice([0, 0, 0.05, 0.4])
    knobs = {"via__page_bytes": draw.choice([1024, 4096]), "via__window": draw.choice([1, 4, 8]),
             "nic__mtu": draw.choice([64, 1024]), "via__retry_timeout": 2000, "via__retries": 8,
             "faults__seed": seed}
    if loss:
        knobs |= {"faults__drop": loss, "faults__duplicate": 0.05, "faults__corrupt": 0.02,
                  "faults__delay": 0.05, "faults__delay_cycles": 2000}
    regions: dict[int, object] = {}
    ready: list[int] = []

    async def program(raw):
        return await test_via_model_random.play(raw, seed, regions, ready)

    with on_firmware(CASE, doorbells):
        found = run(program, program, limit=2_000_000, **knobs)
    return set().union(*(events for _, events in found))


@pytest.mark.parametrize("doorbells", ["queue", "words"])
def test_a_few_random_programs(doorbells, monkeypatch):
    for seed in range(2):
        play(seed, doorbells, monkeypatch)


@pytest.mark.full
@pytest.mark.parametrize("doorbells", ["queue", "words"])
def test_random_programs(doorbells, monkeypatch):
    """Over the seeds every asynchronous error is met that firmware reports."""
    events: set[int] = set()
    for seed in range(*SEEDS[doorbells]):
        events |= play(seed, doorbells, monkeypatch)
    assert events >= {Event.POST_DESC, Event.CONN_LOST, Event.RECVQ_EMPTY, Event.VI_OVERRUN,
                      Event.RDMAW_PROT}
