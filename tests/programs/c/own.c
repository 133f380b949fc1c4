/* What the C library keeps for a process. With -DALONE a program without MPI, whose output is what
 * each rank's must be. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef ALONE
#define MPI_Barrier(comm)
#else
#include <mpi.h>
#endif

static void last(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    printf("last\n");
#ifndef ALONE
    MPI_Finalize();
#endif
}

static void first(int status, void *text)
{
    MPI_Barrier(MPI_COMM_WORLD);
    printf("first %s %d\n", (char *) text, status);
    if (status == 0)
        exit(0);  /* goes on with the others */
}

static void numbers(int seed)
{
    static char state[64];
    unsigned short own[3] = {1, 2, (unsigned short) seed}, *before;
    unsigned short parameters[7] = {1, 2, 3, 4, 5, 6, (unsigned short) seed};
    char *old;
    printf("%d %ld %f %ld\n", rand(), random(), drand48(), mrand48());
    for (int i = 0; i < 4; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (i == 1)
            srand(seed), srand48(seed);
        if (i == 3)
            srandom(seed + 1), lcong48(parameters);
        for (int j = 0; j < 40; j++) {
            MPI_Barrier(MPI_COMM_WORLD);
            printf("%d %ld ", rand(), random());
        }
        printf("%f %f %ld %ld %ld %ld\n", drand48(), erand48(own), lrand48(), nrand48(own),
               mrand48(), jrand48(own));
    }
    before = seed48(own);
    printf("%d %d %d %ld\n", before[0], before[1], before[2], lrand48());
    old = initstate(seed, state, sizeof state);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d %d\n", rand(), setstate(old) == state);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d\n", rand());
}

static void words(int seed)
{
    char text[64];
    time_t when = 1000000000 + 86400 * seed;
    struct tm *day = gmtime(&when);
    snprintf(text, sizeof text, "a%d b%d,c%d  d%d", seed, seed, seed, seed);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, ", ")) {
        MPI_Barrier(MPI_COMM_WORLD);
        printf("%s\n", word);
    }
    printf("%d\n", day->tm_mday);
}

static void input(const char *file)
{
    char line[64] = "", byte;
    int number = -1, other = -1, got = scanf("%d %d\n", &number, &other);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d %d %d ", got, number, other);
    printf("%d ", getchar());
    printf("%s %d ", fgets(line, sizeof line, stdin) ? line : "none\n", fileno(stdin));
    got = scanf("%d", &number);
    printf("%d %d %d %d\n", got, number, feof(stdin) != 0, (int) read(0, &byte, 1));
    printf("%d ", freopen(file, "r", stdin) == stdin);
    MPI_Barrier(MPI_COMM_WORLD);
    got = scanf("%63s", line);
    printf("%d %s\n", got, line);
    rewind(stdin);
    printf("%d\n", getchar());
    printf("%d\n", freopen("/none", "r", stdin) == NULL);
}

int main(int argc, char **argv)
{
    int seed = atoi(argv[2]);
#ifndef ALONE
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    seed += rank;
#endif
    if (!strcmp(argv[1], "numbers"))
        numbers(seed);
    else if (!strcmp(argv[1], "words"))
        words(seed);
    else if (!strcmp(argv[1], "input"))
        input(argv[3]);
    atexit(last);
    on_exit(first, strcmp(argv[1], "words") ? "by exit" : "by return");
    if (!strcmp(argv[1], "numbers"))
        exit(0);
    if (!strcmp(argv[1], "stops"))
        _exit(4);
    if (!strcmp(argv[1], "fails"))
        exit(5);
    return 0;
}
