"""Communicators with a topology and of two groups in Python, with mpi4py's names."""

import pytest
from nicbed.host.mpi.python import python_program

from tests.models.target import Model
from tests.programs.mpi import LIMIT, describe

PROGRAM = '''
import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
cart = world.Create_cart(MPI.Compute_dims(size, 2), periods=[True, False])
assert type(cart) is MPI.Cartcomm and cart.is_topo and cart.topology == MPI.CART
assert cart.Get_cart_rank(cart.coords) == rank and MPI.Cartcomm(cart).dims == cart.dims
source, dest = cart.Shift(0, 1)
assert cart.neighbor_allgather(rank)[:2] == [source, dest]
into = np.full(4, -1)
request = cart.Neighbor_alltoall_init(np.arange(4) + 10 * rank, into)
for _ in range(2):
    request.Start()
    request.Wait()
    assert into[:2].tolist() == [10 * source + 1, 10 * dest]
assert cart.Sub([False, True]).size == cart.dims[1]
assert type(cart.Dup()) is MPI.Cartcomm and not cart.Split(0).is_topo
try:
    MPI.Graphcomm(cart)
except TypeError:
    pass
else:
    raise AssertionError

ring = world.Create_dist_graph_adjacent([(rank - 1) % size], [(rank + 1) % size])
assert ring.neighbor_alltoall([f"from {rank}"]) == [f"from {(rank - 1) % size}"]
assert ring.Get_dist_neighbors_count() == (1, 1, False)

low = rank < size // 2
half = world.Split(low, rank)
inter = half.Create_intercomm(0, world, 0 if not low else size // 2)
assert type(inter) is MPI.Intercomm and inter.is_inter and not half.is_inter
others = [one for one in range(size) if (one < size // 2) != low]
assert inter.remote_size == len(others) and inter.allgather(rank) == others
got = inter.bcast(rank if low else None, 0 if not low else MPI.ROOT if rank == 0 else MPI.PROC_NULL)
assert got == (None if low else 0)
total = np.zeros(1, int)
inter.Allreduce(np.array([rank]), total)
assert total[0] == sum(others)
assert inter.Merge(not low).Compare(world) == MPI.CONGRUENT

duplicate, request = world.Idup()
request.Wait()
assert duplicate.allreduce(1) == size
some = world.Get_group().Incl([0])
assert (world.Create_group(some).size == 1) if rank == 0 else True
try:
    world.Neighbor_allgather(np.zeros(1), np.zeros(1))
except AttributeError:
    pass
print("ok")
'''


@pytest.mark.parametrize("nodes", [2, 5])
def test_all_hold(tmp_path, nodes, monkeypatch):
    file = tmp_path / "communicators.py"
    file.write_text(PROGRAM)
    shown = []
    monkeypatch.setattr("sys.stdout.write", shown.append)
    Model(describe(nodes=nodes)).run([python_program(file)] * nodes, limit=LIMIT)
    monkeypatch.undo()
    assert sorted("".join(shown).splitlines()) == [f"{rank}: ok" for rank in range(nodes)]
