/* Beneath a C program that nicbed loads, a copy of it for each rank: its calls go to Python and come
 * back, and its end does not end the process. The definitions of mpi.h's calls follow (header.py). */

#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* By the C library's other names: a program that uses these itself is warned (shared.py). */
int __sigaction(int number, const struct sigaction *action, struct sigaction *before);
void (*bsd_signal(int number, void (*handler)(int)))(int);
#define sigaction(...) __sigaction(__VA_ARGS__)
#define signal(...) bsd_signal(__VA_ARGS__)

typedef intptr_t nicbed_word;
typedef int nicbed_function(int number, nicbed_word *arguments);

int main(int argc, char **argv);
void nicbed_libc(int rank);         /* libc.c */
void nicbed_at_end(int status);

enum { LEAVE = -2147483647 - 1, ABORTED = 134 };

static nicbed_function *function;
static int own, status;
static volatile int *running;  /* the rank whose code runs, shared by all copies; -1: Python */
static jmp_buf end, operation_end;
static int operating;  /* a function of the program is called by Python */

/* The program's code begins or goes on; whatever it does leaves by here. */
int nicbed_start(nicbed_function *calls, int rank, volatile int *shared, int argc, char **argv)
{
    function = calls;
    own = rank;
    running = shared;
    *running = own;
    optind = 1;  /* getopt's, which the copies share: another rank has used it up */
    nicbed_libc(own);
    if (!setjmp(end)) {
        status = main(argc, argv);
        nicbed_at_end(status);
    }
    *running = -1;
    fflush(NULL);
    return status;
}

/* Leaves the program's code, but never the Python code by which an operation is called. */
__attribute__((noreturn)) static void leave(void)
{
    if (operating)
        longjmp(operation_end, 1);
    longjmp(end, 1);
}

static int nicbed_call(int number, nicbed_word *arguments)
{
    int result;
    *running = -1;
    fflush(stdout);
    fflush(stderr);
    result = function(number, arguments);
    *running = own;
    if (result == LEAVE)
        leave();
    return result;
}

/* Calls an operation of the program; whether it came back, and did not end the program. */
int nicbed_operate(void (*operation)(void *, void *, int *, int *), void *in, void *inout,
                   int *count, int *datatype)
{
    int came_back = 0;
    operating = 1;
    *running = own;
    if (!setjmp(operation_end)) {
        operation(in, inout, count, datatype);
        came_back = 1;
    }
    *running = -1;
    operating = 0;
    return came_back;
}

/* The status with which an operation ended the program. */
int nicbed_status(void)
{
    return status;
}

/* In place of the C library's, for calls from the program. */
__attribute__((noreturn)) void _exit(int code)
{
    status = code;
    leave();
}

__attribute__((noreturn)) void exit(int code)
{
    nicbed_at_end(code);
    _exit(code);
}

__attribute__((noreturn)) void _Exit(int code)
{
    _exit(code);
}

__attribute__((noreturn)) void quick_exit(int code)
{
    _exit(code);
}

__attribute__((noreturn)) void abort(void)
{
    _exit(ABORTED);
}

/* What assert() calls; the C library's would end the process. */
__attribute__((noreturn)) void __assert_fail(const char *condition, const char *file,
                                             unsigned line, const char *function)
{
    fprintf(stderr, "%s:%u: %s: assertion `%s' failed\n", file, line, function, condition);
    _exit(ABORTED);
}

/* A crash of a rank is one line, and the end of the process. */
static volatile int *guarded;
static int said;
static stack_t own_stack;

static void crashed(int number)
{
    char line[96];
    const char *name = number == SIGSEGV ? "SIGSEGV, an access to memory that it does not have, or "
                                           "more of a stack than there is"
                     : number == SIGBUS ? "SIGBUS" : number == SIGFPE ? "SIGFPE, a division by zero"
                     : number == SIGABRT ? "SIGABRT, by the C library: a damaged heap or stack"
                     : "SIGILL";
    if (*guarded >= 0) {
        int length = snprintf(line, sizeof line, "\nnicbed: rank %d crashed: ", *guarded);
        if (write(said, line, (size_t) length) < 0 || write(said, name, strlen(name)) < 0
            || write(said, "\n", 1) < 0)
            number = SIGKILL;
    }
    signal(number, SIG_DFL);
    raise(number);
}

/* Watch for crashes, or watch no more. `descriptor`: where the line goes. */
int nicbed_guard(volatile int *shared, int descriptor)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    static struct sigaction before[COUNT];
    struct sigaction action = {0};
    guarded = shared;
    said = descriptor;
    if (shared) {
        own_stack.ss_size = 1 << 16;
        own_stack.ss_sp = malloc(own_stack.ss_size);
        if (!own_stack.ss_sp || sigaltstack(&own_stack, NULL))
            return 1;
        action.sa_handler = crashed;
        action.sa_flags = SA_ONSTACK;
    }
    for (int i = 0; i < COUNT; i++)
        if (sigaction(numbers[i], shared ? &action : &before[i], shared ? &before[i] : NULL))
            return 1;
    return 0;
}

/* Calls a function of the program with up to six words; whether it came back, and did not end the
 * program. Others may be called meanwhile, by what it calls. */
int nicbed_callback(int (*callback)(nicbed_word, nicbed_word, nicbed_word, nicbed_word, nicbed_word,
                                    nicbed_word), const nicbed_word *given, int *result)
{
    volatile int came_back = 0;
    int before = operating;
    jmp_buf outer;
    memcpy(&outer, &operation_end, sizeof outer);
    operating = 1;
    *running = own;
    if (!setjmp(operation_end)) {
        *result = callback(given[0], given[1], given[2], given[3], given[4], given[5]);
        came_back = 1;
    }
    *running = -1;
    operating = before;
    memcpy(&operation_end, &outer, sizeof outer);
    return came_back;
}
