/* A ring over every kind of call: what fails ends the run by its exit status, a line's number. */

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) do { if (!(condition)) exit(__LINE__ & 255); } while (0)
#define WORLD MPI_COMM_WORLD

static int global;  /* each rank's own */
static int rank, size, left, right;

static void longest(void *in, void *inout, int *length, MPI_Datatype *type)
{
    CHECK(*type == MPI_INT);
    for (int i = 0; i < *length; i++)
        if (abs(((int *) in)[i]) >= abs(((int *) inout)[i]))
            ((int *) inout)[i] = ((int *) in)[i];
}

/* Buffers of a function that has returned when nobody looks are no buffers: these stay. */
static void messages(void)
{
    int out[4000], in[4000], count, flag, index, indices[2];
    MPI_Request requests[3];
    MPI_Status status, statuses[2];
    for (int i = 0; i < 4000; i++)
        out[i] = 10000 * rank + i;
    memset(in, 0, sizeof in);
    MPI_Irecv(in, 4000, MPI_INT, left, 5, WORLD, &requests[0]);
    MPI_Issend(out, 4000, MPI_INT, right, 5, WORLD, &requests[1]);
    requests[2] = MPI_REQUEST_NULL;
    MPI_Barrier(WORLD);
    MPI_Waitall(2, requests, statuses);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    for (int i = 0; i < 4000; i++)
        CHECK(in[i] == 10000 * left + i);
    MPI_Get_count(&statuses[0], MPI_INT, &count);
    CHECK(count == 4000 && statuses[0].MPI_SOURCE == left && statuses[0].MPI_TAG == 5);

    MPI_Sendrecv(out, 3, MPI_INT, right, 1, in, 7, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD,
                 &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 3 && in[2] == 10000 * left + 2);
    MPI_Recv_init(in, 4, MPI_INT, left, 2, WORLD, &requests[0]);
    MPI_Send_init(out, 4, MPI_INT, right, 2, WORLD, &requests[1]);
    for (int i = 0; i < 3; i++) {
        out[0] = rank + i;
        MPI_Startall(2, requests);
        if (i == 0)
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        else if (i == 1) {
            for (int done = 0; done < 2; done += count) {
                MPI_Waitsome(2, requests, &count, indices, statuses);
                CHECK(count > 0);
            }
        } else
            for (int done = 0; done < 2;) {
                MPI_Testany(2, requests, &index, &flag, &status);
                done += flag;
            }
        CHECK(in[0] == left + i && requests[0] != MPI_REQUEST_NULL);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Send(out, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD);
    MPI_Isend(out + 1, 1, MPI_INT, right, 3, WORLD, &requests[0]);
    do
        MPI_Iprobe(left, 3, WORLD, &flag, &status);
    while (!flag);
    MPI_Recv(in, 1, MPI_INT, left, 3, WORLD, MPI_STATUS_IGNORE);
    CHECK(in[0] == 10000 * left + 1);
    MPI_Wait(&requests[0], &status);
}

static void types(void)
{
    struct { char letter; double number[2]; int whole; } out[2], in[2];
    int lengths[] = {1, 2, 1}, matrix[4][4] = {{0}}, packed[8], at = 0, bytes;
    MPI_Aint places[] = {0, 8, 24}, lb, extent;
    MPI_Datatype kinds[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, record, column;
    MPI_Type_create_struct(3, lengths, places, kinds, &record);
    MPI_Type_commit(&record);
    MPI_Type_size(record, &bytes);
    MPI_Type_get_extent(record, &lb, &extent);
    CHECK(bytes == 21 && lb == 0 && extent == sizeof out[0]);
    for (int i = 0; i < 2; i++) {
        out[i].letter = 'a' + rank;
        out[i].number[0] = rank + .5;
        out[i].number[1] = -i;
        out[i].whole = 100 * rank + i;
    }
    memset(in, 0, sizeof in);
    MPI_Sendrecv(out, 2, record, right, 0, in, 2, record, left, 0, WORLD, MPI_STATUS_IGNORE);
    CHECK(in[1].letter == 'a' + left && in[1].number[0] == left + .5 && in[1].number[1] == -1
          && in[1].whole == 100 * left + 1);
    MPI_Type_vector(4, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < 4; i++)
        matrix[i][1] = 10 * rank + i;
    MPI_Sendrecv(&matrix[0][1], 1, column, right, 0, &matrix[0][2], 1, column, left, 0, WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(matrix[3][2] == 10 * left + 3 && matrix[3][3] == 0);
    MPI_Pack(&matrix[0][1], 1, column, packed, sizeof packed, &at, WORLD);
    CHECK(at == 16 && packed[3] == 10 * rank + 3);
    at = 0;
    MPI_Unpack(packed, sizeof packed, &at, &matrix[0][0], 1, column, WORLD);
    CHECK(matrix[3][0] == 10 * rank + 3);
    MPI_Type_free(&column);
    MPI_Type_free(&record);
    CHECK(column == MPI_DATATYPE_NULL);
}

static void collectives(void)
{
    int one = rank + 1, all[16], counts[16], places[16], mine[16], sum = 0;
    struct { double value; int place; } pair = {-rank, rank}, found;
    MPI_Op op;
    MPI_Bcast(memset(all, rank, sizeof all), 16, MPI_INT, 1, WORLD);
    CHECK(all[15] == 0x01010101);
    MPI_Allgather(&one, 1, MPI_INT, all, 1, MPI_INT, WORLD);
    CHECK(all[left] == left + 1);
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 1, WORLD);
    CHECK(sum == (rank == 1 ? size * (size + 1) / 2 : 0));
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_MAX, WORLD);
    CHECK(one == size);
    MPI_Allreduce(&pair, &found, 1, MPI_DOUBLE_INT, MPI_MINLOC, WORLD);
    CHECK(found.value == 1 - size && found.place == size - 1);
    MPI_Op_create(longest, 1, &op);
    one = rank % 2 ? -rank : rank;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, op, WORLD);
    CHECK(abs(sum) == size - 1);
    MPI_Op_free(&op);
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        places[i] = size - 1 - i;
        all[i] = 100 * rank + i;
    }
    MPI_Alltoallv(all, counts, places, MPI_INT, mine, counts, places, MPI_INT, WORLD);
    CHECK(mine[size - 1 - left] == 100 * left + size - 1 - rank);
    MPI_Gatherv(&rank, 1, MPI_INT, mine, counts, places, MPI_INT, 0, WORLD);
    CHECK(rank || mine[0] == size - 1);
    MPI_Scatter(mine, 1, MPI_INT, &one, 1, MPI_INT, 0, WORLD);
    CHECK(one == size - 1 - rank);
    MPI_Scan(&rank, &one, 1, MPI_INT, MPI_SUM, WORLD);
    CHECK(one == rank * (rank + 1) / 2);
    for (int i = 0; i < size; i++)
        all[i] = i;
    MPI_Reduce_scatter(all, &one, counts, MPI_INT, MPI_SUM, WORLD);
    CHECK(one == rank * size);
}

static void communicators(void)
{
    MPI_Comm half, again;
    MPI_Group group, some;
    int number, result, first[] = {size - 1, 0}, flag, *bound;
    MPI_Comm_split(WORLD, rank % 2, -rank, &half);
    MPI_Comm_size(half, &number);
    CHECK(number == (size + 1 - rank % 2) / 2);
    MPI_Comm_dup(half, &again);
    MPI_Comm_compare(half, again, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_free(&again);
    MPI_Comm_free(&half);
    CHECK(half == MPI_COMM_NULL);
    MPI_Comm_group(WORLD, &group);
    MPI_Group_incl(group, 2, first, &some);
    MPI_Comm_create(WORLD, some, &half);
    CHECK((half == MPI_COMM_NULL) == (rank != 0 && rank != size - 1));
    MPI_Group_translate_ranks(some, 1, (int[]) {1}, group, &number);
    CHECK(number == 0);
    MPI_Attr_get(WORLD, MPI_TAG_UB, &bound, &flag);
    CHECK(flag && *bound >= 32767);
}

static void errors(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int length, data = 0;
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Send(&data, 1, MPI_INT, size, 0, WORLD) == MPI_ERR_RANK);
    CHECK(MPI_Send(&data, -1, MPI_INT, 0, 0, WORLD) == MPI_ERR_COUNT);
    CHECK(MPI_Send(&data, 1, 999, 0, 0, WORLD) == MPI_ERR_TYPE);
    MPI_Error_string(MPI_ERR_RANK, text, &length);
    CHECK(!strcmp(text, "MPI_ERR_RANK") && length == 12);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    global += rank;
    messages();
    types();
    collectives();
    communicators();
    errors();
    double begin = MPI_Wtime();
    nicbed_compute(1e6);
    double seconds = MPI_Wtime() - begin;
    printf("%s %d ", argv[1], global);
    fflush(stdout);
    fprintf(stderr, "%.3f\n", seconds * 1e3);
    MPI_Finalize();
    return 0;
}
