/* Absolute addresses, data before their place, and data far from each other, in every kind of
 * call. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 64, FAR = 3 << 20 };

static int fixed[SIZE];
static int rank, size, left, right;
static MPI_Comm comm;

static void is(int found, int wanted, int line)
{
    if (found == wanted)
        return;
    fprintf(stderr, "line %d: rank %d of %d: %d for %d\n", line, rank, size, found, wanted);
    exit(3);
}
#define IS(found, wanted) is(found, wanted, __LINE__)

static MPI_Datatype committed(MPI_Datatype type)
{
    MPI_Type_commit(&type);
    return type;
}

int main(int argc, char **argv)
{
    int local[SIZE], *heap = malloc(SIZE * sizeof *heap), packed[SIZE], position = 0, count;
    int *large = calloc(1, FAR + SIZE * sizeof *large);
    MPI_Status status;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    comm = MPI_COMM_WORLD;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    for (int i = 0; i < SIZE; i++) {
        fixed[i] = 1000 * rank + i;
        local[i] = 1000 * rank + 100 + i;
        heap[i] = 1000 * rank + 200 + i;
    }

    /* From three kinds of memory. */
    int lengths[] = {3, 2, 4};
    MPI_Aint places[3];
    MPI_Datatype ints[] = {MPI_INT, MPI_INT, MPI_INT}, type, other;
    MPI_Get_address(&fixed[5], &places[0]);
    MPI_Get_address(&local[6], &places[1]);
    MPI_Get_address(&heap[7], &places[2]);
    MPI_Type_create_struct(3, lengths, places, ints, &type);
    MPI_Type_commit(&type);
    memset(packed, -1, sizeof packed);
    MPI_Irecv(packed, SIZE, MPI_INT, left, 1, comm, &requests[0]);
    MPI_Isend(MPI_BOTTOM, 1, type, right, 1, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++)
        IS(packed[i], 1000 * left + 5 + i);
    IS(packed[3], 1000 * left + 106);
    IS(packed[8], 1000 * left + 210);
    IS(packed[9], -1);
    MPI_Pack(MPI_BOTTOM, 1, type, packed, sizeof packed, &position, comm);
    IS(position, 36);
    IS(packed[4], 1000 * rank + 107);
    for (int i = 0; i < 9; i++)
        packed[i] = -i;
    position = 0;
    MPI_Unpack(packed, sizeof packed, &position, MPI_BOTTOM, 1, type, comm);
    IS(fixed[6], -1);
    IS(local[7], -4);
    IS(heap[10], -8);
    IS(heap[11], 1000 * rank + 211);
    fixed[6] = rank == 1;
    MPI_Bcast(MPI_BOTTOM, 1, type, 1, comm);
    IS(fixed[6], 1);
    MPI_Send(MPI_BOTTOM, 1, type, right, 2, comm);
    MPI_Recv(MPI_BOTTOM, 1, type, left, 2, comm, &status);
    MPI_Get_elements(&status, MPI_INT, &count);
    IS(count, 9);
    MPI_Type_free(&type);

    /* Before its place: a vector that goes back. */
    for (int i = 0; i < SIZE; i++)
        local[i] = 1000 * rank + i;
    MPI_Type_vector(3, 2, -4, MPI_INT, &type);
    type = committed(type);
    MPI_Sendrecv(&local[20], 1, type, right, 3, packed, 6, MPI_INT, left, 3, comm, &status);
    for (int i = 0; i < 6; i++)
        IS(packed[i], 1000 * left + 20 - 4 * (i / 2) + i % 2);
    MPI_Sendrecv(packed, 6, MPI_INT, left, 4, &fixed[40], 1, type, right, 4, comm, &status);
    IS(fixed[33], 1000 * rank + 13);
    IS(fixed[34], 34 + 1000 * rank);
    IS(fixed[40], 1000 * rank + 20);
    MPI_Gather(&local[20], 1, type, heap, 6, MPI_INT, 0, comm);
    if (rank == 0)
        IS(heap[6 * (size - 1) + 5], 1000 * (size - 1) + 13);
    MPI_Type_free(&type);

    /* Behind its place, and far from it. */
    int far[] = {1, 1}, apart[] = {2, FAR / 4 + 1};
    MPI_Type_indexed(2, far, apart, MPI_INT, &type);
    MPI_Type_commit(&type);
    large[2] = rank;
    large[FAR / 4 + 1] = 10 * rank;
    MPI_Sendrecv_replace(large, 1, type, right, 5, left, 5, comm, &status);
    IS(large[2], left);
    IS(large[FAR / 4 + 1], 10 * left);
    IS(large[3], 0);
    int total = size * (size - 1) / 2, zero = 0;
    MPI_Type_free(&type);
    MPI_Allreduce(MPI_IN_PLACE, &large[2], 1, MPI_INT, MPI_SUM, comm);
    IS(large[2], total);

    /* An empty type has no data anywhere; neither has nobody's buffer. */
    MPI_Type_contiguous(0, MPI_INT, &other);
    MPI_Type_commit(&other);
    MPI_Bcast(NULL, 5, other, zero, comm);
    MPI_Type_free(&other);
    /* More than an int can say. */
    MPI_Count many;
    MPI_Type_contiguous(1 << 30, MPI_SHORT, &type);
    MPI_Type_size(type, &count);
    IS(count, MPI_UNDEFINED);
    MPI_Pack_size(3, type, comm, &count);
    IS(count, MPI_UNDEFINED);
    MPI_Status_set_elements_x(&status, MPI_BYTE, 1L << 31);
    MPI_Get_count(&status, MPI_BYTE, &count);
    IS(count, MPI_UNDEFINED);
    MPI_Get_elements(&status, MPI_BYTE, &count);
    IS(count, MPI_UNDEFINED);
    MPI_Get_elements_x(&status, MPI_BYTE, &many);
    IS(many == 1L << 31, 1);
    MPI_Get_count(&status, MPI_SHORT, &count);
    IS(count, 1 << 30);
    MPI_Type_free(&type);

    MPI_Finalize();
    return 0;
}
