/* Beneath a C program that nicbed loads, a copy of it for each rank: its calls go to Python and come
 * back, and its end does not end the process. The definitions of mpi.h's calls follow (header.py). */

#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* By the C library's other names: a program that uses these itself is warned (shared.py). */
int __sigaction(int number, const struct sigaction *action, struct sigaction *before);
void (*bsd_signal(int number, void (*handler)(int)))(int);
#define sigaction(...) __sigaction(__VA_ARGS__)
#define signal(...) bsd_signal(__VA_ARGS__)

typedef intptr_t nicbed_word;
typedef int nicbed_function(int number, nicbed_word *arguments);

int main(int argc, char **argv);
static const char *nicbed_name(int number);
void nicbed_libc(int rank);         /* libc.c */
void nicbed_at_end(int status);

enum { LEAVE = -2147483647 - 1, ABORTED = 134, ABSENT = -1 };
enum { COMPUTES = 1, WAITS = 2, PLACES = 6 };

/* What all copies and Python share (program.py, Shared). */
struct nicbed_shared {
    volatile int running;        /* the rank whose code runs; -1: Python */
    volatile int inside;         /* the rank whose call Python carries out; -1: none */
    volatile int call;           /* that call */
    volatile unsigned entries;   /* how often Python has gone over to a program */
    volatile double patience;    /* seconds that a program may take between two entries: of the CPU,
                                  * or of any clock, if it waits for something outside the target */
    volatile int spins;          /* the program that runs has taken them: COMPUTES or WAITS */
    volatile unsigned looks;     /* how often the program was looked at */
    uintptr_t places[PLACES];    /* where, in its code (places_of); 0: no more of them */
    volatile uintptr_t low, high;  /* the code of the copy that runs */
    void (*volatile leave)(void);  /* how its code is left */
    int said;                    /* where lines go that are said while the process ends */
    char library[4096];          /* the file of which all are copies */
};

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static nicbed_function *function;
static int own, status;
static struct nicbed_shared *shared;
static jmp_buf end, operation_end;
static int operating;  /* a function of the program is called by Python */
static pid_t process, thread;

static void leave(void);

/* Begins a function that calls the program. An exception in C++ that nobody catches ends there: the
 * unwinder of a program cannot go through the code of Python. */
#if defined(__x86_64__)
#define OUTERMOST() __asm__ volatile (".cfi_undefined rip")
#elif defined(__aarch64__)
#define OUTERMOST() __asm__ volatile (".cfi_undefined x30")
#else
#define OUTERMOST() (void) 0
#endif

/* Python goes over to the program. */
static void enter(void)
{
    shared->leave = leave;
    shared->low = (uintptr_t) __ehdr_start;
    shared->high = (uintptr_t) etext;
    shared->entries++;
    shared->running = own;
}

/* The program's code begins or goes on; whatever it does leaves by here. */
int nicbed_start(nicbed_function *calls, int rank, struct nicbed_shared *common, int argc,
                 char **argv)
{
    OUTERMOST();
    function = calls;
    own = rank;
    shared = common;
    process = getpid();
    thread = (pid_t) syscall(SYS_gettid);
    optind = 1;  /* getopt's, which the copies share: another rank has used it up */
    nicbed_libc(own);
    if (!setjmp(end)) {
        enter();
        errno = 0;
        status = main(argc, argv);
        if (getpid() != process)
            exit(status);  /* of a child, which has nothing of Python's */
        nicbed_at_end(status);
    }
    shared->running = -1;
    fflush(NULL);
    return status;
}

/* The process ends at once with a line: nothing else can be done where it is called. A child's line
 * is one of those that the rank prints. */
__attribute__((noreturn)) static void end_with(const char *call, const char *why)
{
    char line[256];
    int length = snprintf(line, sizeof line, "\nnicbed: rank %d: %s %s\n", own, call, why);
    int child = getpid() != process;
    if (write(child ? STDERR_FILENO : shared->said, line + child, (size_t) (length - child)) < 0)
        syscall(SYS_exit_group, 2);
    syscall(SYS_exit_group, 1);
    __builtin_unreachable();
}

/* A line about what the program changes for all ranks. */
void nicbed_shares(const char *call, const char *what)
{
    if (shared && getpid() == process)
        dprintf(shared->said, "nicbed: rank %d calls %s: all ranks share %s (docs/tutorials/mpi.md)\n", own,
                call, what);
}

/* `call` may only be made by the rank's own thread. */
static void check(const char *call)
{
    if (getpid() != process)
        end_with(call, "was called in a child of fork(), which is no rank");
    if ((pid_t) syscall(SYS_gettid) != thread)
        end_with(call, "was called in a second thread: only the thread of main() may call MPI");
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
    int result, kept = errno, index = optind, option = optopt, tells = opterr;
    char *argument = optarg;
    check(nicbed_name(number));
    shared->running = -1;
    fflush(stdout);
    fflush(stderr);
    result = function(number, arguments);
    enter();
    if (result == LEAVE)
        leave();
    errno = kept;
    optind = index, optopt = option, opterr = tells, optarg = argument;
    return result;
}

/* What stands for a function that nobody has (compiler.py). */
void nicbed_absent(const char *name)
{
    nicbed_word arguments[] = {(nicbed_word) name};
    nicbed_call(ABSENT, arguments);
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
    OUTERMOST();
    operating = 1;
    if (!setjmp(operation_end)) {
        enter();
        *result = callback(given[0], given[1], given[2], given[3], given[4], given[5]);
        came_back = 1;
    }
    shared->running = -1;
    operating = before;
    memcpy(&operation_end, &outer, sizeof outer);
    return came_back;
}

/* How often the program was looked at by a signal, which ends what waits in the C library. */
unsigned nicbed_looks(void)
{
    return shared ? shared->looks : 0;
}

/* The status with which an operation ended the program. */
int nicbed_status(void)
{
    return status;
}

/* In place of the C library's, for calls from the program. */
__attribute__((noreturn)) void _exit(int code)
{
    if (getpid() != process)
        syscall(SYS_exit_group, code);
    if ((pid_t) syscall(SYS_gettid) != thread)
        end_with("exit()", "was called in a second thread: only the thread of main() may end it");
    status = code;
    leave();
}

__attribute__((noreturn)) void exit(int code)
{
    nicbed_at_end(code);
    if (getpid() != process)
        fflush(NULL);
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
    if (getpid() != process) {
        signal(SIGABRT, SIG_DFL);
        raise(SIGABRT);
    }
    _exit(ABORTED);
}

/* What assert() calls; the C library's would end the process. */
__attribute__((noreturn)) void __assert_fail(const char *condition, const char *file,
                                             unsigned line, const char *function)
{
    fprintf(stderr, "%s:%u: %s: assertion `%s' failed\n", file, line, function, condition);
    abort();
}

/* A crash of a rank is one line, and the end of the process. */
static struct nicbed_shared *guarded;
static stack_t own_stack;
static struct sigaction looks;  /* Python's look at programs that run long */
static pid_t guarding;
enum { TRIES = 12, WORDS = 2048, IDLE = 10 };

/* Where a signal came, and what the stack's pointer was; 0: not known. */
static uintptr_t place_now(void *context, uintptr_t *top)
{
    ucontext_t *now = context;
#if defined(__x86_64__)
    *top = (uintptr_t) now->uc_mcontext.gregs[REG_RSP];
    return (uintptr_t) now->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    *top = (uintptr_t) now->uc_mcontext.sp;
    return (uintptr_t) now->uc_mcontext.pc;
#else
    (void) now;
    return *top = 0;
#endif
}

/* Where in the program's code a signal came, and then the calls of its own that have not come back,
 * innermost first, which are looked for on the stack: what was left there before may be among them.
 * As many as there are. */
static int places_of(void *context, uintptr_t *places)
{
    uintptr_t top, at = place_now(context, &top);
    uintptr_t low = guarded->low, high = guarded->high;
    int count = 0;
    if (at >= low && at < high)
        places[count++] = at;
    uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE), word = top & ~(uintptr_t) 7;
    unsigned char there;
    for (int i = 0; top && i < WORDS && count < PLACES; i++, word += sizeof word) {
        if ((i == 0 || word % page == 0) && mincore((void *) (word & ~(page - 1)), 1, &there))
            break;  /* a stack that is full points to where there is no memory */
        uintptr_t found = *(uintptr_t *) word;
        if (found > low && found < high)
            places[count++] = found - 1;
    }
    return count;
}

static void crashed(int number, siginfo_t *_, void *context)
{
    char line[256];
    const char *name = number == SIGSEGV ? "SIGSEGV, an access to memory that it does not have, or "
                                           "more of a stack than there is"
                     : number == SIGBUS ? "SIGBUS" : number == SIGFPE ? "SIGFPE, a division by zero"
                     : number == SIGABRT ? "SIGABRT, by the C library: a damaged heap or stack"
                     : "SIGILL";
    int rank = guarded->running >= 0 ? guarded->running : guarded->inside;
    if (rank >= 0 && getpid() == guarding) {
        uintptr_t places[PLACES];
        int count = guarded->running >= 0 ? places_of(context, places) : 0;
        const char *call = guarded->running < 0 && guarded->call >= 0 ? nicbed_name(guarded->call)
                         : "";
        int length = snprintf(line, sizeof line, "\nnicbed: rank %d crashed%s%s: ", rank,
                              *call ? " in " : "", call);
        if (write(guarded->said, line, (size_t) length) < 0
            || write(guarded->said, name, strlen(name)) < 0)
            number = SIGKILL;
        length = 0;
        for (int i = 0; i < count; i++)
            length += snprintf(line + length, sizeof line - (size_t) length, "+0x%lx",
                               (unsigned long) (places[i] - guarded->low));
        if (count && (write(guarded->said, " [", 2) < 0
                      || write(guarded->said, guarded->library, strlen(guarded->library)) < 0
                      || write(guarded->said, line, (size_t) length) < 0
                      || write(guarded->said, "]", 1) < 0))
            number = SIGKILL;
        if (write(guarded->said, "\n", 1) < 0)
            number = SIGKILL;
    }
    signal(number, SIG_DFL);
    raise(number);
}

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

/* A program that takes longer than it may between two calls is left. */
static void looked(int number, siginfo_t *info, void *context)
{
    static unsigned seen;
    static int tries;
    static double since, begun;
    guarded->looks++;
    if (getpid() == guarding && guarded->running >= 0
        && (pid_t) syscall(SYS_gettid) == guarding) {
        double computed = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - since;
        double passed = seconds_of(CLOCK_MONOTONIC) - begun;
        int waits = computed * IDLE < passed;
        if (seen != guarded->entries) {
            seen = guarded->entries;
            since += computed;
            begun += passed;
            tries = 0;
        } else if ((waits ? passed : computed) >= guarded->patience) {
            uintptr_t top, places[PLACES];
            int count = places_of(context, places);
            int inside = count && places[0] == place_now(context, &top);
            if (inside || waits || ++tries > TRIES) {  /* the C library may hold a lock, but where
                                                        * it waits */
                sigset_t set;
                guarded->spins = waits ? WAITS : COMPUTES;
                for (int i = 0; i < PLACES; i++)
                    guarded->places[i] = i < count ? places[i] - guarded->low : 0;
                sigemptyset(&set);
                sigaddset(&set, number);
                pthread_sigmask(SIG_UNBLOCK, &set, NULL);
                guarded->leave();
            }
        }
    }
    if (looks.sa_flags & SA_SIGINFO)
        looks.sa_sigaction(number, info, context);
    else if (looks.sa_handler != SIG_DFL && looks.sa_handler != SIG_IGN)
        looks.sa_handler(number);
}

/* Watch for crashes, and for programs that take long, or watch no more. `look`: the signal by which
 * Python looks at them. */
int nicbed_guard(struct nicbed_shared *common, int look)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    static struct sigaction before[COUNT];
    struct sigaction action = {0};
    guarded = common;
    if (!common) {
        own_stack.ss_flags = SS_DISABLE;
        sigaltstack(&own_stack, NULL);
        free(own_stack.ss_sp);
        own_stack = (stack_t) {0};
    }
    if (common) {
        guarding = getpid();
        own_stack.ss_size = 1 << 16;
        own_stack.ss_sp = malloc(own_stack.ss_size);
        if (!own_stack.ss_sp || sigaltstack(&own_stack, NULL))
            return 1;
        action.sa_sigaction = crashed;
        action.sa_flags = SA_ONSTACK | SA_SIGINFO;
    }
    for (int i = 0; i < COUNT; i++)
        if (sigaction(numbers[i], common ? &action : &before[i], common ? &before[i] : NULL))
            return 1;
    action.sa_sigaction = looked;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    return sigaction(look, common ? &action : &looks, common ? &looks : NULL);
}
