/* Each rank goes to the folder of its number, and is still there after a call. */

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char name[16], before[4096], after[4096];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%d", rank);
    if (chdir(name))
        return 1;
    getcwd(before, sizeof before);
    MPI_Barrier(MPI_COMM_WORLD);
    getcwd(after, sizeof after);
    printf("%s %d\n", strrchr(after, '/') + 1, strcmp(before, after));
    FILE *file = fopen("out.txt", "w");
    fprintf(file, "%d\n", rank);
    fclose(file);
    MPI_Finalize();
    return 0;
}
