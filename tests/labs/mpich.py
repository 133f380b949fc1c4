"""MPICH's test suite on nicbed: its lists of tests, each compiled, run on the functional target and
judged as its own script does.

The suite is not part of nicbed: whoever runs it fetches MPICH's source, and names its folder
test/mpi by NICBED_MPICH_TESTS.
"""

import os
import re
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from nicbed.host.mpi.c import CompileError, c_program, compile_program
from nicbed.host.mpi.c.compiler import ABSENT
from nicbed.host.mpi.c.header import text as header
from nicbed.host.runtime import Runtime
from nicbed.layouts.description import Description
from nicbed.testbench.backends.model.target import Model

from tests.programs.mpi import describe

__all__ = ["CHANGED", "FOLDERS", "OTHERS", "Outcome", "Suite", "Test"]

FOLDERS = """attr coll comm datatype errhan group info init pt2pt rma topo errors/attr errors/coll
errors/comm errors/datatype errors/group errors/pt2pt errors/rma errors/topo""".split()
"""The folders whose tests are run."""
OTHERS = {
    "spawn, errors/spawn": "processes that a program starts",
    "io, errors/io": "files (MPI-IO)",
    "session, part, errors/session": "MPI 4: sessions, partitioned messages",
    "mpi_t, perf, bench, impls, basic": "MPICH's own variables, and times",
    "threads": "calls of several threads at once",
    "ft, ckpoint, errors/faults": "processes that fail, checkpoints",
    "f77, f90, f08, cxx, errors/f77, errors/f90, errors/f08, errors/cxx": "Fortran, and the C++ "
    "binding, which MPI 3 removed",
}
"""Folders out of scope, and what they are about."""
FREED = "a datatype that the test has freed, and whose handle another one has got in MPICH"
FULL = "more data at once than a target has memory for (128 MiB at most)"
SOME = "MPI_Abort of a part of the ranks ends the others, too, as MPI lets it"
CANCELLED = "a send is to be cancelled, which may go on by MPI (MPICH itself expects a failure)"
OUT = {
    **dict.fromkeys(("pt2pt/scancel", "pt2pt/pscancel", "pt2pt/cancelrecv",
                     "pt2pt/scancel_unmatch"), CANCELLED),
    **dict.fromkeys(("pt2pt/manylmt", "pt2pt/huge_anysrc", "coll/uoplong"), FULL),
    **dict.fromkeys(("errors/comm/subcomm_abort", "errors/comm/subcomm_abort2",
                     "errors/comm/intercomm_abort"), SOME),
    "errors/comm/unmatched": "a communicator that is freed is to find messages that nobody has "
    "received, which MPI does not ask for",
    **dict.fromkeys(("rma/win_shared_query 4 -flavor=create",
                     "rma/win_shared_query 4 -flavor=allocate"),
                    "MPI_Win_shared_query of other windows than shared ones, of MPI 4.1"),
    "rma/rma_contig 2 -iter=10000": "a thousand times as many rounds as in the line before it",
    "init/timeout": "the time-out of MPICH's mpiexec",
    "datatype/indexed_misc": FREED, "datatype/indexed_misc_oldapi": FREED,
}
"""Tests out of scope, and why."""
FEWER = "fewer rounds"
INHERITED = ("in MPICH a communicator without a handler of its own has that of MPI_COMM_WORLD; in "
             "MPI the one of its making")
INIT = "MTest_Init(&argc, &argv);"
RETURN = "MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);"
CHANGED = {
    "coll/nonblocking3": ("MAIN_ITERATIONS (100000)", "MAIN_ITERATIONS (1000)", FEWER),
    "comm/ctxalloc": ("i < 1000;", "i < 10;", FEWER),
    "comm/ctxsplit": ("nLoop = 100000", "nLoop = 1000", FEWER),
    "pt2pt/sendflood": ("LOOP_COUNT  100000", "LOOP_COUNT  1000", FEWER),
    "rma/contention_put": ("COUNT         1000", "COUNT         30", FEWER),
    "rma/contention_putget": ("COUNT         1000", "COUNT         30", FEWER),
    **{f"rma/{name}_flush_get": ("ITER 10000", "ITER 300", FEWER)
       for name in ("put", "acc", "gacc", "fop", "cas")},
    "rma/atomic_rmw_cas": ("LOOP_SIZE 10000", "LOOP_SIZE 300", FEWER),
    "rma/atomic_rmw_gacc": ("LOOP_SIZE 15", "LOOP_SIZE 1", FEWER),
    **{f"rma/atomic_get_{name}_int": ("LOOP 100", "LOOP 1", FEWER)
       for name in ("short", "long", "float", "double", "long_double")},
    "rma/atomic_get_2int": ("LOOP 100", "LOOP 1", FEWER),
    "rma/derived_acc_flush_local": ("OPS_NUM 500", "OPS_NUM 4", FEWER),
    "rma/large_acc_flush_local": ("LOOP 500", "LOOP 1", FEWER),
    "rma/manyrma2": ("MAX_COUNT 65536*4/16", "MAX_COUNT 64", FEWER),
    "rma/manyrma2_shm": ("MAX_COUNT 65536*4/16", "MAX_COUNT 64", FEWER),
    "rma/strided_acc_onelock": ("ITERATIONS 10", "ITERATIONS 2", FEWER),
    "errors/rma/cas_type_check": ("i < 10000", "i < 100", FEWER),
    "pt2pt/bsendpending": ("tstart < 2.0", "tstart < 0.002", "it waits for 2 ms in place of 2 s"),
    **{f"errors/comm/{name}_nullarg": (INIT, f"{INIT} {RETURN}", INHERITED)
       for name in ("comm_create", "comm_create_group", "comm_split", "comm_split_type",
                    "intercomm_create")},
    "errors/attr/keyvalmis": (
        RETURN, f"{RETURN} MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);",
        "in MPICH a window's errors go to the handler of MPI_COMM_WORLD; in MPI they are fatal"),
}
"""Tests of which a line is changed: it, that in its place, and why."""
MOST_RANKS = 33
MOST_GIGABYTES = 1.0
SECONDS = 300
"""CPU time of a test."""
LIMIT = 20_000_000_000
CONFIGURATION = """
#define HAVE_STDARG_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STDINT_H 1
#define HAVE_STRING_H 1
#define HAVE_STRINGS_H 1
#define HAVE_INTTYPES_H 1
#define HAVE_UNISTD_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_RESOURCE_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_LIMITS_H 1
#define HAVE_MEMORY_H 1
#define HAVE_STRDUP 1
#define HAVE_USLEEP 1
#define HAVE_GETRUSAGE 1
#define HAVE_MEMSET 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_LONG_LONG 1
#define HAVE__BOOL 1
#define HAVE_FLOAT__COMPLEX 1
#define HAVE_DOUBLE__COMPLEX 1
#define HAVE_LONG_DOUBLE__COMPLEX 1
#define USE_LONG_DOUBLE_COMPLEX 1
#define HAVE_MPI_WIN_CREATE 1
#define USE_STRICT_MPI 1
#define ENABLE_STRICTMPI 1
#define HAVE_MPI_INTEGER16 1
#define HAVE_MPI_REAL16 1
#define HAVE_MPI_COMPLEX32 1
#define SIZEOF_VOID_P 8
#define SIZEOF_INT 4
#define SIZEOF_LONG 8
#define SIZEOF_LONG_LONG 8
#define SIZEOF_SHORT 2
#define POINTERINT_t long
#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX
#define MTEST_HAVE_MIN_MPI_VERSION(major, minor) (MPI_VERSION > (major) \\
    || MPI_VERSION == (major) && MPI_SUBVERSION >= (minor))
"""
"""What its configure would find, on any 64-bit Linux."""
UTILITIES = ("util/mtest.c", "util/mtest_common.c", "util/mtest_single.c", "util/dtypes.c")
ERRORS = r"error: (?:use of undeclared identifier|unknown type name) '((?:MPI|MPIX)_\w+)'"


class Test(NamedTuple):
    """A line of a list of tests: program ``name`` of ``folder``, on so many ranks."""

    __test__ = False
    folder: str
    name: str
    ranks: int
    options: tuple[tuple[str, str], ...]

    def values(self, key: str) -> list[str]:
        """The values of its options ``key``."""
        return [value for name, value in self.options if name == key]

    @property
    def path(self) -> str:
        """Its name, and its folder's."""
        return f"{self.folder}/{self.name}"

    @property
    def out(self) -> str:
        """Why it is out of scope before it is compiled; "" if it is not."""
        for name in (self.path, str(self)):
            if name in OUT:
                return OUT[name]
        if self.ranks > MOST_RANKS:
            return f"more than {MOST_RANKS} ranks"
        if any(float(one) > MOST_GIGABYTES for one in self.values("mem")):
            return "memory of gigabytes"
        return ""

    def __str__(self) -> str:
        given = "".join(f" {value}" for value in self.values("arg"))
        return f"{self.path} {self.ranks}{given}"


class Outcome(NamedTuple):
    """What became of a test ("passed", "failed", "out" of scope), and why."""

    what: str
    why: str = ""


@dataclass
class Suite:
    """The suite in ``folder``, MPICH's test/mpi; what is built lies in ``work``."""

    folder: Path
    work: Path

    def tests(self, folder: str) -> Iterator[Test]:
        """The tests of a folder, in its list's order. Names that its configure puts before a line
        are none of MPI's. Lines that differ only in a choice among MPICH's own algorithms are one
        test."""
        listed = [self.folder / folder / name for name in ("testlist", "testlist.in")]
        lines = next(file for file in listed if file.exists()).read_text().splitlines()
        found: dict[Test, None] = {}
        for line in lines:
            words = line.split("#")[0].split()
            if len(words) < 2 or words[0].startswith("@"):
                continue
            options = tuple((key, value) for key, _, value in
                            (word.partition("=") for word in words[2:])
                            if not (key == "env" and value.startswith("MPIR_CVAR_")))
            found[Test(folder, words[0], int(words[1]), options)] = None
        yield from found

    def library(self, test: Test) -> Path:
        """The program of ``test``, compiled.

        Raises
        ------
        CompileError
            It is refused.
        """
        place = self.work / test.folder / test.name
        found = place / "program.so"
        if found.exists():
            return found
        include = self.work / "include"
        if not include.exists():
            include.mkdir(parents=True)
            (include / "mpitestconf.h").write_text(CONFIGURATION)
            (self.work / "dtpoolsconf.h").write_text(CONFIGURATION)
            (include / "mtest_mpix.h").write_text("")
        place.mkdir(parents=True, exist_ok=True)
        sources, flags = self._made_of(test)
        own = [self._source(test, place, name) for name in sources]
        text = "".join(file.read_text(errors="replace") for file in own if file.exists())
        beside = [self.folder / name for name in UTILITIES]
        if not re.search(r"^\s*int\s+main\s*\(", text, re.MULTILINE):
            beside.append(self.folder / "util" / "run_mpitests.c")
        if "dtpools" in text or "mtest_dtp" in text:
            beside += sorted((self.folder / "dtpools" / "src").glob("*.c"))
        folders = " ".join(f"-I{shlex.quote(str(one))}" for one in (
            include, self.folder / "include", self.folder / "dtpools" / "include",
            self.folder / test.folder))
        return compile_program([*own, *beside], place, f"{folders} -O1 {flags}")

    def _source(self, test: Test, place: Path, name: str) -> Path:
        """File ``name`` of a program; a changed copy in ``place`` of one that is changed."""
        source = self.folder / test.folder / name
        if test.path not in CHANGED:
            return source
        before, after, _ = CHANGED[test.path]
        text = source.read_text(errors="replace")
        assert before in text, f"{test.path} has no line with {before!r}"
        changed = place / name
        changed.write_text(text.replace(before, after))
        return changed

    def _made_of(self, test: Test) -> tuple[list[str], str]:
        """Sources and macros of a program, as its Makefile.am has them."""
        makefile = (self.folder / test.folder / "Makefile.am").read_text()
        found = re.search(rf"^{test.name}_SOURCES\s*=\s*(.*)$", makefile, re.MULTILINE)
        flags = re.search(rf"^{test.name}_CPPFLAGS\s*=\s*(.*)$", makefile, re.MULTILINE)
        macros = re.findall(r"-D\S+", flags[1]) if flags else []
        sources = found[1].split() if found else [f"{test.name}.c"]
        return [name for name in sources if not name.endswith(".h")], " ".join(macros)

    def outcome(self, test: Test) -> Outcome:
        """What becomes of ``test``, in a process of its own."""
        if test.out:
            return Outcome("out", test.out)
        try:
            library = self.library(test)
        except CompileError as error:
            missing = re.search(ERRORS, error.log)
            if missing and not re.search(rf"\b{missing[1]}\b", header()):
                return Outcome("out", f"{missing[1]}, not of MPI 3.1")
            return Outcome("failed", f"compiling: {error}")
        later = sorted(_later(library))
        if later:
            return Outcome("out", f"{later[0]}, not of MPI 3.1")
        status, said, printed = _forked(test, library, self.work / "log",
                                        self.folder / test.folder)
        return judged(test, status, said, printed)


def _later(library: Path) -> set[str]:
    """Calls that the program makes of later versions of MPI, or of MPICH's own."""
    absent = library.with_name(ABSENT)
    names = absent.read_text().split() if absent.exists() else []
    return {name for name in names if re.match(r"P?MPIX?_", name)}


def judged(test: Test, status: str, said: str, printed: list[str]) -> Outcome:
    """As MPICH's script: a test says "No Errors" once, and nothing else."""
    kind = (test.values("resultTest") or [""])[0]
    lines = [line for line in printed if line.strip()]
    if status == "killed":
        return Outcome("failed", f"{SECONDS} CPU seconds were not enough")
    if kind in ("TestStatus", "TestErrFatal"):
        wanted = "exit status" if kind == "TestStatus" else ""
        return (Outcome("passed") if said and wanted in said
                else Outcome("failed", "it ended without an error"))
    if said:
        return Outcome("failed", said)
    if any(line.strip() == "Test Skipped" for line in lines):
        return Outcome("out", "the test passes itself over")
    others = [line for line in lines if line.strip().lower() != "no errors"]
    good = len(lines) - len(others)
    if good == 1 and (not others or kind == "TestAllowWarnings"):
        return Outcome("passed")
    return Outcome("failed", others[0].strip() if others else f"No Errors {good} times")


def target(ranks: int) -> Description:
    """The target of a test."""
    return describe(nodes=max(ranks, 2), memory__bytes=1 << (27 if ranks <= 12 else 26),
                    mpi__prepost=8, nic__mtu=1024,
                    **({"via__vis": 64} if ranks > 12 else {}),
                    **({"fabric__topology": "fat_tree"} if ranks > 16 else {}))


def _forked(test: Test, library: Path, log: Path, folder: Path) -> tuple[str, str, list[str]]:
    """Runs a program in a child: how it ended, the error, and the lines that it printed."""
    log.unlink(missing_ok=True)
    told = log.with_suffix(".told")
    told.unlink(missing_ok=True)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(4 * SECONDS)
        _run(test, library, log, told, folder)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    printed = log.read_text(errors="replace").splitlines() if log.exists() else []
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number in (signal.SIGPROF, signal.SIGALRM):
            return "killed", "", printed
        return "crash", f"the simulator was killed by {signal.Signals(number).name}", printed
    said = told.read_text() if told.exists() else ""
    return "ended", said, [re.sub(r"^\d+: ", "", line) for line in printed]


def _run(test: Test, library: Path, log: Path, told: Path, folder: Path) -> None:
    """In the child."""
    os.chdir(folder)
    for one in test.values("env"):
        name, _, value = one.partition("=")
        os.environ[name] = value
    with log.open("w", buffering=1) as file, redirect_stdout(file):
        try:
            description = target(test.ranks)
            model = Model(description)
            model.limit = LIMIT
            program = c_program(library, [test.name, *test.values("arg")])
            runtime = Runtime(description, model, model.memories, [program] * test.ranks
                              + [None] * (description.fabric.nodes - test.ranks))
            model.serve(runtime.attention)
            if runtime.failed is not None:
                raise runtime.failed
        except BaseException as error:  # noqa: BLE001 - told to the parent
            lines = str(error).splitlines() or [type(error).__name__]
            told.write_text(f"{type(error).__name__}: {lines[0]}" if type(error).__name__
                            not in ("RankError", "MpiError") else lines[0])
