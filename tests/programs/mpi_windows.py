"""Random programs on windows, and a plain model of them.

In a round each element of a window belongs to one origin, or is updated by sums of all, so that
what is there at its end, and what comes back, does not depend on who is first.
"""

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from nicbed.host.mpi import BYTE, DOUBLE, INT, LONG, MAX, SUM, Datatype, Mpi, Win
from nicbed.host.mpi.data.operators import NO_OP, REPLACE
from nicbed.host.mpi.windows import LOCK_EXCLUSIVE, LOCK_SHARED

__all__ = ["Plan", "plan", "program"]

TYPES = {"u1": BYTE, "i4": INT, "i8": LONG, "f8": DOUBLE}
HOWS = ("fence", "post", "lock", "shared", "all", "flush")


@dataclass
class Op:
    """What ``origin`` does to elements ``at`` of ``target``: they have ``values`` at its own end,
    every ``stride`` elements."""

    call: str
    origin: int
    target: int
    at: list[int]
    values: list[int]
    stride: int
    op: Any = REPLACE
    wanted: list[int] = field(default_factory=list)
    """What is there before."""
    then: list[int] = field(default_factory=list)
    """And after it."""


@dataclass
class Round:
    """Operations between two synchronisations, and what each rank stores itself before."""

    how: str
    stores: list[tuple[int, int, int]]
    ops: list[Op]
    after: list[list[int]] = field(default_factory=list)


@dataclass
class Plan:
    """A program of ``ranks`` on a window of elements ``dtype``, made as ``flavor`` says."""

    ranks: int
    dtype: str
    flavor: str
    sizes: list[int]
    units: list[int]
    rounds: list[Round]


def plan(seed: int, ranks: int, rounds: int = 4, most: int = 200) -> Plan:
    """The random program of ``seed``: windows of up to ``most`` elements."""
    rng = random.Random(seed)
    dtype = rng.choice([*TYPES])
    bytes_ = np.dtype(dtype).itemsize
    sizes = [rng.choice([0, rng.randint(1, 20), rng.randint(1, most)]) for _ in range(ranks)]
    made = Plan(ranks, dtype, rng.choice(["create", "array", "allocate", "dynamic"]), sizes,
                [rng.choice([1, bytes_]) for _ in range(ranks)], [])
    model = [[0] * size for size in sizes]
    for _ in range(rounds):
        how = rng.choice(HOWS)
        stores = [(rank, rng.randrange(sizes[rank]), rng.randrange(100))
                  for rank in range(ranks) for _ in range(3) if sizes[rank]]
        for rank, at, value in stores:
            model[rank][at] = value
        ops = []
        for target, size in enumerate(sizes):
            cells = [*range(size)]
            cut = rng.randint(0, size)
            ops += _private(rng, how, target, cells[:cut], ranks, model, dtype)
            ops += _common(rng, target, cells[cut:], ranks, model)
        rng.shuffle(ops)
        made.rounds.append(Round(how, stores, ops, [[*one] for one in model]))
    return made


def _private(rng: random.Random, how: str, target: int, cells: list[int], ranks: int, model: Any,
             dtype: str) -> list[Op]:
    """Operations on elements of ``target`` of which each is reached by one."""
    found = []
    while cells:
        count = min(len(cells), rng.choice([1, 3, rng.randint(1, 200)]))
        mine, cells = cells[:count], cells[count:]
        if rng.random() < .2:
            continue
        if rng.random() < .4:
            mine = mine[::rng.randint(1, 3)]
        if rng.random() < .2:
            rng.shuffle(mine)
        call = rng.choice(["Put", "Put", "Get", "Get", "Accumulate", "Get_accumulate", "CAS"]
                          + ["Rput", "Rget"] * (how not in ("fence", "post")))
        if dtype == "f8" and call == "CAS":
            call = "Get"
        if call == "CAS":
            mine = mine[:1]
        op = Op(call, rng.randrange(ranks), target, mine, [rng.randrange(100) for _ in mine],
                rng.choice([1, 1, 2]), rng.choice([REPLACE, SUM, MAX, NO_OP]))
        there = model[target]
        op.wanted = [there[at] for at in mine]
        if call == "CAS":
            op.op = op.wanted[0] if rng.random() < .5 else op.wanted[0] + 1
        for at, value in zip(mine, op.values, strict=True):
            old = there[at]
            there[at] = {"Put": value, "Rput": value, "Get": old, "Rget": old,
                         "CAS": value if op.op == old else old}.get(call, -1)
            if there[at] == -1:
                there[at] = {REPLACE: value, SUM: old + value, MAX: max(old, value),
                             NO_OP: old}[op.op]
        op.then = [there[at] for at in mine]
        found.append(op)
    return found


def _common(rng: random.Random, target: int, cells: list[int], ranks: int, model: Any
            ) -> list[Op]:
    """Sums of several origins into the same elements."""
    found = []
    for origin in range(ranks):
        mine = [at for at in cells if rng.random() < .7]
        if mine:
            op = Op("Accumulate", origin, target, mine, [rng.randrange(10) for _ in mine], 1, SUM)
            for at, value in zip(mine, op.values, strict=True):
                model[target][at] += value
            found.append(op)
    return found


def program(made: Plan) -> Any:
    """``main(mpi)`` of the plan; what is wrong is an assertion that fails."""
    windows: dict[int, Any] = {}

    async def main(mpi: Mpi) -> int:
        return await _Run(mpi, made, windows).run()
    return main


class _Run:
    def __init__(self, mpi: Mpi, made: Plan, windows: dict[int, Any]) -> None:
        self.mpi, self.made, self.windows = mpi, made, windows
        self.comm, self.rank = mpi.COMM_WORLD, mpi.rank
        self.dtype = np.dtype(made.dtype)
        self.addresses = [0] * made.ranks

    async def run(self) -> int:
        made, comm, rank = self.made, self.comm, self.rank
        size = made.sizes[rank]
        await self._window(size, made.units[rank])
        for number, one in enumerate(made.rounds):
            await self._round(one)
            assert self._mask(self.here.tolist()) == self._mask(one.after[rank]), (rank, number)
            await comm.Barrier()
        await self.win.Free()
        return len(made.rounds)

    def _mask(self, values: list[int]) -> list[int]:
        return [int(one) & 255 if self.made.dtype == "u1" else int(one) for one in values]

    async def _window(self, size: int, unit: int) -> None:
        comm, flavor = self.comm, self.made.flavor
        here = np.zeros(size, self.dtype)
        if flavor == "allocate":
            self.win = await Win.Allocate(size * self.dtype.itemsize, unit, comm)
            here = self.win.array.view(self.dtype)
        elif flavor == "dynamic":
            self.win = await Win.Create_dynamic(comm)
            mine = np.array([await self.win.Attach(here) if size else 0])
            every = np.zeros(comm.size, np.int64)
            await comm.Allgather(mine, every)
            self.addresses = every.tolist()
        else:
            if flavor == "array":
                here = self.mpi.empty(size, self.dtype)
            self.win = await Win.Create(here, unit, comm)
        self.here = self.windows[self.rank] = here

    async def _round(self, one: Round) -> None:
        win, comm, rank, how = self.win, self.comm, self.rank, one.how
        if how == "fence":
            self._store(one)
            await win.Fence()
        else:
            await win.Lock(rank, LOCK_EXCLUSIVE)
            self._store(one)
            await win.Unlock(rank)
            await comm.Barrier()
        if how == "post":
            await win.Post(comm.group)
            await win.Start(comm.group)
        elif how in ("all", "flush"):
            await win.Lock_all()
        checks = []
        for op in one.ops:
            if op.origin != rank:
                continue
            if how in ("lock", "shared"):
                await win.Lock(op.target, LOCK_EXCLUSIVE if how == "lock" else LOCK_SHARED)
            checks.append(await self._do(op))
            if how in ("lock", "shared"):
                await win.Unlock(op.target)
                checks.pop()()
                self._done(op)
            elif how == "flush":
                await win.Flush(op.target)
                checks.pop()()
                self._done(op)
        if how == "fence":
            await win.Fence()
        elif how == "post":
            await win.Complete()
            while not await win.Test():
                pass
        elif how in ("all", "flush"):
            await win.Unlock_all()
        for check in checks:
            check()
        if how not in ("fence", "post"):
            await comm.Barrier()

    def _done(self, op: Op) -> None:
        """The operation has been done: the program of its target, which is one process with this
        one, sees it."""
        if op.then:
            there = self.windows[op.target][op.at]
            assert self._mask(there.tolist()) == self._mask(op.then), op

    def _store(self, one: Round) -> None:
        for rank, at, value in one.stores:
            if rank == self.rank:
                self.here[at] = value

    async def _do(self, op: Op) -> Any:
        win, made, count = self.win, self.made, len(op.at)
        datatype, width = TYPES[made.dtype], self.dtype.itemsize
        out = np.zeros(count * op.stride, self.dtype)
        out[::op.stride] = op.values
        into = np.full(count * op.stride, 77, self.dtype)
        mine = datatype.Create_vector(count, 1, op.stride) if op.stride > 1 else None

        def buffer(array: Any) -> Any:
            return array if mine is None else [array, 1, mine]
        unit = 1 if made.flavor == "dynamic" else made.units[op.target]
        base = op.at[0] if sorted(op.at) == [*range(op.at[0], op.at[0] + count)] else 0
        there: Datatype = datatype if op.at == [*range(base, base + count)] else \
            datatype.Create_indexed([1] * count, [at - base for at in op.at])
        target = (self.addresses[op.target] + base * width // unit
                  * (1 if made.flavor != "dynamic" else unit),
                  count if there is datatype else 1, there)
        call = op.call
        if call == "Put":
            await win.Put(buffer(out), op.target, target)
        elif call == "Rput":
            await (await win.Rput(buffer(out), op.target, target)).Wait()
        elif call == "Get":
            await win.Get(buffer(into), op.target, target)
        elif call == "Rget":
            await (await win.Rget(buffer(into), op.target, target)).Wait()
        elif call == "Accumulate":
            await win.Accumulate(buffer(out), op.target, target, op.op)
        elif call == "Get_accumulate":
            await win.Get_accumulate(buffer(out), buffer(into), op.target, target, op.op)
        else:
            await win.Compare_and_swap(out[:1], np.array([op.op]).astype(self.dtype), into[:1],
                                       op.target, target[0])

        def check() -> None:
            if call in ("Get", "Rget", "Get_accumulate", "CAS"):
                assert self._mask(into[::op.stride].tolist()) == self._mask(op.wanted), op
                assert (into[1::op.stride] == 77).all() if op.stride > 1 else True
            elif call == "Put":
                assert out[::op.stride].tolist() == op.values
        return check


