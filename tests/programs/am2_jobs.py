"""Jobs for a target whose nodes are clumps: random programs of Active Messages II, and crowds."""

from collections import Counter
from random import Random
from typing import Any

from nicbed.host.am2 import GamOverAm2
from nicbed.host.port.node import Node
from nicbed.testbench.lab import Lab

from tests.programs.am2_random import NO_REPLY, SHORT, Plan, Ran, Request, check, programs
from tests.programs.target_jobs import as_rows

LIMIT = 100_000_000


def crowd(cpus: int, each: int, to_one: bool) -> Plan:
    """Each process sends so many requests as fast as it can: all to process 0, or to all in turn,
    itself among them. One in eight has bulk data."""
    plan = Plan("crowd", cpus, 0)
    for cpu in range(cpus):
        for number in range(each * (cpu > 0 or not to_one)):
            name = len(plan.requests) + 1
            bulk = number % 8 == 3
            plan.requests[name] = Request(
                name, cpu, 0 if to_one else (cpu + number) % cpus, False,
                "bulk" if bulk else "short", SHORT if number % 3 else NO_REPLY, 200 * bulk, 0)
            plan.does[cpu].append(("send", name))
    return plan


def ends(seed: int, cpus: int) -> Plan:
    """One process ends in the middle."""
    draw = Random(f"job {seed}")
    plan = Plan(f"job {seed}", cpus, 10)
    plan.cuts[draw.randrange(cpus)] = draw.randrange(60, 500), False
    return plan


async def run_plans(lab: Lab, crowds: list[tuple[int, bool]] = [], seeds: list[int] = [],  # noqa: B006
                    cut: list[int] = [], actions: int = 10, trace: bool = False) -> list[Any]:  # noqa: B006
    """Run crowds (how many each sends; whether to one), random programs, and those of which a
    process ends, on node 0; all that came of it."""
    cpus, found = lab.description.node.cpus, []
    plans = ([crowd(cpus, *one) for one in crowds]
             + [Plan(f"job {seed}", cpus, actions) for seed in seeds]
             + [ends(seed, cpus) for seed in cut])
    for plan in plans:
        ran = Ran()
        nodes = [None] * (lab.description.fabric.nodes - 1)
        run = await lab.run([programs(plan, ran), *nodes], trace=trace, limit=LIMIT)
        results = run.results[0]
        check(plan, ran, {cpu for cpu, result in enumerate(results) if result != "terminated"})
        found.append({**as_rows(run), "handled": ran.handled, "answered": ran.answered,
                      "back": [(number, int(reason)) for number, reason in ran.back]})
    return found


async def handled_of_each(lab: Lab, cycles: int) -> list[int]:
    """All processes of node 0 send to process 0 as fast as they can, for so many cycles; how many
    requests of each other one it has handled by then."""
    cpus, handled, finished = lab.description.node.cpus, Counter[int](), Counter[str]()

    async def program(node: Node) -> None:
        am = GamOverAm2(node)

        def counts(_: Any, __: int, sender: int) -> None:
            handled[sender] += node.port.cycle < cycles

        am.register(counts)
        await am.enable()
        if am.number:
            while node.port.cycle < cycles:
                await am.request(0, 0, am.number)
            finished["senders"] += 1
        else:
            while finished["senders"] < cpus - 1:
                await am.poll()
        await am.disable()

    await lab.run([[program] * cpus, *[None] * (lab.description.fabric.nodes - 1)], trace=False,
                  limit=10 * cycles)
    return [handled[sender] for sender in range(1, cpus)]
