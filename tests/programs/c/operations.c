/* Reductions with an operation of the program's own, over types made by it, against a plain model:
 * products of matrices, which do not commute, whose elements lie in memory in several ways. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4, RANKS = 8, WORDS = 1 << 10, MODULUS = 97 };

/* How a matrix of n * n ints lies in memory: where its k-th int is, and how far the next one is. */
static int n, kind, extent;
static int place(int k)
{
    switch (kind) {
    case 1: return 3 * k;                                 /* a vector with gaps */
    case 2: return 5 + k;                                 /* data behind the place */
    case 3: return -2 * n * n + 2 * k;                    /* data before it */
    case 4: return (k / n) * (n + 2) + k % n;             /* part of a larger array */
    default: return k;
    }
}

static MPI_Datatype type;

static MPI_Datatype made(void)
{
    MPI_Datatype made, inner;
    int places[MOST * MOST];
    for (int k = 0; k < n * n; k++)
        places[k] = place(k);
    MPI_Type_create_indexed_block(n * n, 1, places, MPI_INT, &inner);
    extent = n * n;
    if (kind == 0) {
        MPI_Type_free(&inner);
        MPI_Type_contiguous(n * n, MPI_INT, &made);
    } else if (kind == 1) {
        MPI_Type_free(&inner);
        MPI_Type_vector(n * n, 1, 3, MPI_INT, &made);
        extent = 3 * n * n - 2;
    } else {
        extent = 4 * n * n + 7;
        MPI_Type_create_resized(inner, 0, 4 * extent, &made);
        MPI_Type_free(&inner);
    }
    MPI_Type_commit(&made);
    return made;
}

static void product(const int *a, const int *b, int *result)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            result[i * n + j] = sum % MODULUS;
        }
}

static int calls;

static void operate(void *in, void *inout, int *count, MPI_Datatype *of)
{
    int *a = in, *b = inout, first[MOST * MOST], second[MOST * MOST], result[MOST * MOST];
    MPI_Aint lower, bytes;
    calls++;
    MPI_Type_get_extent(*of, &lower, &bytes);
    if (*of != type || bytes != 4 * extent)
        exit(4);
    for (int one = 0; one < *count; one++, a += extent, b += extent) {
        for (int k = 0; k < n * n; k++) {
            first[k] = a[place(k)];
            second[k] = b[place(k)];
        }
        product(first, second, result);
        for (int k = 0; k < n * n; k++)
            b[place(k)] = result[k];
    }
}

static unsigned state;
static int random_below(int most)
{
    state = state * 1103515245u + 12345u;
    return (int) (state >> 16) % most;
}

/* Element `one` of rank `rank`, in turn `turn`. */
static void element(int turn, int rank, int one, int *matrix)
{
    unsigned word = 7919u * turn + 104729u * rank + 1299709u * one + 1;
    for (int k = 0; k < n * n; k++) {
        word = word * 1664525u + 1013904223u;
        matrix[k] = (int) (word >> 20) % MODULUS;
    }
}

static int out[WORDS], into[WORDS], middle = WORDS / 4;

static void put(int *memory, int one, const int *matrix)
{
    for (int k = 0; k < n * n; k++)
        memory[middle + one * extent + place(k)] = matrix[k];
}

/* Whether element `at` of `memory` is the product of element `one` of ranks `first` to `last`; it
 * is erased, so that what was touched beside is found. */
static int is(int *memory, int at, int turn, int one, int first, int last)
{
    int wanted[MOST * MOST], next[MOST * MOST], found[MOST * MOST];
    element(turn, first, one, wanted);
    for (int rank = first + 1; rank <= last; rank++) {
        element(turn, rank, one, next);
        product(wanted, next, found);
        memcpy(wanted, found, sizeof wanted);
    }
    for (int k = 0; k < n * n; k++) {
        int *where = &memory[middle + at * extent + place(k)];
        if (*where != wanted[k])
            return 0;
        *where = -1;
    }
    return 1;
}

static void erase(int *memory, int count)
{
    for (int one = 0; one < count; one++)
        for (int k = 0; k < n * n; k++)
            memory[middle + one * extent + place(k)] = -1;
}

int main(int argc, char **argv)
{
    int rank, size, counts[RANKS];
    MPI_Op op;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    state = atoi(argv[1]);
    for (int turn = 0; turn < atoi(argv[2]); turn++) {
        n = 1 + random_below(MOST - 1);
        kind = random_below(5);
        type = made();
        int call = random_below(7), root = random_below(size), in_place = random_below(2);
        int waits = random_below(2), each = 1 + random_below(2), count = each, ok = 1;
        MPI_Request request = MPI_REQUEST_NULL;
        int *given = in_place ? into : out;
        void *place = &into[middle], *from = in_place ? MPI_IN_PLACE : (void *) &out[middle];
        MPI_Op_create(operate, 0, &op);
        if (call >= 5)
            count = each * size;
        for (int at = 0; at < WORDS; at++)
            out[at] = into[at] = -1;
        for (int one = 0; one < count; one++) {
            int matrix[MOST * MOST];
            element(turn, rank, one, matrix);
            put(given, one, matrix);
        }
        for (int r = 0; r < size; r++)
            counts[r] = each;
        if (call == 0) {
            if (rank != root)
                from = &given[middle], place = NULL;
            waits ? MPI_Reduce(from, place, count, type, op, root, comm)
                  : MPI_Ireduce(from, place, count, type, op, root, comm, &request);
        } else if (call == 1)
            waits ? MPI_Allreduce(from, place, count, type, op, comm)
                  : MPI_Iallreduce(from, place, count, type, op, comm, &request);
        else if (call == 2)
            waits ? MPI_Scan(from, place, count, type, op, comm)
                  : MPI_Iscan(from, place, count, type, op, comm, &request);
        else if (call == 3)
            waits ? MPI_Exscan(from, place, count, type, op, comm)
                  : MPI_Iexscan(from, place, count, type, op, comm, &request);
        else if (call == 4) {
            int second[MOST * MOST];
            for (int one = 0; one < count; one++) {
                element(turn, rank + 1, one, second);
                put(given == out ? into : out, one, second);
            }
            MPI_Reduce_local(&given[middle], given == out ? &into[middle] : &out[middle], count,
                             type, op);
        } else if (call == 5)
            waits ? MPI_Reduce_scatter(from, place, counts, type, op, comm)
                  : MPI_Ireduce_scatter(from, place, counts, type, op, comm, &request);
        else
            waits ? MPI_Reduce_scatter_block(from, place, each, type, op, comm)
                  : MPI_Ireduce_scatter_block(from, place, each, type, op, comm, &request);
        MPI_Op_free(&op);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int one = 0; one < each; one++) {
            if (call == 0)
                ok &= rank != root || is(into, one, turn, one, 0, size - 1);
            else if (call == 1)
                ok &= is(into, one, turn, one, 0, size - 1);
            else if (call == 2)
                ok &= is(into, one, turn, one, 0, rank);
            else if (call == 3)
                ok &= rank ? is(into, one, turn, one, 0, rank - 1)
                           : !in_place || is(into, one, turn, one, 0, 0);
            else if (call == 4)
                ok &= is(given == out ? into : out, one, turn, one, rank, rank + 1);
            else
                ok &= is(into, one, turn, each * rank + one, 0, size - 1);
        }
        /* Nothing else was written. */
        erase(given, count);
        for (int at = 0; at < WORDS; at++)
            ok &= into[at] == -1 && out[at] == -1;
        if (!ok) {
            printf("turn %d: call %d, kind %d, n %d, count %d, root %d, in place %d, waits %d\n",
                   turn, call, kind, n, each, root, in_place, waits);
            return 2;
        }
        MPI_Type_free(&type);
    }
    if (size > 1 && !calls)
        return 5;
    MPI_Finalize();
    return 0;
}
