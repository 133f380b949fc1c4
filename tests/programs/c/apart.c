/* Sends two ints that lie so many bytes apart in memory, by absolute addresses, or, with a second
 * argument, from the first one; without an argument, of no memory. */

#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, lengths[] = {1, 1};
    MPI_Aint places[2];
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 2)
        MPI_Send(NULL, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    char *memory = calloc(1, atoi(argv[1]) + 16);
    int *first = (int *) memory, *second = (int *) (memory + atoi(argv[1]) / 4 * 4);
    MPI_Get_address(first, &places[0]);
    MPI_Get_address(second, &places[1]);
    void *from = argc > 2 ? first : MPI_BOTTOM;
    if (argc > 2) {
        places[1] -= places[0];
        places[0] = 0;
    }
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    *first = 5;
    *second = 6;
    for (int trip = 0; trip < 5; trip++)
        if (rank == 0)
            MPI_Send(from, 1, type, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(from, 1, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return *first == 5 && *second == 6 ? 0 : 2;
}
