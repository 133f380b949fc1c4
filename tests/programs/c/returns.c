/* Errors that are returned: by the call that completes a request, whose communicator says so. What
   fails ends the run by its exit status, a line's number. */

#include <mpi.h>
#include <stdlib.h>

#define CHECK(condition) do { if (!(condition)) exit(__LINE__ & 255); } while (0)
#define WORLD MPI_COMM_WORLD

static MPI_Comm comm;
static int data[8];

/* Three messages to rank 1, of which the second is too long for its receive. */
static void begin(int rank, MPI_Request *requests)
{
    for (int i = 0; i < 3; i++)
        if (rank == 0)
            MPI_Send(data, i == 1 ? 4 : 2, MPI_INT, 1, i, comm);
        else
            MPI_Irecv(data + 2 * i, 2, MPI_INT, 0, i, comm, &requests[i]);
}

int main(int argc, char **argv)
{
    int rank, flag, index, count, done, indices[3];
    MPI_Request requests[3];
    MPI_Status status, statuses[3];
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_dup(WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_get_errhandler(WORLD, &handler);
    CHECK(handler == MPI_ERRORS_ARE_FATAL);

    begin(rank, requests);
    if (rank == 1) {
        CHECK(MPI_Wait(&requests[0], &status) == MPI_SUCCESS && status.MPI_TAG == 0);
        CHECK(MPI_Wait(&requests[1], &status) == MPI_ERR_TRUNCATE && status.MPI_TAG == 1);
        CHECK(requests[1] == MPI_REQUEST_NULL);
        CHECK(MPI_Wait(&requests[1], &status) == MPI_SUCCESS);
        CHECK(MPI_Wait(&requests[2], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }

    begin(rank, requests);
    if (rank == 1) {
        CHECK(MPI_Waitall(3, requests, statuses) == MPI_ERR_IN_STATUS);
        for (int i = 0; i < 3; i++) {
            CHECK(requests[i] == MPI_REQUEST_NULL && statuses[i].MPI_TAG == i);
            CHECK(statuses[i].MPI_ERROR == (i == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
        }
        MPI_Get_count(&statuses[2], MPI_INT, &count);
        CHECK(count == 2);
    }

    begin(rank, requests);
    if (rank == 1) {
        do
            flag = 7, done = MPI_Test(&requests[1], &flag, &status);
        while (done == MPI_SUCCESS && flag == 0);
        CHECK(done == MPI_ERR_TRUNCATE && flag == 1 && requests[1] == MPI_REQUEST_NULL);
        requests[1] = requests[0];
        requests[0] = MPI_REQUEST_NULL;
        CHECK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    }

    begin(rank, requests);
    if (rank == 1) {
        CHECK(MPI_Waitany(1, requests + 1, &index, &status) == MPI_ERR_TRUNCATE && index == 0);
        CHECK(requests[1] == MPI_REQUEST_NULL && status.MPI_SOURCE == 0);
        do
            done = MPI_Testall(3, requests, &flag, statuses);
        while (done == MPI_SUCCESS && !flag);
        CHECK(done == MPI_SUCCESS);
    }

    begin(rank, requests);
    if (rank == 1) {
        do
            done = MPI_Testall(3, requests, &flag, statuses);
        while (done == MPI_SUCCESS && !flag);
        CHECK(done == MPI_ERR_IN_STATUS && flag && statuses[1].MPI_ERROR == MPI_ERR_TRUNCATE);
    }

    begin(rank, requests);
    if (rank == 1) {
        do
            done = MPI_Testany(1, requests + 1, &index, &flag, &status);
        while (done == MPI_SUCCESS && !flag);
        CHECK(done == MPI_ERR_TRUNCATE && flag && index == 0 && requests[1] == MPI_REQUEST_NULL);
        CHECK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    }

    begin(rank, requests);
    MPI_Barrier(WORLD);
    if (rank == 1) {
        CHECK(MPI_Waitsome(3, requests, &count, indices, statuses) == MPI_ERR_IN_STATUS);
        CHECK(count == 3 && indices[1] == 1 && statuses[1].MPI_ERROR == MPI_ERR_TRUNCATE);
        CHECK(statuses[0].MPI_ERROR == MPI_SUCCESS && requests[2] == MPI_REQUEST_NULL);
    }

    if (rank == 0)
        MPI_Send(data, 4, MPI_INT, 1, 9, comm);
    else {
        CHECK(MPI_Recv(data, 1, MPI_INT, 0, 9, comm, &status) == MPI_ERR_TRUNCATE);
        CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 9);
    }

    /* A persistent request that cannot begin, and one that is given twice. */
    CHECK(MPI_Send_init(data, 1, MPI_INT, 99, 0, comm, &requests[0]) == MPI_SUCCESS);
    CHECK(MPI_Start(&requests[0]) == MPI_ERR_RANK);
    CHECK(MPI_Startall(1, requests) == MPI_ERR_RANK);
    CHECK(MPI_Cancel(&requests[0]) == MPI_ERR_REQUEST);
    CHECK(MPI_Request_free(&requests[0]) == MPI_SUCCESS);
    CHECK(MPI_Isend(data, 1, MPI_INT, rank, 0, comm, &requests[0]) == MPI_SUCCESS);
    CHECK(MPI_Start(&requests[0]) == MPI_ERR_REQUEST);
    requests[1] = requests[0];
    CHECK(MPI_Waitall(2, requests, statuses) == MPI_ERR_REQUEST);
    CHECK(MPI_Testany(2, requests, &index, &flag, &status) == MPI_ERR_REQUEST);
    CHECK(MPI_Recv(data, 1, MPI_INT, rank, 0, comm, &status) == MPI_SUCCESS);
    CHECK(MPI_Wait(&requests[0], &status) == MPI_SUCCESS);

    /* One of several communicators ends the run. */
    if (argc > 2) {
        int fatal = atoi(argv[2]);
        MPI_Comm both[2] = {comm, MPI_COMM_NULL};
        MPI_Comm_dup(comm, &both[1]);
        MPI_Comm_set_errhandler(both[fatal], MPI_ERRORS_ARE_FATAL);
        for (int i = 0; i < 2; i++)
            if (rank == 0)
                MPI_Send(data, 4, MPI_INT, 1, 1, both[i]);
            else
                MPI_Irecv(data + 2 * i, 2, MPI_INT, 0, 1, both[i], &requests[i]);
        if (rank == 1)
            MPI_Waitall(2, requests, statuses);
        MPI_Finalize();
        return 0;
    }

    /* The handler is that of the request's communicator when it fails. */
    begin(rank, requests);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    if (rank == 1)
        MPI_Waitall(3, requests, statuses);
    MPI_Finalize();
    return 0;
}
