/* Beneath a C program that nicbed loads, a copy of it for each rank: what the C library keeps for a
 * process, each rank has for itself. The numbers are those of the C library, whose functions with
 * a state of the caller's stand behind these. All are weak: a program may have its own of any name.
 */

#define _GNU_SOURCE
#define __NO_INLINE__ 1  /* the headers' own bodies of getchar and others */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#undef getchar
#undef getchar_unlocked
#undef strtok
#define OWN __attribute__((weak))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  /* for threads that compute */

/* rand, random */

static struct random_data numbers;
static char first_state[128];  /* of the length that the C library begins with */

static long next_number(void)
{
    int32_t result;
    pthread_mutex_lock(&lock);
    if (!numbers.state)
        initstate_r(1, first_state, sizeof first_state, &numbers);
    random_r(&numbers, &result);
    pthread_mutex_unlock(&lock);
    return result;
}

static void begin_numbers(unsigned seed)
{
    pthread_mutex_lock(&lock);
    if (numbers.state)
        srandom_r(seed, &numbers);
    else
        initstate_r(seed, first_state, sizeof first_state, &numbers);
    pthread_mutex_unlock(&lock);
}

OWN int rand(void)
{
    return (int) next_number();
}

OWN void srand(unsigned seed)
{
    begin_numbers(seed);
}

OWN long random(void)
{
    return next_number();
}

OWN void srandom(unsigned seed)
{
    begin_numbers(seed);
}

/* Changes the state by `change`; the one before, as its user knows it. */
static char *change_state(int (*change)(void *), void *given)
{
    char *before;
    int failed;
    pthread_mutex_lock(&lock);
    if (!numbers.state)
        initstate_r(1, first_state, sizeof first_state, &numbers);
    before = (char *) (numbers.state - 1);
    failed = change(given);
    pthread_mutex_unlock(&lock);
    return failed ? NULL : before;
}

struct begin {
    unsigned seed;
    char *state;
    size_t length;
};

static int initialise(void *given)
{
    struct begin *begin = given;
    return initstate_r(begin->seed, begin->state, begin->length, &numbers);
}

static int set(void *state)
{
    return setstate_r(state, &numbers);
}

OWN char *initstate(unsigned seed, char *state, size_t length)
{
    struct begin begin = {seed, state, length};
    return change_state(initialise, &begin);
}

OWN char *setstate(char *state)
{
    return change_state(set, state);
}

/* drand48 and its like: all zero is how the C library begins */

static struct drand48_data numbers48;

OWN double drand48(void)
{
    double result;
    drand48_r(&numbers48, &result);
    return result;
}

OWN double erand48(unsigned short state[3])
{
    double result;
    erand48_r(state, &numbers48, &result);
    return result;
}

OWN long lrand48(void)
{
    long result;
    lrand48_r(&numbers48, &result);
    return result;
}

OWN long nrand48(unsigned short state[3])
{
    long result;
    nrand48_r(state, &numbers48, &result);
    return result;
}

OWN long mrand48(void)
{
    long result;
    mrand48_r(&numbers48, &result);
    return result;
}

OWN long jrand48(unsigned short state[3])
{
    long result;
    jrand48_r(state, &numbers48, &result);
    return result;
}

OWN void srand48(long seed)
{
    srand48_r(seed, &numbers48);
}

OWN unsigned short *seed48(unsigned short state[3])
{
    seed48_r(state, &numbers48);
    return numbers48.__old_x;
}

OWN void lcong48(unsigned short parameters[7])
{
    lcong48_r(parameters, &numbers48);
}

/* Places for results */

OWN char *strtok(char *text, const char *between)
{
    static char *rest;
    return strtok_r(text, between, &rest);
}

static struct tm broken_down;
static char written[64];

OWN struct tm *localtime(const time_t *when)
{
    tzset();
    return localtime_r(when, &broken_down);
}

OWN struct tm *gmtime(const time_t *when)
{
    return gmtime_r(when, &broken_down);
}

OWN char *asctime(const struct tm *when)
{
    return asctime_r(when, written);
}

OWN char *ctime(const time_t *when)
{
    return asctime(localtime(when));
}

/* What is called at the end, C++'s destructors included */

struct handler {
    enum { PLAIN, STATUS, OBJECT } kind;
    void *function, *argument;
};

static struct handler *handlers;
static size_t handler_count, handler_room;

static int keep(int kind, void *function, void *argument)
{
    int failed = 0;
    pthread_mutex_lock(&lock);
    if (handler_count == handler_room) {
        size_t room = 2 * handler_room + 32;
        struct handler *more = realloc(handlers, room * sizeof *more);
        failed = !more;
        if (more) {
            handlers = more;
            handler_room = room;
        }
    }
    if (!failed)
        handlers[handler_count++] = (struct handler) {kind, function, argument};
    pthread_mutex_unlock(&lock);
    return failed ? -1 : 0;
}

OWN int atexit(void (*function)(void))
{
    return keep(PLAIN, (void *) function, NULL);
}

OWN int on_exit(void (*function)(int, void *), void *argument)
{
    return keep(STATUS, (void *) function, argument);
}

OWN int __cxa_atexit(void (*function)(void *), void *argument, void *library)
{
    (void) library;
    return keep(OBJECT, (void *) function, argument);
}

/* The program has returned from main, or calls exit, with `status`. A handler may add others, and
 * may call exit, which goes on with those that are left. */
void nicbed_at_end(int status)
{
    while (handler_count) {
        struct handler last = handlers[--handler_count];
        if (last.kind == PLAIN)
            ((void (*)(void)) last.function)();
        else if (last.kind == STATUS)
            ((void (*)(int, void *)) last.function)(status, last.argument);
        else
            ((void (*)(void *)) last.function)(last.argument);
    }
}

/* The current directory: Python looks whether the program has changed it. */

int nicbed_moved;

OWN int chdir(const char *path)
{
    int result = (int) syscall(SYS_chdir, path);
    nicbed_moved |= !result;
    return result;
}

OWN int fchdir(int folder)
{
    int result = (int) syscall(SYS_fchdir, folder);
    nicbed_moved |= !result;
    return result;
}

/* Standard input: rank 0 has the process's, the others have an empty file. It is there before C++
 * makes its own of it, and before it is known which rank this is. */

static int source;  /* a descriptor; -1: there is nothing */
static int reopened;

OWN FILE *stdin;

static ssize_t take(void *cookie, char *to, size_t length)
{
    struct iovec place = {to, length};
    (void) cookie;
    return source < 0 ? 0 : readv(source, &place, 1);
}

static int seek(void *cookie, off64_t *place, int from)
{
    off64_t found;
    (void) cookie;
    if (source < 0) {
        *place = 0;
        return 0;
    }
    found = lseek64(source, *place, from);
    if (found < 0)
        return -1;
    *place = found;
    return 0;
}

static int closed(void *cookie)
{
    (void) cookie;
    if (reopened)
        close(source);
    source = -1;
    return 0;
}

__attribute__((constructor(1))) static void open_input(void)
{
    stdin = fopencookie(NULL, "r", (cookie_io_functions_t) {take, NULL, seek, closed});
}

/* The program is that of `rank`. */
void nicbed_libc(int rank)
{
    source = rank ? -1 : 0;
}

void nicbed_shares(const char *call, const char *what);  /* runtime.c */

OWN FILE *freopen(const char *path, const char *mode, FILE *file)
{
    FILE *input;
    if (file == stdout || file == stderr)
        nicbed_shares("freopen", "standard output and error");
    if (file != stdin || !path)
        return freopen64(path, mode, file);
    closed(NULL);
    input = fopen(path, mode);
    if (!input)
        return NULL;
    source = dup(fileno_unlocked(input));
    reopened = 1;
    fclose(input);
    __fpurge(stdin);
    clearerr(stdin);
    return stdin;
}

OWN int fileno(FILE *file)
{
    return file == stdin ? 0 : fileno_unlocked(file);
}

OWN ssize_t read(int descriptor, void *to, size_t length)
{
    struct iovec place = {to, length};
    if (descriptor == 0 && source < 0)
        return 0;
    return readv(descriptor ? descriptor : source, &place, 1);
}

OWN int getchar(void)
{
    return getc(stdin);
}

OWN int getchar_unlocked(void)
{
    return getc_unlocked(stdin);
}

OWN char *gets(char *line)
{
    char *to = line;
    int got;
    while ((got = getc(stdin)) != EOF && got != '\n')
        *to++ = (char) got;
    *to = 0;
    return (got == EOF && to == line) || ferror(stdin) ? NULL : line;
}

/* By all names that the headers of C's versions give them. */
#define SCANF(name, with_list) \
    OWN int own_##with_list(const char *format, va_list given) __asm__(#with_list); \
    int own_##with_list(const char *format, va_list given) \
    { \
        return vfscanf(stdin, format, given); \
    } \
    OWN int own_##name(const char *format, ...) __asm__(#name); \
    int own_##name(const char *format, ...) \
    { \
        va_list given; \
        int result; \
        va_start(given, format); \
        result = vfscanf(stdin, format, given); \
        va_end(given); \
        return result; \
    }
SCANF(scanf, vscanf)
SCANF(__isoc99_scanf, __isoc99_vscanf)
SCANF(__isoc23_scanf, __isoc23_vscanf)

/* Waiting for a time. The signal by which nicbed looks at programs ends it, and it goes on. */

unsigned nicbed_looks(void);  /* runtime.c */

static int was_look(unsigned before)
{
    return errno == EINTR && nicbed_looks() != before;
}

OWN int nanosleep(const struct timespec *time, struct timespec *left)
{
    struct timespec rest = *time;
    unsigned before;
    int result;
    do {
        before = nicbed_looks();
        result = (int) syscall(SYS_nanosleep, &rest, &rest);
    } while (result && was_look(before));
    if (result && left)
        *left = rest;
    return result;
}

OWN int usleep(useconds_t microseconds)
{
    struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
    return nanosleep(&time, NULL);
}

OWN unsigned sleep(unsigned seconds)
{
    struct timespec time = {seconds, 0};
    return nanosleep(&time, &time) ? (unsigned) time.tv_sec + (time.tv_nsec >= 500000000) : 0;
}
