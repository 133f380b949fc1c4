"""One exchange: the ranks send each other a volume of data in messages of equal length."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .....host.mpi import Comm, Mpi, Request
from .....host.port.node import Node
from ....run.branches import branches
from ...common.programs import programs, stamp
from .protocols import Protocol, calls_of

__all__ = ["COLD", "MODES", "REPEATED", "WARM", "Placement", "Plan", "measure_exchanges"]

COLD, WARM, REPEATED = "a", "b", "c"
"""Cache modes."""
MODES = {COLD: "caches displaced before the buffers are initialised, each message once",
         WARM: "caches as they are, each message once",
         REPEATED: "as b, each message ten times, time divided by ten"}
REPEATS = 10
DOUBLE_BYTES = 8
HELD = 2
"""Messages in the attached buffer at a time: one whose end the library has not seen yet, and the
next."""
HOLD_BYTES = 72
"""Most bytes of a message there besides its data: MPI_BSEND_OVERHEAD, and up to a whole word."""
TAG = 5


class Placement(NamedTuple):
    """The ``ranks`` that exchange data, of a job of ``size`` ranks of which each node has ``cpus``,
    one on each of its first CPUs. ``ring``: how many of them send to each other in a circle, so
    many circles at once; 0: all in one. The other ranks of the job wait for the end."""

    ranks: tuple[int, ...]
    size: int
    cpus: int = 1
    ring: int = 0

    @property
    def nodes(self) -> int:
        return self.size // self.cpus

    def circle(self, rank: int) -> tuple[int, ...]:
        """The circle to which ``rank`` belongs."""
        length = self.ring or len(self.ranks)
        first = self.ranks.index(rank) // length * length
        return self.ranks[first:first + length]

    def programs(self, program: Any, cpus: int) -> dict[int, Any]:
        """``program`` on the job's CPUs, by node, of nodes with ``cpus`` CPUs."""
        each = program if self.cpus == 1 else [program] * self.cpus + [None] * (cpus - self.cpus)
        return dict.fromkeys(range(self.nodes), each)

    def by_rank(self, results: list[Any]) -> list[Any]:
        """Returns what the job's programs returned."""
        if self.cpus == 1:
            return results[:self.size]
        return [one for node in results[:self.nodes] for one in node[:self.cpus]]


@dataclass(frozen=True)
class Plan:
    """``messages`` messages of together ``volume`` doubles from each of the ranks of ``placement``,
    by ``protocol``."""

    operation: str
    protocol: Protocol
    volume: int
    messages: int
    mode: str = COLD
    placement: Placement = Placement((0, 1), 2)

    @property
    def repeats(self) -> int:
        return REPEATS if self.mode == REPEATED else 1

    @property
    def attached(self) -> int:
        """Bytes of the buffer that a rank attaches: none unless it sends from there."""
        if "Bsend" not in self.protocol.first:
            return 0
        held = min(self.messages * self.repeats, HELD)
        return held * (self.volume // self.messages * DOUBLE_BYTES + HOLD_BYTES)

    @property
    def beginning(self) -> Hashable:
        """Returns what decides all that ranks do before the first call of their protocol."""
        return self.volume, self.mode == COLD, self.placement, self.attached


class _Rank:
    """One of the ranks that exchange data."""

    def __init__(self, mpi: Mpi, plan: Plan, sig: Comm) -> None:
        """``plan``: any that begins as this one does (:attr:`Plan.beginning`)."""
        self.mpi = mpi
        self.plan = plan
        self.comm: Comm = mpi.COMM_WORLD
        self.sig = sig
        ranks = plan.placement.circle(self.comm.rank)
        place = ranks.index(self.comm.rank)
        self.to = ranks[(place + 1) % len(ranks)]
        self.source = ranks[(place - 1) % len(ranks)]
        self._second = place % 2 == 1
        self.words: tuple[str, ...] = ()
        self.length = 0
        self.out, self.into = mpi.empty(plan.volume), mpi.empty(plan.volume)
        self._sends: list[Request] = []
        self._receives: list[Request] = []
        if plan.attached:
            mpi.Attach_buffer(plan.attached)

    async def prepare(self) -> None:
        """Bring the cache into the mode's state, and initialise the buffers."""
        cpu, port = self.mpi.node.description.cpu, self.mpi.port
        if self.plan.mode == COLD:
            size = cpu.cache_bytes
            await port.touch(self.mpi.node.allocate(size, cpu.line_bytes), size)
        self.out[:] = np.arange(self.plan.volume) + self.comm.rank
        for array in (self.out, self.into):
            data = self.mpi.buffers.data(array, "commtest")
            await self.mpi.process.touch(data.pieces[0][0], data.length, store=True)

    def follow(self, plan: Plan) -> None:
        """Go on by ``plan``."""
        self.plan = plan
        self.words = plan.protocol.words(plan.operation, self._second)
        self.length = plan.volume // plan.messages

    def sound(self) -> bool:
        """Tells whether all data that came are what was sent."""
        return bool(np.array_equal(self.into, np.arange(self.plan.volume) + self.source))

    async def run(self) -> None:
        """Exchange all messages."""
        if self.plan.protocol.preposted:
            await self._ahead()
            return
        for number in range(self.plan.messages):
            for _ in range(self.plan.repeats):
                for word in self.words:
                    await self._do(word, number)

    async def _ahead(self) -> None:
        """The same with receives posted one message ahead; the first one is."""
        order = [number for number in range(self.plan.messages) for _ in range(self.plan.repeats)]
        for index, number in enumerate(order):
            for word in self.words:
                if word == "Irecv":
                    if index + 1 < len(order):
                        await self._do(word, order[index + 1])
                elif word != "Wait_s" or index:
                    await self._do(word, number)
        if self._sends:
            await self._do("Wait_s", 0)

    async def prepost(self) -> None:
        """Post the first receive, if the protocol has it before the start."""
        if self.plan.protocol.preposted:
            await self._do("Irecv", 0)

    async def _do(self, word: str, number: int) -> None:
        comm, to, source = self.comm, self.to, self.source
        part = slice(number * self.length, (number + 1) * self.length)
        if word == "Recv":
            await comm.Recv(self.into[part], source, TAG)
        elif word == "Irecv":
            self._receives.append(await comm.Irecv(self.into[part], source, TAG))
        elif word == "Sendrecv":
            await comm.Sendrecv(self.out[part], to, TAG, self.into[part], source, TAG)
        elif word == "Wait_r":
            await self._receives.pop(0).Wait()
        elif word == "Wait_s":
            await self._sends.pop(0).Wait()
        elif word == "tell":
            await self.sig.Send(None, source, TAG)
        elif word == "hear":
            await self.sig.Recv(None, to, TAG)
        else:  # a send of some kind
            request = await getattr(comm, word)(self.out[part], to, TAG)
            if request is not None:
                self._sends.append(request)


async def measure_exchanges(lab: Any, plans: Sequence[Plan],
                            begins: Callable[[int], None] = lambda _: None
                            ) -> list[dict[str, Any]]:
    """Exchanges by ``plans``, which begin alike, each as it is from reset: when each rank began and
    ended, what it called and what else its calls differ in from the protocol's, and whether its
    data are right. ``begins`` is called with the index of each."""
    first = plans[0]
    for plan in plans:
        if plan.beginning != first.beginning:
            raise ValueError(f"exchanges that begin alike: {plan} does not begin as {first}")

    async def measured(choose: Callable[[], Plan]) -> dict[str, Any]:
        async def program(node: Node) -> Any:
            async with Mpi(node) as mpi:
                comm = mpi.COMM_WORLD
                sig = await comm.Dup()
                if comm.rank not in first.placement.ranks:
                    await comm.Barrier()
                    return None
                rank = _Rank(mpi, first, sig)
                await rank.prepare()
                rank.follow(choose())
                await rank.prepost()
                await comm.Barrier()
                before, sent = mpi.calls.count.copy(), mpi.calls.sent.total()
                start = stamp(node)
                await rank.run()
                stop = stamp(node)
                calls = {call.name: count for call, count in (mpi.calls.count - before).items()}
                return start, stop, calls, mpi.calls.sent.total() - sent, rank.sound()

        placement, description = first.placement, lab.description
        run = await lab.run(programs(lab, placement.programs(program, description.node.cpus)))
        results = placement.by_rank(run.results)
        found = [results[rank] for rank in placement.ranks]
        return {"begin": [start[0] for start, *_ in found],
                "end": [stop[0] for _, stop, *_ in found],
                "calls": [calls for _, _, calls, *_ in found],
                "messages": [sent for *_, sent, _ in found],
                "sound": all(one[-1] for one in found)}

    return [{**found, "repeats": plan.repeats}
            for plan, found in zip(plans, await branches(lab, plans, measured, begins),
                                   strict=True)]


def wrong_calls(plan: Plan, run: Mapping[str, Any]) -> str:
    """Returns what a rank called other than its words say; "" if nothing."""
    for place, (rank, calls) in enumerate(zip(plan.placement.ranks, run["calls"], strict=True)):
        words = plan.protocol.words(plan.operation, place % 2 == 1)
        wanted = calls_of(words, plan.messages * plan.repeats)
        if plan.protocol.preposted:  # one receive was posted before
            wanted["Irecv"] -= 1
        if calls != dict(+wanted):
            return f"rank {rank}: {calls} for {dict(+wanted)}"
    return ""
