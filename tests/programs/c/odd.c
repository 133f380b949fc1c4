/* What a program does that no rank may do, one thing for each argument. */

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern int nobody(int);
static int rank, sum;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static void *volatile freed;

int PMPI_Comm_size(MPI_Comm comm, int *size);

/* A profiling layer: it counts, and calls the other one. */
int MPI_Comm_size(MPI_Comm comm, int *size)
{
    int code = PMPI_Comm_size(comm, size);
    *size += 100;
    return code;
}

static void *calls(void *_)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return NULL;
}

static void *computes(void *_)
{
    for (int i = 0; i < 1000; i++)
        sum += i;
    return NULL;
}

static void spin(void)
{
    for (volatile unsigned long i = 0;; i++)
        ;  /* for ever */
}

static void wait_for_ever(void)
{
    pthread_mutex_lock(&held);
    pthread_mutex_lock(&held);  /* nobody unlocks it */
}

static void free_twice(void)
{
    freed = malloc(100);
    free(freed);
    free(freed);  /* twice */
}

int main(int argc, char **argv)
{
    const char *what = argv[1];
    pthread_t thread;
    int size, status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1 && !strcmp(what, "thread"))
        pthread_create(&thread, NULL, calls, NULL), pthread_join(thread, NULL);
    if (!strcmp(what, "threads compute")) {
        pthread_create(&thread, NULL, computes, NULL);
        pthread_join(thread, NULL);
        printf("%d\n", sum);
    }
    if (rank == 1 && !strcmp(what, "child")) {
        if (!fork()) {
            MPI_Barrier(MPI_COMM_WORLD);
            exit(0);
        }
        wait(&status);
        printf("%d\n", WEXITSTATUS(status));
    }
    if (rank == 1 && !strcmp(what, "children")) {
        if (!fork())
            exit(7);
        wait(&status);
        printf("%d\n", WEXITSTATUS(status));
    }
    if (rank == 1 && !strcmp(what, "child returns")) {
        if (!fork())
            return 9;
        wait(&status);
        printf("%d\n", WEXITSTATUS(status));
    }
    if (rank == 1 && !strcmp(what, "a child aborts")) {
        if (!fork())
            abort();
        wait(&status);
        printf("%d\n", WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
    if (rank == 1 && !strcmp(what, "wait"))
        wait_for_ever();
    if (rank == 1 && !strcmp(what, "free"))
        free_twice();
    if (rank == 1 && !strcmp(what, "nap"))
        printf("%d\n", usleep(200000));
    if (rank == 1 && !strcmp(what, "spin"))
        spin();
    if (rank == 1 && !strcmp(what, "sleep"))
        for (;;)
            usleep(10000);
    if (!strcmp(what, "options")) {
        int found = getopt(argc, argv, "n:");
        MPI_Barrier(MPI_COMM_WORLD);
        printf("%c %s %d\n", found, optarg, optind);
    }
    if (!strcmp(what, "nothing to put")) {
        int x = rank, *memory;
        MPI_Win window;
        MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
        MPI_Win_fence(0, window);
        MPI_Put(&x, 0, MPI_INT, 0, 0, 0, MPI_INT, window);
        MPI_Get(&x, 0, MPI_INT, 0, 0, 0, MPI_INT, window);
        MPI_Win_fence(0, window);
        MPI_Win_free(&window);
    }
    if (!strcmp(what, "handler")) {
        MPI_Comm own;
        MPI_Comm_dup(MPI_COMM_WORLD, &own);
        MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
        printf("%d\n", MPI_Allreduce(&size, &status, 1, MPI_INT, MPI_OP_NULL, own) == MPI_ERR_OP);
    }
    if (rank == 1 && !strcmp(what, "nobody"))
        nobody(1);
    if (rank == 1 && !strcmp(what, "in a call"))
        MPI_Send((void *) 0x10000, 100, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (!strcmp(what, "window")) {  /* its memory goes before it does */
        void *memory = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                            -1, 0);
        MPI_Win window;
        MPI_Win_create(memory, 1 << 16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_fence(0, window);
        munmap(memory, 1 << 16);
        MPI_Win_free(&window);
        printf("freed\n");
    }
    if (!strcmp(what, "profile")) {
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        printf("%d\n", size);
    }
    MPI_Finalize();
    return 0;
}
