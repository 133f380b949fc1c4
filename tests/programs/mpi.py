"""Programs of MPI for tests, and a plain model of what MPI promises."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from nicbed.host.mpi import ANY_TAG, Mpi, Request
from nicbed.layouts.description import Description

__all__ = ["CHANNELS", "FAULTS", "LIMIT", "by_rank", "describe", "one_way", "pattern",
           "ranks", "random_program", "Plain"]

LIMIT = 40_000_000
CHANNELS: dict[str, dict[str, Any]] = {
    "via": {"mpi.channel": "via", "via.design": "engine"},
    "via in the kernel": {"mpi.channel": "via", "via.design": "kernel"},
    "tcp": {"mpi.channel": "tcp", "via.design": "kernel", "tcp.rto_min": 40_000,
            "tcp.delayed_ack": 10_000, "tcp.time_wait": 400_000},
    "shm": {"via.design": "kernel"},
    "gm": {"mpi.channel": "gm", "nic.processor": "picorv32", "processor.memory": 1 << 17},
    "vmmc": {"mpi.channel": "vmmc", "nic.processor": "picorv32", "processor.memory": 1 << 17},
    "via in firmware": {"mpi.channel": "via", "via.design": "firmware",
                        "nic.processor": "picorv32", "processor.memory": 1 << 17},
}
FAULTS = {"faults.drop": 0.02, "faults.corrupt": 0.01, "faults.duplicate": 0.02,
          "via.retry_timeout": 4000, "via.retries": 100, "gm.retry_timeout": 8000,
          "gm.retries": 30, "vmmc.retry_timeout": 8000, "vmmc.retries": 30}

def describe(channel: str = "via", nodes: int = 2, cpus: int = 1, **knobs: Any) -> Description:
    """A description with ``channel``, one of CHANNELS, and knobs as ``mpi__eager=64``. For channel
    shm ``nodes`` are CPUs of one node; else each node has ``cpus`` of them."""
    table: dict[str, dict[str, Any]] = {}
    places = ({"node.cpus": nodes} if channel == "shm"
              else {"fabric.nodes": nodes, "node.cpus": cpus})
    every = {**places, **CHANNELS[channel],
             **{name.replace("__", "."): value for name, value in knobs.items()}}
    for name, value in every.items():
        section, key = name.split(".")
        table.setdefault(section, {})[key] = value
    found = Description.model_validate(table)
    return found.of_layers([found.mpi.channel])


def pattern(size: int, seed: int) -> Any:
    """``size`` bytes that depend on ``seed``."""
    return (np.arange(size, dtype=np.uint64) * 7 + 13 * seed + 1 & 0xFF).astype(np.uint8)


def ranks(main: Callable[[Mpi], Any], nodes: int = 2, channel: str = "", cpus: int = 1
          ) -> list[Any]:
    """``main(mpi)`` on ``cpus`` CPUs of each of ``nodes``; for channel shm on the CPUs of one."""
    async def program(node: Any) -> Any:
        async with Mpi(node, nodes=[0] if channel == "shm" else None) as mpi:
            return await main(mpi)
    if channel == "shm":
        return [[program] * nodes, None]
    return [program if cpus == 1 else [program] * cpus] * nodes


def one_way(size: int, count: int) -> Callable[[Mpi], Any]:
    """``count`` messages of ``size`` bytes from rank 0 to rank 1."""
    async def main(mpi: Mpi) -> None:
        comm, array = mpi.COMM_WORLD, mpi.empty(size, np.uint8)
        for _ in range(count):
            if comm.rank == 0:
                await comm.Send(array, 1)
            else:
                await comm.Recv(array, 0)
    return main


def by_rank(results: list[Any], channel: str = "") -> list[Any]:
    """What each rank has returned."""
    return results[0] if channel == "shm" else results


class Plain:
    """Matching as MPI promises it, of the messages to one rank: of each sender in the order in
    which they were sent, the first that a receive takes."""

    def __init__(self) -> None:
        self.waiting: dict[int, list[tuple[int, int, int]]] = {}

    def sent(self, source: int, tag: int, size: int, seed: int) -> None:
        self.waiting.setdefault(source, []).append((tag, size, seed))

    def takes(self, source: int, tag: int) -> tuple[int, int, int]:
        """Tag, size and seed of the oldest message of ``source`` with ``tag``, or any."""
        queue = self.waiting[source]
        return queue.pop(next(index for index, one in enumerate(queue)
                              if tag in (ANY_TAG, one[0])))


def random_program(seed: int, nodes: int, count: int, sizes: list[int]) -> Callable[[Mpi], Any]:
    """Every rank sends ``count`` messages of random size, tag and mode to random ranks, itself
    included, and receives all that come to it: by source and tag, by source, by tag, or any; posted
    at once, later, or after a probe. What comes is checked against :class:`Plain`."""
    plan = random.Random(seed)
    messages = [[(plan.randrange(nodes), plan.randrange(3), plan.choice(sizes),
                  plan.randrange(1000), plan.choice("Send Isend Ssend Issend Bsend".split()))
                 for _ in range(count)] for _ in range(nodes)]

    async def main(mpi: Mpi) -> int:
        comm, me = mpi.COMM_WORLD, mpi.COMM_WORLD.rank
        mine = random.Random(seed * 100 + me)
        plain = Plain()
        coming = []
        for source, sent in enumerate(messages):
            for rank, tag, size, number, _ in sent:
                if rank == me:
                    plain.sent(source, tag, size, number)
                    coming.append((source, tag))
        mine.shuffle(coming)
        mpi.Attach_buffer(count * (max(sizes) + 128))
        checked = 0

        async def finish(request: Any, array: Any) -> None:
            check(await request.Wait(), array)

        def check(status: Any, array: Any) -> None:
            nonlocal checked
            tag, size, number = plain.takes(status.source, status.tag)
            assert (tag, size) == (status.tag, status.count), (status, tag, size)
            assert np.array_equal(array[:size], pattern(size, number))
            assert not np.any(array[size:] != 0xEE)
            checked += 1

        async def receive() -> None:
            source, tag = coming.pop()
            array = mpi.empty(max(sizes) + 8, np.uint8)
            array[:] = 0xEE
            if mine.random() < 0.3:
                status = await comm.Probe(source, tag)
                assert (status.source, status.tag) == (source, tag)
                check(await comm.Recv(array, source, tag), array)
            elif mine.random() < 0.5:
                await finish(await comm.Irecv(array, source, tag), array)
            else:
                check(await comm.Recv(array, source, tag), array)

        posted = []
        sends = list(messages[me])
        sending: list[Any] = []
        # Half of the receives are posted before anything is sent; which message a receive gets
        # follows from the order of posting.
        for _ in range(len(coming) // 2):
            source, tag = coming.pop()
            array = mpi.empty(max(sizes) + 8, np.uint8)
            array[:] = 0xEE
            posted.append((await comm.Irecv(array, source, tag), array))
        await comm.Barrier()
        for rank, tag, size, number, mode in sends:
            array = mpi.empty(size, np.uint8)
            array[:] = pattern(size, number)
            if mode in ("Send", "Ssend"):
                mode = "I" + mode.lower()  # blocking ones could wait for each other
            call = getattr(comm, mode)
            request = await call(array, rank, tag)
            if request is not None:
                sending.append(request)
            if mine.random() < 0.2:
                await mpi.port.delay(mine.randrange(5000))
        for request, array in posted:
            await finish(request, array)
        while coming:
            await receive()
        await Request.Waitall(sending)
        await mpi.Detach_buffer()
        return checked

    main.total = count * nodes  # type: ignore[attr-defined]
    return main

