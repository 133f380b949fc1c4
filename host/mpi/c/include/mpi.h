/* MPI for C programs on nicbed: all names of MPI 3.1, and those of MPI 1 that it removed. Each
 * declaration is also the source from which its definition is made, and each constant is read from
 * here (header.py). A call that nicbed does not have ends the program with its name. */

#ifndef NICBED_MPI_H
#define NICBED_MPI_H

#ifdef __cplusplus
extern "C" {
#endif

#include "nicbed_mpi/types.h"
#include "nicbed_mpi/constants.h"
#include "nicbed_mpi/environment.h"
#include "nicbed_mpi/messages.h"
#include "nicbed_mpi/datatypes.h"
#include "nicbed_mpi/collective.h"
#include "nicbed_mpi/communicators.h"
#include "nicbed_mpi/windows.h"
#include "nicbed_mpi/files.h"
#include "nicbed_mpi/tools.h"
#include "nicbed_profiling.h"  /* the same calls as PMPI_..., written when a program is compiled */

/* The program computes for so many cycles of the CPU. Nothing else that it does between its calls
 * takes target time, but for the knob mpi.program_cycles. */
void nicbed_compute(double cycles);

#ifdef __cplusplus
}
#endif

#endif
