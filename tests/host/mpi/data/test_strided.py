"""Long messages of which either end, or both, are in pieces: all bytes where they belong, what lies
between them as it was, and no copy left behind."""

import numpy as np
import pytest
from nicbed.host.mpi import BYTE

from tests.models.target import Model
from tests.programs.mpi import LIMIT, by_rank, describe, ranks

SIZE = 6000
WAYS = [("via", "write"), ("via", "read"), ("via", "bounce"), ("tcp", "bounce"), ("shm", "bounce")]
SHAPES = {"whole": (1, SIZE, SIZE), "few pieces": (3, SIZE // 3, SIZE // 3 + 8),
          "many pieces": (300, SIZE // 300, SIZE // 300 + 4)}
"""Blocks, and bytes of each and from one to the next."""


def places(shape):
    """The bytes of a shape in its buffer, and the buffer's length."""
    blocks, length, step = shape
    found = (np.arange(blocks)[:, None] * step + np.arange(length)).ravel()
    return found, (blocks - 1) * step + length


def taken_of(store):
    """The pieces that are taken from ``store`` from now on and not given back."""
    taken, take, give = [], store.take, store.give

    def taking(length, **more):
        taken.append(take(length, **more))
        return taken[-1]

    def giving(address, length, **more):
        give(address, length, **more)
        if address in taken:
            taken.remove(address)

    store.take, store.give = taking, giving
    return taken


@pytest.mark.parametrize("late", [False, True], ids=["posted", "unexpected"])
@pytest.mark.parametrize("receives", SHAPES)
@pytest.mark.parametrize("sends", SHAPES)
@pytest.mark.parametrize("channel, rendezvous", WAYS)
def test_long_messages_in_pieces(channel, rendezvous, sends, receives, late):
    source, source_bytes = places(SHAPES[sends])
    target, target_bytes = places(SHAPES[receives])
    data = np.random.default_rng(1).integers(0, 255, (2, SIZE), np.uint8)

    async def main(mpi):
        comm = mpi.COMM_WORLD
        sender = comm.rank == 0
        buffer = mpi.empty(source_bytes if sender else target_bytes, np.uint8)
        copies = taken_of(mpi._store)
        kind = BYTE.Create_vector(*SHAPES[sends if sender else receives])
        for turn in range(2):
            buffer[:] = 255
            if sender:
                buffer[source] = data[turn]
                await mpi.port.delay(0 if late else 300_000)
                await comm.Send([buffer, 1, kind], 1, turn)
                assert (buffer[source] == data[turn]).all()
            else:
                await mpi.port.delay(300_000 if late else 0)
                status = await comm.Recv([buffer, 1, kind], 0, turn)
                assert status.Get_count() == SIZE
                assert (buffer[target] == data[turn]).all()
                buffer[target] = 255
                assert (buffer == 255).all()
            await comm.Barrier()
            assert not copies, "a copy was not given back"

    knobs = {"mpi__eager": 2000, "mpi__buffer_bytes": 512, "mpi__rendezvous": rendezvous}
    model = Model(describe(channel, 2, **knobs))
    by_rank(model.run(ranks(main, 2, channel), limit=LIMIT).results, channel)
