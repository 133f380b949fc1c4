"""A program for mpi4py: pi by the midpoint rule, a part of the points on each rank.

``./nicbed app examples/pi.py --nodes 4`` runs it as it is.
"""

from mpi4py import MPI

POINTS = 10_000

comm = MPI.COMM_WORLD
begin = MPI.Wtime()
part = sum(4 / (1 + ((n + 0.5) / POINTS) ** 2)
           for n in range(comm.rank, POINTS, comm.size)) / POINTS
pi = comm.reduce(part)
if comm.rank == 0:
    print(f"pi = {pi:.8f} on {comm.size} ranks, {1e6 * (MPI.Wtime() - begin):.1f} µs")
