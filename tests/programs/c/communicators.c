/* Topologies, two groups, attributes, error handlers and infos, as a program in C has them. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) do { if (!(condition)) { printf("line %d\n", __LINE__); exit(2); } } while (0)

static int copies, deletions, refuse, handled, last_code;

static int copied(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    int size;
    MPI_Comm_size(comm, &size);  /* a call of MPI inside of a function that MPI calls */
    copies += size * *(int *) extra;
    *(void **) out = (char *) in + 1;
    *flag = 1;
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    deletions++;
    if (refuse == 2)
        MPI_Abort(MPI_COMM_WORLD, 7);
    return refuse ? MPI_ERR_INTERN : MPI_SUCCESS;
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    int same;
    MPI_Comm_compare(*comm, MPI_COMM_WORLD, &same);
    handled += same == MPI_IDENT ? 1 : 100;
    last_code = *code;
    if (refuse == 3)
        exit(9);
}

static void grid(int rank, int size)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, got[2], coords[2], source, dest, status, into[4];
    MPI_Comm cart, row;
    MPI_Dims_create(size, 2, dims);
    CHECK(dims[0] * dims[1] == size && dims[0] >= dims[1]);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    MPI_Topo_test(cart, &status);
    CHECK(status == MPI_CART);
    MPI_Cart_get(cart, 2, got, periods, coords);
    MPI_Cart_shift(cart, 0, 1, &source, &dest);
    CHECK(dest == (rank + dims[1]) % size && source == (rank - dims[1] + size) % size);
    memset(into, -1, sizeof into);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, into, 1, MPI_INT, cart);
    CHECK(into[0] == source && into[1] == dest);
    MPI_Cart_sub(cart, (int[]) {0, 1}, &row);
    MPI_Comm_size(row, &status);
    CHECK(status == dims[1]);
    MPI_Comm_free(&row);
    MPI_Comm_free(&cart);
}

static void groups(int rank, int size)
{
    MPI_Comm half, inter, merged;
    MPI_Request request;
    int low = rank < size / 2, sum = 0, root, remote, got = -1, flag;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? size / 2 : 0, 4, &inter);
    MPI_Comm_test_inter(inter, &flag);
    MPI_Comm_remote_size(inter, &remote);
    CHECK(flag && remote == (low ? size - size / 2 : size / 2));
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK(sum == (low ? size * (size - 1) / 2 : 0) - (low ? size / 2 * (size / 2 - 1) / 2 : 0)
                 + (low ? 0 : size / 2 * (size / 2 - 1) / 2));
    root = low ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
    got = rank == 0 ? 42 : -1;
    MPI_Bcast(&got, 1, MPI_INT, root, inter);
    CHECK(got == (low && rank ? -1 : 42));
    int out[8] = {rank, rank, rank, rank}, in[8];
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, inter);
    CHECK(in[remote - 1] == (low ? size - 1 : size / 2 - 1));
    MPI_Gather(root < 0 ? NULL : &rank, 1, root < 0 ? MPI_DATATYPE_NULL : MPI_INT, in, 1, MPI_INT,
               root, inter);
    CHECK(rank || in[0] == size / 2);
    MPI_Intercomm_merge(inter, !low, &merged);
    MPI_Comm_compare(merged, MPI_COMM_WORLD, &flag);
    CHECK(flag == MPI_CONGRUENT);
    MPI_Comm_get_name(merged, name, &flag);
    CHECK(flag == 0);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &flag);
    CHECK(!strcmp(name, "MPI_COMM_WORLD"));
    MPI_Comm_free(&half);
    MPI_Comm_idup(merged, &half, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(half);
    MPI_Comm_disconnect(&half);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
}

static void attributes(int size)
{
    int key, factor = 10, flag, *bound;
    char *value;
    MPI_Comm again = MPI_COMM_NULL;
    MPI_Comm_create_keyval(copied, deleted, &key, &factor);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, "xyz");
    MPI_Comm_dup(MPI_COMM_WORLD, &again);
    MPI_Comm_get_attr(again, key, &value, &flag);
    CHECK(flag && copies == 10 * size && !strcmp(value, "yz"));
    MPI_Comm_free(&again);
    CHECK(deletions == 1);
    MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    refuse = 1;
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &again) == MPI_ERR_OTHER && again == MPI_COMM_NULL);
    CHECK(MPI_Comm_delete_attr(MPI_COMM_WORLD, key) == MPI_ERR_INTERN);
    refuse = 0;
    CHECK(MPI_Attr_put(MPI_COMM_WORLD, MPI_TAG_UB, NULL) == MPI_ERR_KEYVAL);
    MPI_Attr_get(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &bound, &flag);
    CHECK(flag && *bound == size);
    MPI_Attr_put(MPI_COMM_SELF, key, NULL);  /* deleted in Finalize */
}

static void errors(void)
{
    MPI_Errhandler own;
    int class_, code, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Errhandler_create(handler, &own);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
    MPI_Errhandler_free(&own);
    CHECK(MPI_Send(text, 1, MPI_CHAR, 99, 0, MPI_COMM_WORLD) == MPI_ERR_RANK);
    CHECK(MPI_Barrier(MPI_COMM_NULL) == MPI_ERR_COMM);
    CHECK(handled == 2 && last_code == MPI_ERR_COMM);
    MPI_Add_error_class(&class_);
    MPI_Add_error_code(class_, &code);
    MPI_Add_error_string(code, "all is lost");
    MPI_Error_string(code, text, &length);
    CHECK(!strcmp(text, "all is lost") && length == 11);
    MPI_Error_class(code, &length);
    CHECK(length == class_);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
    CHECK(handled == 3 && last_code == code);
}

static void infos(void)
{
    MPI_Info info, again;
    int count, flag;
    char value[8];
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "a long value");
    MPI_Info_dup(info, &again);
    MPI_Info_get(again, "key", 6, value, &flag);
    MPI_Info_get_nkeys(again, &count);
    CHECK(flag && count == 1 && !strcmp(value, "a long"));
    CHECK(MPI_Info_delete(again, "none") == MPI_ERR_INFO_NOKEY);
    MPI_Info_free(&again);
    MPI_Info_free(&info);
    CHECK(info == MPI_INFO_NULL);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    grid(rank, size);
    if (size > 1)
        groups(rank, size);
    attributes(size);
    errors();
    infos();
    refuse = argc > 1 ? atoi(argv[1]) : 0;
    if (refuse == 1)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (refuse == 3)
        MPI_Barrier(MPI_COMM_NULL);
    MPI_Finalize();
    printf("deleted %d\n", deletions);
    return 0;
}
