/* Every call with garbage in each argument that MPI says is ignored. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 8
#define GARBAGE ((void *) 64)  /* a buffer that nobody may look at */
#define TYPE ((MPI_Datatype) 123456)
#define COUNT (-77)

static int rank, size, root, line;
static MPI_Comm comm;
static int out[MOST * MOST], into[MOST * MOST], counts[MOST], places[MOST], bytes[MOST];
static int garbage[MOST] = {-77, -78, -79, -80, -81, -82, -83, -84};
static MPI_Datatype ints[MOST], nothing[MOST];

static void fill(void)
{
    for (int i = 0; i < size * MOST; i++) {
        out[i] = 1000 * rank + i;
        into[i] = -1;
    }
}

static void is(int found, int wanted)
{
    if (found == wanted)
        return;
    fprintf(stderr, "line %d: rank %d of %d: %d for %d\n", line, rank, size, found, wanted);
    exit(3);
}

static void done(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    is(*request == MPI_REQUEST_NULL, 1);
}

/* A call that waits, and the same that only begins: both have to do what `check` says. */
#define BOTH(name, before, check, ...) do { \
        MPI_Request request; \
        line = __LINE__; \
        fill(); before; MPI_##name(__VA_ARGS__); check; \
        fill(); before; MPI_I##name(__VA_ARGS__, &request); done(&request); check; \
    } while (0)
#define EACH(place, wanted) for (int r = 0; r < size; r++) is(place, wanted)
#define NOTHING(place) for (int r = 0; r < size * MOST; r++) is(place[r], -1)

/* MPI_Ibcast and so on are spelt with a small letter. */
#define MPI_IBcast MPI_Ibcast
#define MPI_IGather MPI_Igather
#define MPI_IGatherv MPI_Igatherv
#define MPI_IScatter MPI_Iscatter
#define MPI_IScatterv MPI_Iscatterv
#define MPI_IAllgather MPI_Iallgather
#define MPI_IAllgatherv MPI_Iallgatherv
#define MPI_IAlltoall MPI_Ialltoall
#define MPI_IAlltoallv MPI_Ialltoallv
#define MPI_IAlltoallw MPI_Ialltoallw
#define MPI_IReduce MPI_Ireduce
#define MPI_IAllreduce MPI_Iallreduce
#define MPI_IScan MPI_Iscan
#define MPI_IExscan MPI_Iexscan
#define MPI_IReduce_scatter MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block MPI_Ireduce_scatter_block

static int mine(int other) { return 1000 * other + rank; }
static int triangle(int n) { return 1000 * n * (n - 1) / 2; }

static void to_and_from_a_root(void)
{
    int here = rank == root;
    if (here) {
        BOTH(Gather, into[root] = out[0], EACH(into[r], 1000 * r),
             MPI_IN_PLACE, COUNT, TYPE, into, 1, MPI_INT, root, comm);
        BOTH(Gatherv, into[places[root]] = out[0], EACH(into[places[r]], 1000 * r),
             MPI_IN_PLACE, COUNT, TYPE, into, counts, places, MPI_INT, root, comm);
        BOTH(Scatter, , is(into[0], -1),
             out, 1, MPI_INT, MPI_IN_PLACE, COUNT, TYPE, root, comm);
        BOTH(Scatterv, , is(into[0], -1),
             out, counts, places, MPI_INT, MPI_IN_PLACE, COUNT, TYPE, root, comm);
        BOTH(Reduce, into[0] = out[0], is(into[0], triangle(size)),
             MPI_IN_PLACE, into, 1, MPI_INT, MPI_SUM, root, comm);
    } else {
        BOTH(Gather, , NOTHING(into),
             out, 1, MPI_INT, GARBAGE, COUNT, TYPE, root, comm);
        BOTH(Gatherv, , NOTHING(into),
             out, 1, MPI_INT, GARBAGE, garbage, garbage, TYPE, root, comm);
        BOTH(Scatter, , is(into[0], 1000 * root + rank),
             GARBAGE, COUNT, TYPE, into, 1, MPI_INT, root, comm);
        BOTH(Scatterv, , is(into[0], 1000 * root + places[rank]),
             GARBAGE, garbage, garbage, TYPE, into, 1, MPI_INT, root, comm);
        BOTH(Reduce, , NOTHING(into), out, GARBAGE, 1, MPI_INT, MPI_SUM, root, comm);
    }
}

static void among_all(void)
{
    BOTH(Allgather, into[rank] = out[0], EACH(into[r], 1000 * r),
         MPI_IN_PLACE, COUNT, TYPE, into, 1, MPI_INT, comm);
    BOTH(Allgatherv, into[places[rank]] = out[0], EACH(into[places[r]], 1000 * r),
         MPI_IN_PLACE, COUNT, TYPE, into, counts, places, MPI_INT, comm);
    BOTH(Alltoall, , EACH(out[r], mine(r)), MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1, MPI_INT,
         comm);
    BOTH(Alltoall, , EACH(out[2 * r + 1], 1000 * r + 2 * rank + 1),
         MPI_IN_PLACE, COUNT, TYPE, out, 2, MPI_INT, comm);
    BOTH(Alltoallv, , EACH(out[places[r]], 1000 * r + places[rank]),
         MPI_IN_PLACE, garbage, garbage, TYPE, out, counts, places, MPI_INT, comm);
    BOTH(Alltoallw, , EACH(out[places[r]], 1000 * r + places[rank]),
         MPI_IN_PLACE, garbage, garbage, nothing, out, counts, bytes, ints, comm);
    BOTH(Allreduce, , is(out[1], triangle(size) + size),
         MPI_IN_PLACE, out, 2, MPI_INT, MPI_SUM, comm);
    BOTH(Scan, , is(out[1], triangle(rank + 1) + rank + 1),
         MPI_IN_PLACE, out, 2, MPI_INT, MPI_SUM, comm);
    BOTH(Exscan, , is(out[1], rank ? triangle(rank) + rank : 1),
         MPI_IN_PLACE, out, 2, MPI_INT, MPI_SUM, comm);
    if (rank)
        BOTH(Exscan, , is(into[1], triangle(rank) + rank),
             out, into, 2, MPI_INT, MPI_SUM, comm);
    else
        BOTH(Exscan, , NOTHING(into), out, GARBAGE, 2, MPI_INT, MPI_SUM, comm);
    BOTH(Reduce_scatter, , is(out[0], triangle(size) + size * rank),
         MPI_IN_PLACE, out, counts, MPI_INT, MPI_SUM, comm);
    BOTH(Reduce_scatter_block, , is(out[1], triangle(size) + size * (2 * rank + 1)),
         MPI_IN_PLACE, out, 2, MPI_INT, MPI_SUM, comm);
}

static void of_nothing(void)
{
    static int zero[MOST];
    BOTH(Bcast, , , GARBAGE, 0, TYPE, root, comm);
    BOTH(Gather, , , GARBAGE, 0, TYPE, GARBAGE, 0, TYPE, root, comm);
    BOTH(Gatherv, , , GARBAGE, 0, TYPE, GARBAGE, zero, garbage, TYPE, root, comm);
    BOTH(Scatter, , , GARBAGE, 0, TYPE, GARBAGE, 0, TYPE, root, comm);
    BOTH(Scatterv, , , GARBAGE, zero, garbage, TYPE, GARBAGE, 0, TYPE, root, comm);
    BOTH(Allgather, , , GARBAGE, 0, TYPE, GARBAGE, 0, TYPE, comm);
    BOTH(Allgatherv, , , GARBAGE, 0, TYPE, GARBAGE, zero, garbage, TYPE, comm);
    BOTH(Alltoall, , , GARBAGE, 0, TYPE, GARBAGE, 0, TYPE, comm);
    BOTH(Alltoallv, , , GARBAGE, zero, garbage, TYPE, GARBAGE, zero, garbage, TYPE, comm);
    BOTH(Alltoallw, , , GARBAGE, zero, garbage, nothing, GARBAGE, zero, garbage, nothing, comm);
    BOTH(Reduce, , , GARBAGE, GARBAGE, 0, TYPE, MPI_SUM, root, comm);
    BOTH(Allreduce, , , GARBAGE, GARBAGE, 0, TYPE, MPI_SUM, comm);
    BOTH(Scan, , , GARBAGE, GARBAGE, 0, TYPE, MPI_SUM, comm);
    BOTH(Exscan, , , GARBAGE, GARBAGE, 0, TYPE, MPI_SUM, comm);
    BOTH(Reduce_scatter, , , GARBAGE, GARBAGE, zero, TYPE, MPI_SUM, comm);
    BOTH(Reduce_scatter_block, , , GARBAGE, GARBAGE, 0, TYPE, MPI_SUM, comm);
    /* One rank's part alone is empty. */
    int own = rank == size - 1 ? 0 : 1;
    int some[MOST], where[MOST];
    MPI_Datatype kinds[MOST];
    for (int r = 0; r < size; r++) {
        some[r] = r == size - 1 ? 0 : own;
        where[r] = some[r] ? r : -1000000;
        kinds[r] = some[r] ? MPI_INT : TYPE;
    }
    line = __LINE__;
    fill();
    MPI_Alltoallv(out, some, where, MPI_INT, into, some, where, MPI_INT, comm);
    EACH(into[r], some[r] ? mine(r) : -1);
    for (int r = 0; r < size; r++)
        where[r] *= 4;
    fill();
    MPI_Alltoallw(out, some, where, kinds, into, some, where, kinds, comm);
    EACH(into[r], some[r] ? mine(r) : -1);
}

static void is_nobody(MPI_Status *status)
{
    int count;
    MPI_Get_count(status, MPI_INT, &count);
    is(status->MPI_SOURCE, MPI_PROC_NULL);
    is(status->MPI_TAG, MPI_ANY_TAG);
    is(count, 0);
}

static void with_nobody(void)
{
    MPI_Request request;
    MPI_Status status;
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    line = __LINE__;
    MPI_Send(GARBAGE, COUNT, TYPE, MPI_PROC_NULL, 1, comm);
    MPI_Ssend(GARBAGE, COUNT, TYPE, MPI_PROC_NULL, 1, comm);
    MPI_Rsend(GARBAGE, COUNT, TYPE, MPI_PROC_NULL, 1, comm);
    MPI_Bsend(GARBAGE, COUNT, TYPE, MPI_PROC_NULL, 1, comm);
    MPI_Recv(GARBAGE, COUNT, TYPE, MPI_PROC_NULL, 1, comm, &status);
    is_nobody(&status);
    MPI_Isend(GARBAGE, COUNT, TYPE, MPI_PROC_NULL, 1, comm, &request);
    done(&request);
    MPI_Irecv(GARBAGE, COUNT, TYPE, MPI_PROC_NULL, 1, comm, &request);
    MPI_Wait(&request, &status);
    is_nobody(&status);
    MPI_Recv_init(GARBAGE, COUNT, TYPE, MPI_PROC_NULL, 1, comm, &request);
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    is_nobody(&status);
    MPI_Request_free(&request);
    MPI_Sendrecv_replace(GARBAGE, COUNT, TYPE, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, comm, &status);
    is_nobody(&status);
    line = __LINE__;
    fill();
    MPI_Sendrecv(out, 1, MPI_INT, rank ? from : MPI_PROC_NULL, 1,
                 rank == size - 1 ? GARBAGE : into, rank == size - 1 ? COUNT : 1,
                 rank == size - 1 ? TYPE : MPI_INT, rank == size - 1 ? MPI_PROC_NULL : to, 1, comm,
                 &status);
    if (rank == size - 1)
        is_nobody(&status);
    else
        is(into[0], 1000 * to);
    line = __LINE__;
    MPI_Send(GARBAGE, 0, TYPE, to, 2, comm);
    MPI_Recv(GARBAGE, 0, TYPE, from, 2, comm, &status);
    is(status.MPI_SOURCE, from);
}

static void on_windows_of_nobody(void)
{
    MPI_Request request;
    MPI_Win win;
    int *memory;
    line = __LINE__;
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, comm, &memory, &win);
    MPI_Win_lock_all(0, win);
    MPI_Put(GARBAGE, COUNT, TYPE, MPI_PROC_NULL, -5, COUNT, TYPE, win);
    MPI_Get(GARBAGE, COUNT, TYPE, MPI_PROC_NULL, -5, COUNT, TYPE, win);
    MPI_Accumulate(GARBAGE, COUNT, TYPE, MPI_PROC_NULL, -5, COUNT, TYPE, MPI_SUM, win);
    MPI_Get_accumulate(GARBAGE, COUNT, TYPE, GARBAGE, COUNT, TYPE, MPI_PROC_NULL, -5, COUNT, TYPE,
                       MPI_SUM, win);
    MPI_Fetch_and_op(GARBAGE, GARBAGE, TYPE, MPI_PROC_NULL, -5, MPI_SUM, win);
    MPI_Compare_and_swap(GARBAGE, GARBAGE, GARBAGE, TYPE, MPI_PROC_NULL, -5, win);
    MPI_Rput(GARBAGE, COUNT, TYPE, MPI_PROC_NULL, -5, COUNT, TYPE, win, &request);
    done(&request);
    MPI_Rget(GARBAGE, COUNT, TYPE, MPI_PROC_NULL, -5, COUNT, TYPE, win, &request);
    done(&request);
    MPI_Raccumulate(GARBAGE, COUNT, TYPE, MPI_PROC_NULL, -5, COUNT, TYPE, MPI_SUM, win, &request);
    done(&request);
    MPI_Rget_accumulate(GARBAGE, COUNT, TYPE, GARBAGE, COUNT, TYPE, MPI_PROC_NULL, -5, COUNT, TYPE,
                        MPI_SUM, win, &request);
    done(&request);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    comm = MPI_COMM_WORLD;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int r = 0; r < size; r++) {
        counts[r] = 1;
        places[r] = 2 * (size - 1 - r);
        bytes[r] = 4 * places[r];
        ints[r] = MPI_INT;
        nothing[r] = TYPE;
    }
    for (root = 0; root < size; root += size - 1)
        to_and_from_a_root();
    root = 0;
    among_all();
    of_nothing();
    with_nobody();
    on_windows_of_nobody();
    MPI_Finalize();
    return 0;
}
