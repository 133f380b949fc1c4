"""Random programs on the VI engines of the real target, held against their model.

``nicbed test`` runs 30 programs; ``--full`` 10,000, on a target without a send ring whose memories
are as unkind as a device's (:mod:`tests.models.unkind_target`).
"""

import time
import traceback
from typing import Any

import pytest
from nicbed.layouts.description import Description
from nicbed.layouts.via import ADDRESS, Doorbell, Event, Status, ViCommand
from nicbed.testbench.backends.job import Job
from nicbed.testbench.backends.session import perform, run_job
from nicbed.testbench.lab import apply_settings

from tests.models.target import Model
from tests.programs.am import describe
from tests.programs.via_random.judge import judge, same_events
from tests.programs.via_random.play import Program
from tests.programs.via_raw import Raw
from tests.programs.vipl import SMALL

LIMIT = 3_000_000
"""Cycles that a program may take."""
STATUSES = Status.ERRORS
"""Every bit that there is."""
EVENTS = {Event.POST_DESC, Event.CONN_LOST, Event.RECVQ_EMPTY, Event.VI_OVERRUN, Event.RDMAW_PROT,
          Event.RDMAR_PROT, Event.COMP_PROT}
"""By random programs; CATASTROPHIC by :func:`flooded`. No block raises the others."""


async def run_programs(lab: Any, seeds: list[int]) -> tuple[dict[int, str], int, set[int], int]:
    """In the simulator's process: what was wrong by seed; statuses, events, most cycles of all."""
    wrong: dict[int, str] = {}
    statuses, events, most = 0, set(), 0
    for number, seed in enumerate(seeds):
        if number % 20 == 0:
            lab.progress(f"programs, {len(wrong)} wrong", number, len(seeds))
        program, model = Program(seed), Program(seed)
        try:
            run = await lab.run(program.programs, settings=program.settings, limit=LIMIT,
                                marks=False)
            most = max(most, run.cycles)
            judge(program)
            target = Model(apply_settings(lab.description, model.settings))
            target.run(model.programs, limit=LIMIT)
            judge(model)
            same_events(program, model)
        except Exception as error:
            wrong[seed] = f"{error}\n{traceback.format_exc()}"
        for outcome in program.outcomes[0] + program.outcomes[1]:
            events |= {code for code, _ in outcome.events}
            for words in outcome.words.values():
                for word in words:
                    statuses |= word[0]
    return wrong, statuses, events, most


async def flooded(node: Any) -> tuple[list[tuple[int, int]], list[int]]:
    """A queue too long, then more events than there is room for; the NIC goes on."""
    raw = Raw(node)
    await raw.open()
    region = await raw.region(4096)
    await raw.create(3)
    raw.write(region, 0, [])
    raw.write(region, 64, [])
    raw.last.clear()
    word = ADDRESS.pack(va=region.va, handle=region.handle)
    region.write(0, region.va.to_bytes(8, "little") + region.handle.to_bytes(4, "little"))
    depth = raw.via.queue_depth
    for _ in range(depth + 1):
        await raw.ring(3, Doorbell.RECEIVE, word)
    overrun = await raw.events()
    counts = [await raw.get("vi_posted") >> 16]
    await raw.command(3, ViCommand.DISCONNECT)
    await raw.port.delay(200 * depth)
    counts.append(await raw.get("vi_completed") >> 16)
    await raw.create(4)
    for _ in range(raw.via.events + 5):
        await raw.ring(4, Doorbell.SEND, ADDRESS.pack(va=region.va + 8, handle=region.handle))
        await raw.port.delay(100)
    return overrun + await raw.events() + [(-1, await raw.get("events_lost"))], counts


async def run_flooded(lab: Any) -> Any:
    run = await lab.run([flooded, None], limit=20_000_000)
    return run.results[0]


def description(**knobs: Any) -> Description:
    return describe({**SMALL, **knobs}, {"via.design": "engine"})


def on_target(function: str, unkind: bool = False, **arguments: Any) -> Any:
    if unkind:
        return perform(Job(description(**{"nic.send_ring": 0}), function=f"{__name__}:{function}",
                           arguments=arguments, target="tests.models.unkind_target:UnkindTarget"))
    return run_job(description(), function=f"{__name__}:{function}", arguments=arguments)


def check(seeds: list[int], unkind: bool = False) -> None:
    begin = time.monotonic()
    wrong, statuses, events, most = on_target("run_programs", unkind, seeds=seeds)
    print(f"{len(seeds)} programs, at most {most} cycles, {time.monotonic() - begin:.0f} s")
    assert not wrong, f"{len(wrong)} of {len(seeds)}: {sorted(wrong)[:50]}\n" + "\n".join(
        f"seed {seed}: {text}" for seed, text in list(wrong.items())[:5])
    assert statuses & Status.ERRORS == STATUSES, hex(statuses)
    assert statuses >> 16 & 7 == 7 and statuses & Status.IMMEDIATE
    assert EVENTS <= events, EVENTS - events


def test_the_model_passes():
    """What the model makes of the programs is allowed, whatever its timing.

    The last four: a long send with a bad segment beside reads alone; two plans that are drawn
    anew since the memory cannot hold them; a send that its bad segment makes too long.
    """
    for seed in [*range(40), 3965, 1120, 4648, 7621]:
        program = Program(seed)
        Model(describe(SMALL, program.settings)).run(program.programs, limit=LIMIT)
        judge(program)


def test_random_programs():
    """30 programs of 8 VIs a node, two rounds of some 100 descriptors each."""
    check(list(range(30)))


@pytest.mark.full
def test_many_random_programs():
    check(list(range(30, 10_060)), unkind=True)


def test_floods():
    """VI_OVERRUN by a work queue, and CATASTROPHIC."""
    found, counts = on_target("run_flooded")
    depth, room = description().via.queue_depth, description().via.events
    assert found[0] == (Event.VI_OVERRUN, 3)
    assert counts == [depth, depth]
    assert found[1:] == [(Event.POST_DESC, 4)] * (room - 1) + [(Event.CATASTROPHIC, 0), (-1, 6)]
