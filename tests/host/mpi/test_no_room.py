"""Long messages and windows of more memory than can be registered go by packets, or in parts."""

import itertools

import numpy as np
import pytest
from nicbed.host.mpi import BYTE, Win
from nicbed.host.mpi.data.memory_store import MemoryStore
from nicbed.host.mpi.data.registration import Registration
from nicbed.host.mpi.point_to_point.long_messages import LongMessages
from nicbed.host.mpi.point_to_point.requests import Request
from nicbed.host.mpi.progress.channel import NoRoom

from tests.models.target import Model
from tests.programs.mpi import LIMIT, describe, ranks

PAGES = 128
"""What a process registers itself, and some pages."""


def run(main, **knobs):
    description = describe(via__translations=PAGES, via__cache_sets=4, via__cache_ways=4,
                           mpi__prepost=6, mpi__prepost_used=6, memory__bytes=1 << 25,
                           nic__mtu=1024, **knobs)
    return Model(description).run(ranks(main), limit=10 * LIMIT).results


@pytest.fixture
def refused(monkeypatch):
    """Registrations for which there was no room."""
    found, register = [], Registration._registered

    async def registered(self, address, length):
        try:
            return await register(self, address, length)
        except NoRoom:
            found.append(length)
            raise

    monkeypatch.setattr(Registration, "_registered", registered)
    return found


def bytes_of(seed, length):
    return np.random.default_rng(seed).integers(0, 256, length, np.uint8)


@pytest.mark.parametrize("way", ["write", "read"])
@pytest.mark.parametrize("lengths", [(4, 60, 4, 200), (60, 60, 60)])
@pytest.mark.parametrize("strided", [False, True])
def test_messages(way, lengths, strided, refused):
    """Some find room, and others do not, at one end or at both; what did is left afterwards."""
    async def main(mpi):
        comm, peer = mpi.COMM_WORLD, 1 - mpi.rank
        for turn in range(2):
            came, requests = [], []
            for place, pages in enumerate(lengths):
                of = (BYTE.Create_vector(2, pages * 2000, pages * 2048) if strided
                      else BYTE.Create_contiguous(pages * 4096 - 5))
                sent = bytes_of(10 * mpi.rank + turn + place, pages * 4096)
                came.append(np.zeros(pages * 4096, np.uint8))
                requests.append(await comm.Irecv([came[place], 1, of], peer, place))
                requests.append(await comm.Isend([sent, 1, of], peer, place))
            await Request.Waitall(requests)
            for place, (pages, one) in enumerate(zip(lengths, came, strict=True)):
                wanted = bytes_of(10 * peer + turn + place, pages * 4096)
                if strided:
                    wanted[pages * 2000:pages * 2048] = wanted[pages * 4048:] = 0
                wanted[one.size - 5:] = 0
                assert np.array_equal(one, wanted)
        return any(one.users for one in mpi.registrations["via"]._regions.values())

    assert run(main, mpi__rendezvous=way) == [False, False]
    assert refused


@pytest.mark.parametrize("rooms", [(8, 200), (200, 8), (200, 200), (60, 60)])
def test_windows(rooms, refused):
    """Of one rank or of both; with buffers that find room, and others that do not."""
    async def main(mpi):
        comm, peer, size = mpi.COMM_WORLD, 1 - mpi.rank, 4096 * 150
        memory = np.zeros(4096 * rooms[mpi.rank], np.uint8)
        window = await Win.Create(memory, 1, comm)
        for pages in (2, 150):
            length = min(4096 * pages, 4096 * rooms[peer]) - 3
            sent, came = bytes_of(mpi.rank, size), np.zeros(size, np.uint8)
            await window.Fence()
            await window.Put(sent[:length], peer, 1)
            await window.Fence()
            mine = min(4096 * pages, len(memory)) - 3
            assert np.array_equal(memory[1:1 + mine], bytes_of(peer, size)[:mine])
            await window.Get(came[:length], peer, 1)
            await window.Fence()
            assert np.array_equal(came[:length], sent[:length])
        await window.Free()
        return any(one.users for one in mpi.registrations["via"]._regions.values())

    assert run(main) == [False, False]
    assert refused


@pytest.mark.parametrize("way, full", [("read", 1), ("write", 0)])
@pytest.mark.parametrize("strided", [False, True])
def test_messages_of_which_one_end_has_room(way, full, strided, refused):
    """Rank 0 sends; rank ``full`` has a window that takes most of its room."""
    async def main(mpi):
        comm = mpi.COMM_WORLD
        window = await Win.Create(np.zeros(4096 * 20 * (mpi.rank == full), np.uint8), 1, comm)
        of = BYTE.Create_vector(39, 4096, 4097) if strided else BYTE.Create_contiguous(40 * 4096)
        for turn in range(3):
            data = bytes_of(turn, 40 * 4096)
            if mpi.rank == 0:
                await comm.Send([data, 1, of], 1)
            else:
                came = np.zeros(40 * 4096, np.uint8)
                await comm.Recv([came, 1, of], 0)
                places = [slice(at, at + length) for at, length in of.pieces(1)]
                assert all(np.array_equal(came[one], data[one]) for one in places)
        used = sum(one.users for one in mpi.registrations["via"]._regions.values())
        await window.Free()
        return used

    assert run(main, mpi__rendezvous=way) == [full == 0, full == 1]
    assert refused


@pytest.mark.parametrize("refusals", [{0}, {0, 1}])
def test_what_was_copied_is_given_back(refusals, monkeypatch):
    """A strided message of which the sender found no room at first, or at all, in read mode."""
    taken, taking, giving, using = {}, MemoryStore.take, MemoryStore.give, LongMessages.use

    def take(self, length, *, exact=False):
        address = taking(self, length, exact=exact)
        taken[self.process.node.number, address] = length
        return address

    def give(self, address, length, *, exact=False):
        del taken[self.process.node.number, address]
        giving(self, address, length, exact=exact)

    uses = itertools.count()

    async def use(self, channel, pieces):
        if self.process.node.number == 0 and next(uses) % 2 in refusals:
            raise NoRoom
        return await using(self, channel, pieces)

    monkeypatch.setattr(MemoryStore, "take", take)
    monkeypatch.setattr(MemoryStore, "give", give)
    monkeypatch.setattr(LongMessages, "use", use)

    async def main(mpi):
        before = sum(node == mpi.rank for node, _ in taken)
        for turn in range(3):
            data, of = bytes_of(turn, 40 * 4096), BYTE.Create_vector(39, 4096, 4097)
            if mpi.rank == 0:
                await mpi.COMM_WORLD.Send([data, 1, of], 1)
            else:
                came = np.zeros(40 * 4096, np.uint8)
                await mpi.COMM_WORLD.Recv([came, 1, of], 0)
                assert all(np.array_equal(came[at:at + length], data[at:at + length])
                           for at, length in of.pieces(1))
        await mpi.COMM_WORLD.Barrier()
        return sum(node == mpi.rank for node, _ in taken) - before

    assert run(main, mpi__rendezvous="read") == [0, 0]
