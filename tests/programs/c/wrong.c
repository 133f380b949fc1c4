/* Goes wrong at rank 1, as its argument says. */

#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int status = 6;

static int deep(int n)
{
    volatile char room[4096];
    room[n & 4095] = 1;
    return n ? room[n & 4095] + deep(n + 1) : 0;
}

static void ends(void *in, void *inout, int *count, MPI_Datatype *type)
{
    exit(status);
}

static void crashes(void *in, void *inout, int *count, MPI_Datatype *type)
{
    *(volatile int *) 8 = 1;
}

int main(int argc, char **argv)
{
    int rank, data = 0, sum;
    MPI_Op op;
    MPI_Datatype type;
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
        case 'q': quick_exit(7);
        case 't': assert(rank == 0);
        case 'u': MPI_Comm_size(MPI_COMM_WORLD, NULL);
        case 'i': MPI_Type_indexed(-1, &data, &data, MPI_INT, &type);
        case 'm': MPI_Recv(malloc(1 << 28), 1 << 28, MPI_BYTE, 0, 3, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE);
        case 'c': nicbed_compute(-1);
        case 'n': *(volatile int *) 8 = 1;
        case 'o': return deep(1);
        }
    if (argv[1][0] == 'p' || argv[1][0] == 'P') {
        if (argv[1][1] == '0')
            status = 0;
        MPI_Op_create(argv[1][0] == 'p' ? ends : crashes, 1, &op);
        MPI_Reduce(&data, &sum, 1, MPI_INT, op, 1, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
