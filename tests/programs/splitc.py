"""Split-C programs and their checks, which run on any target.

:func:`random_program` compares every primitive with a model of the global memory in plain Python.
"""

import random
import struct
from collections.abc import Callable, Sequence
from typing import Any

from nicbed.host.splitc import GlobalPointer, SplitC

from tests.programs.am import FAULTY, Scenario

WORDS = 48
"""Values that each process has in the random program."""
WORD = 1 << 63


def scenario(main: Callable[[SplitC], Any], check: Callable[[list], None] = lambda results: None, *,
             nodes: int = 3, procedures: Sequence[Callable[..., Any]] = (),
             settings: dict[str, Any] | None = None) -> Scenario:
    """``main(sc)`` on all of ``nodes``."""

    async def program(node):
        async with SplitC(node, procedures) as sc:
            return await main(sc)

    return Scenario([program] * nodes, check, {"fabric.nodes": nodes}, settings or {},
                    limit=100_000_000)


def add_there(sc: SplitC, source: int, address: int, amount: int) -> Any:
    """A procedure: add to the value at ``address``, return the old one's words."""
    memory = sc.node.memory
    old = int.from_bytes(memory.read(address, 8), "little")
    memory.write(address, (old + amount).to_bytes(8, "little"))
    return old & 0xFFFF_FFFF, old >> 32


def put_there(sc: SplitC, source: int, address: int, low: int, high: int) -> None:
    """A procedure: write a value."""
    sc.node.memory.write(address, struct.pack("<II", low, high))


def plan(seed: int, nodes: int, rounds: int) -> list[dict[str, Any]]:
    """Of each round: what each process does, in order; and the global memory behind it.

    In a round each place is written by at most one process, and read only if none writes it. A
    place to which several processes add is neither.
    """
    choose = random.Random(seed)
    memory = [[choose.randrange(WORD) for _ in range(WORDS)] for _ in range(nodes)]
    found = [{"memory": [list(one) for one in memory]}]
    for _ in range(rounds):
        before = [list(one) for one in memory]
        does: list[list[tuple]] = [[] for _ in range(nodes)]
        kept: list[tuple[int, int, int]] = []
        for owner in range(nodes):
            at = 0
            while at < WORDS:
                length = min(choose.choice((1, 1, 1, 2, 5)), WORDS - at)
                kind = choose.choice(("keep", "keep", "keep", "write", "put", "store", "store_by",
                                      "bulk_write", "bulk_put", "bulk_store", "atomic"))
                if kind == "keep":
                    kept.append((owner, at, length))
                    at += length
                    continue
                if not kind.startswith("bulk"):
                    length = 1
                if kind == "atomic":
                    for process in range(nodes):
                        amount = choose.randrange(1000)
                        does[process].append((kind, owner, at, amount))
                        memory[owner][at] += amount
                else:
                    values = [choose.randrange(WORD) for _ in range(length)]
                    does[choose.randrange(nodes)].append((kind, owner, at, values))
                    memory[owner][at:at + length] = values
                at += length
        for process in range(nodes):
            for _ in range(choose.randrange(4, 10)):
                if kept:
                    owner, at, length = choose.choice(kept)
                    kind = choose.choice(("read", "get", "bulk_read", "bulk_get"))
                    length = length if kind.startswith("bulk") else 1
                    does[process].append((kind, owner, at, before[owner][at:at + length]))
            choose.shuffle(does[process])
        # Bytes that arrive at each process by stores.
        stored = [8 * sum(len(step[3]) for mine in does for step in mine
                          if "store" in step[0] and step[1] == owner) for owner in range(nodes)]
        found.append({"does": does, "memory": [list(one) for one in memory], "stored": stored,
                      "counted": choose.random() < 0.5, "root": choose.randrange(nodes),
                      "value": choose.randrange(WORD)})
    return found


def random_program(seed: int = 1, nodes: int = 3, rounds: int = 5,
                   settings: dict[str, Any] | None = None) -> Scenario:
    """Random accesses of all kinds; the memory is compared with the model's after each round."""
    steps = plan(seed, nodes, rounds)

    async def main(sc: SplitC) -> list[str]:
        me, memory = sc.MYPROC, sc.node.memory
        wrong: list[str] = []
        array = await sc.all_spread_malloc(nodes * WORDS, "q")
        landing = sc.node.allocate(8 * WORDS * 32)

        def there(owner: int, at: int) -> GlobalPointer:
            return array[owner + at * nodes]

        def pack(values: Sequence[int]) -> bytes:
            return struct.pack(f"<{len(values)}q", *values)

        base = sc.tolocal(there(me, 0))
        memory.write(base, pack(steps[0]["memory"][me]))
        await sc.barrier()
        for number, step in enumerate(steps[1:], 1):
            expected: list[tuple[str, int, bytes]] = []
            free = landing
            for kind, owner, at, what in step["does"][me]:
                place, where = there(owner, at), f"round {number}: {kind} of {owner}, {at}"
                if kind == "read":
                    if await sc.read(place) != what[0]:
                        wrong.append(where)
                elif kind == "atomic":
                    words = await sc.atomic(owner, add_there, place.address, what)
                    assert len(words) == 2
                elif kind == "store_by":
                    words = struct.unpack("<II", pack(what))
                    await sc.store_by(owner, put_there, place.address, *words)
                elif kind in ("write", "put", "store"):
                    await getattr(sc, kind)(place, what[0])
                elif kind == "get":
                    await sc.get(free, place)
                    expected.append((where, free, pack(what)))
                    free += 8
                else:
                    length = 8 * len(what)
                    if kind in ("bulk_read", "bulk_get"):
                        await getattr(sc, kind)(free, place, length)
                        expected.append((where, free, pack(what)))
                        if kind == "bulk_read" and memory.read(free, length) != pack(what):
                            wrong.append(where + " (at its return)")
                    else:
                        memory.write(free, pack(what))
                        await getattr(sc, kind)(place, free, length)
                    free += length
            assert free <= landing + 8 * WORDS * 32
            await sc.sync()
            wrong += [where for where, address, data in expected
                      if memory.read(address, len(data)) != data]
            if step["counted"]:
                await sc.store_sync(step["stored"][me])
                await sc.barrier()
            else:
                await sc.all_store_sync()
            if memory.read(base, 8 * WORDS) != pack(step["memory"][me]):
                wrong.append(f"round {number}: memory")
            value = step["value"] >> 8
            if await sc.broadcast(value + me, step["root"]) != value + step["root"]:
                wrong.append(f"round {number}: broadcast")
            if await sc.scan((me, value)[1] % 1000 + me) != sum(
                    value % 1000 + k for k in range(me + 1)):
                wrong.append(f"round {number}: scan")
            if await sc.reduce((value ^ me) % 1009, max) != max(
                    (value ^ k) % 1009 for k in range(nodes)):
                wrong.append(f"round {number}: reduce")
        return wrong

    def check(results: list) -> None:
        assert results == [[] for _ in range(nodes)], results

    return scenario(main, check, nodes=nodes, procedures=[add_there, put_there],
                    settings=settings)


def faulty(rates: dict[str, Any], **parameters: Any) -> Scenario:
    """The random program on a network with faults."""
    return random_program(settings={**FAULTY, **rates}, **parameters)


SCENARIOS = {"random_program": random_program, "faulty": faulty}


async def run_many(lab: Any, jobs: list[tuple[str, dict[str, Any]]]) -> list[int | str]:
    """Scenarios one after the other in one simulator: of each its cycles, or what went wrong."""
    found: list[int | str] = []
    for name, parameters in jobs:
        one = SCENARIOS[name](**parameters)
        try:
            run = await lab.run(one.programs, settings=one.settings, limit=one.limit)
            one.check(run.results)
            found.append(run.cycles)
        except Exception as error:
            notes = "; ".join(getattr(error, "__notes__", ()))
            found.append(f"{name} {parameters}: {type(error).__name__}: {error} {notes}")
    return found
