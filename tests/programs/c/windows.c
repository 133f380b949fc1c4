/* One-sided communication: every call on windows, each result checked. An argument names a call to
 * make wrongly. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void check(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "rank %d: %s\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void fences(void)
{
    int memory[64], out[4] = {1, 2, 3, 4}, in[8] = {0};  /* on the stack */
    MPI_Win win;
    MPI_Datatype every;
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int i = 0; i < 64; i++)
        memory[i] = 100 * rank + i;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (int i = 0; i < 4; i++)
        out[i] += 10 * rank;
    MPI_Put(out, 4, MPI_INT, next, 8, 4, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 4; i++)
        check(memory[8 + i] == 10 * before + 1 + i, "Put");
    check(memory[7] == 100 * rank + 7 && memory[12] == 100 * rank + 12, "beside Put");
    memory[20] = -rank;  /* a store, which others get */
    MPI_Win_fence(0, win);
    MPI_Type_vector(4, 1, 2, MPI_INT, &every);
    MPI_Type_commit(&every);
    MPI_Get(in, 1, every, next, 20, 1, every, win);
    MPI_Accumulate(out, 4, MPI_INT, 0, 40, 1, every, MPI_SUM, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    check(in[0] == -next && in[2] == 100 * next + 22 && !in[1] && !in[3], "Get");
    if (rank == 0)
        for (int i = 0; i < 4; i++)
            check(memory[40 + 2 * i] == 40 + 2 * i + size * (1 + i) + 5 * size * (size - 1)
                  && memory[41 + 2 * i] == 41 + 2 * i, "Accumulate");
    MPI_Type_free(&every);
    MPI_Win_free(&win);
    check(win == MPI_WIN_NULL, "Win_free");
}

static void groups(void)
{
    long *memory, one = rank;
    MPI_Win win;
    MPI_Group all, others;
    int flag = 0, zero = 0;
    MPI_Win_allocate(size * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &win);
    MPI_Win_get_group(win, &all);
    if (rank == 0) {
        MPI_Group_excl(all, 1, &zero, &others);
        MPI_Win_post(others, 0, win);
        while (!flag)
            MPI_Win_test(win, &flag);
        for (int i = 1; i < size; i++)
            check(memory[i] == i, "Win_test");
    } else {
        MPI_Group_incl(all, 1, &zero, &others);
        MPI_Win_start(others, 0, win);
        MPI_Put(&one, 1, MPI_LONG, 0, rank, 1, MPI_LONG, win);
        MPI_Win_complete(win);
    }
    MPI_Group_free(&others);
    MPI_Group_free(&all);
    MPI_Win_free(&win);
}

static void locks(void)
{
    struct { double value; int index; } best = {rank, rank}, found;
    double memory[4] = {0};
    int counter = 0, one = 1, old, mine = rank + 1, none = 0;
    MPI_Win win, counters;
    MPI_Request requests[2];
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_create(&counter, sizeof counter, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &counters);
    MPI_Win_lock_all(0, counters);
    MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, counters);
    MPI_Win_flush(0, counters);
    check(old >= 0 && old < size, "Fetch_and_op");
    MPI_Win_unlock_all(counters);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        check(counter == size, "counter");
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, counters);
        counter = 0;
        MPI_Win_unlock(0, counters);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, counters);
    MPI_Compare_and_swap(&mine, &none, &old, MPI_INT, 0, 0, counters);
    MPI_Win_flush_local_all(counters);
    MPI_Win_unlock(0, counters);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Rget_accumulate(&best, 1, MPI_DOUBLE_INT, &found, 1, MPI_DOUBLE_INT, 1, 0, 1,
                        MPI_DOUBLE_INT, MPI_MAXLOC, win, &requests[0]);
    MPI_Rput(&best.value, 1, MPI_DOUBLE, 1, 24, 1, MPI_DOUBLE, win, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Win_unlock(1, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    if (rank == 1)
        check(memory[0] == size - 1, "MAXLOC");
    if (rank == 0)
        check(counter > 0 && counter <= size, "Compare_and_swap");
    MPI_Win_free(&counters);
    MPI_Win_free(&win);
}

static void attached(void)
{
    int *memory = calloc(10, sizeof *memory), value = 7 + rank;
    MPI_Aint here, there;
    MPI_Win win;
    MPI_Get_address(memory, &here);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, memory, 10 * sizeof *memory);
    MPI_Sendrecv(&here, 1, MPI_AINT, (rank + size - 1) % size, 0, &there, 1, MPI_AINT,
                 (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_lock((MPI_LOCK_SHARED), (rank + 1) % size, 0, win);
    MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, there + 4, 1, MPI_INT, win);
    MPI_Win_unlock((rank + 1) % size, win);
    MPI_Barrier(MPI_COMM_WORLD);
    check(memory[1] == 7 + (rank + size - 1) % size && !memory[0] && !memory[2], "Win_attach");
    MPI_Win_detach(win, memory);
    MPI_Win_free(&win);
    free(memory);
}

static void described(void)
{
    char memory[24], name[MPI_MAX_OBJECT_NAME];
    void *found;
    int flag, length;
    MPI_Win win;
    MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &found, &flag);
    check(flag && found == memory, "WIN_BASE");
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &found, &flag);
    check(flag && *(MPI_Aint *) found == sizeof memory, "WIN_SIZE");
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &found, &flag);
    check(flag && *(int *) found == 8, "WIN_DISP_UNIT");
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &found, &flag);
    check(flag && *(int *) found == MPI_WIN_FLAVOR_CREATE, "WIN_CREATE_FLAVOR");
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &found, &flag);
    check(flag && *(int *) found == MPI_WIN_UNIFIED, "WIN_MODEL");
    MPI_Win_get_name(win, name, &length);
    check(!length, "Win_get_name");
    MPI_Win_set_name(win, "board");
    MPI_Win_get_name(win, name, &length);
    check(length == 5 && !strcmp(name, "board"), "Win_set_name");
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    check(MPI_Put(memory, 1, MPI_CHAR, 0, 0, 1, MPI_CHAR, win) == MPI_ERR_RMA_SYNC,
          "Put outside of an epoch");
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    check(MPI_Put(memory, 1, MPI_CHAR, 0, 3, 1, MPI_CHAR, win) == MPI_ERR_RMA_RANGE,
          "Put outside of the window");
    check(MPI_Put(memory, 1, MPI_CHAR, MPI_PROC_NULL, 0, 1, MPI_CHAR, win) == MPI_SUCCESS,
          "Put to nobody");
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
}

static void shared(void)
{
    int *mine, *first, unit;
    MPI_Aint bytes;
    MPI_Win win;
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &mine, &win);
    MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &first);
    check(bytes == sizeof(int) && unit == sizeof(int) && first == mine, "Win_shared_query");
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int memory[4] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    fences();
    groups();
    locks();
    attached();
    described();
    shared();
    if (argc > 1) {
        MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        if (!strcmp(argv[1], "unlock") && rank == 1)
            MPI_Win_unlock(0, win);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        if (!strcmp(argv[1], "range") && rank == 1)
            MPI_Put(memory, 4, MPI_INT, 0, 1, 4, MPI_INT, win);
        MPI_Win_unlock(0, win);
        MPI_Win_free(&win);
    }
    MPI_Finalize();
    return 0;
}
