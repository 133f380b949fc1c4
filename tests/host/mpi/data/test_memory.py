"""What the channels say that they take of a node's memory, and of the translation table."""

import numpy as np
import pytest
from nicbed.host.apps.data import fixed_bytes
from nicbed.host.kernel.page_frames import PageFrames
from nicbed.host.mpi import BYTE, MpiError
from nicbed.host.mpi.channels import memory_bytes
from nicbed.host.mpi.channels.via import ViaChannel
from nicbed.host.mpi.data.memory import Memory
from nicbed.host.via import kernel
from nicbed.host.via.regions import HandleTable

from tests.labs.rows import more
from tests.models.target import Model
from tests.programs.mpi import LIMIT, describe, ranks

EACH = 3000
"""Doubles from each process to each other one."""


DATA = 2 * EACH * np.dtype(np.float64).itemsize
"""Bytes of a process for each process."""


def taken(description, nodes):
    """Bytes of memory that a node uses, at most, when all send to all, briefly and at length."""
    async def main(mpi):
        data, into = (mpi.empty(nodes * EACH) for _ in range(2))
        await mpi.COMM_WORLD.Alltoall(data[:nodes], into[:nodes])
        await mpi.COMM_WORLD.Alltoall(data, into)

    rank = ranks(main, nodes)[0]
    found = []

    async def program(node):
        await rank(node)
        frames = node.service(PageFrames)
        spare = node.host.allocator.free + len(frames._pool) * frames.page_bytes
        found.append(description.memory.bytes - spare)

    Model(description).run([program] * nodes, limit=400_000_000)
    return max(found)


@pytest.mark.parametrize("channel, nodes, knobs, spare", [
    ("via", 16, {}, 0.02), more("via", 4, {"via__page_bytes": 65536}, 0.2),
    more("via", 4, {"mpi__buffer_bytes": 2048, "mpi__prepost_used": 64}, 0.2),
    more("via in the kernel", 16, {}, 0.02), ("tcp", 16, {}, 0.02), ("gm", 2, {}, 1.0)])
def test_no_more_memory_is_taken_than_is_told(channel, nodes, knobs, spare):
    """``spare``: by what share the told bytes may be more."""
    description = describe(channel, nodes, **knobs)
    told = fixed_bytes(description, nodes) + memory_bytes(description) + nodes * DATA
    found = taken(description, nodes)
    assert found <= told <= (1 + spare) * found


@pytest.mark.parametrize("nodes, knobs", [(16, {}), more(4, {"via__page_bytes": 1024})])
def test_no_more_pages_are_registered_than_is_told(monkeypatch, nodes, knobs):
    """The data's beside those of the channel, of which nearly all are in use."""
    used = []

    class Told(HandleTable):
        def take(self, first, pages):
            found = super().take(first, pages)
            used.append(sum(self._used))
            return found

    monkeypatch.setattr(kernel, "HandleTable", Told)
    description = describe("via", nodes, **knobs)
    taken(description, nodes)
    own = ViaChannel.pages(description, nodes - 1)
    data = 2 * (nodes - 1) * (EACH * 8 // description.via.page_bytes + 2)
    assert 0.95 * (own + data) <= max(used) <= own + data


def test_data_far_from_each_other_take_no_memory_between_them():
    """In memory of the program's own: with gaps of half a megabyte, 35 MB together, on nodes that
    have 8."""
    block, stride, count = 512, 550_000, 64

    async def main(mpi):
        data = np.zeros(stride * count, np.uint8)
        blocks = data.reshape(count, stride)[:, :block]
        kind = BYTE.Create_vector(count, block, stride)
        if mpi.rank == 0:
            blocks[:] = np.random.default_rng(2).integers(1, 255, blocks.shape, np.uint8)
            await mpi.COMM_WORLD.Send([Memory(data.ctypes.data), 1, kind], 1)
        else:
            await mpi.COMM_WORLD.Recv([Memory(data.ctypes.data), 1, kind], 0)
        return int(data.sum()), int(blocks.sum())

    (whole, sent), other = Model(describe(memory__bytes=1 << 23)).run(
        ranks(main), limit=LIMIT).results
    assert whole == sent and other == (whole, sent)


def test_too_many_nodes_are_refused():
    with pytest.raises(MpiError, match="too few for 16 ranks"):
        memory_bytes(describe("gm", 16, gm__receive_tokens=16))
