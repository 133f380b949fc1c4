/* Goes wrong at rank 1, as its argument says. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int deep(int n)
{
    volatile char room[4096];
    room[n & 4095] = 1;
    return n ? room[n & 4095] + deep(n + 1) : 0;
}

int main(int argc, char **argv)
{
    int rank, data = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("begun\n");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        switch (argv[1][0]) {
        case 'a': MPI_Abort(MPI_COMM_WORLD, 9);
        case 'e': exit(5);
        case 'r': return 0;
        case 's': MPI_Send(&data, 1, MPI_INT, 7, 3, MPI_COMM_WORLD);
        case 'd': MPI_Recv(&data, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        case 'k': abort();
        case 'n': *(volatile int *) 8 = 1;
        case 'o': return deep(1);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
