"""mpi4py's own tests, run inside the ranks: docs/reference/mpi-conformance.md has what they say.

They are fetched, and run on the functional model: what is checked does not depend on time.
"""

import json
import re
import shutil
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path

import pytest
from nicbed.host.mpi.python import python_program
from nicbed.host.mpi.sync import RankError

from tests.models.target import Model
from tests.programs.mpi import describe

ROOT = Path(__file__).resolve().parents[4]
PAGE = ROOT / "docs" / "reference" / "mpi-conformance.md"
RUNNER = ROOT / "tests" / "programs" / "mpi4py_runner.py"
VERSION = "4.1.2"
LIMIT = 400_000_000
SHOWN = 2
"""Ranks of the table."""
TRIES = 30
C = "mpi4py's structures in C"
GPU = "memory of GPUs"
WANTED = """address attributes buffer cco_buf cco_buf_inter cco_nb_buf cco_nb_vec cco_ngh_buf
cco_ngh_obj cco_obj cco_obj_inter cco_pr_buf cco_pr_ngh_buf cco_pr_vec cco_vec cco_vec_inter comm
comm_inter comm_topo datatype environ errhandler errorcode exceptions group handle info mpimem
msgspec msgzero objmodel op p2p_buf p2p_buf_matched p2p_obj p2p_obj_matched pack pickle request
rma rma_nb status subclass threads win""".split()
LONG = """cco_buf cco_buf_inter cco_nb_buf cco_nb_vec cco_pr_buf cco_pr_vec cco_vec cco_vec_inter
msgspec rma rma_nb""".split()
"""Files that take long, and run on SHOWN ranks alone."""
RANKS = {ranks: WANTED if ranks == SHOWN else [one for one in WANTED if one not in LONG]
         for ranks in (2, 3, 4)}
"""The files that run, by number of ranks."""
OUT = {
    "datatype": {"*.testContiguousBigMPI": "counts above an int's, which mpi4py makes of structs "
                                           "on an MPI before 4"},
    "errhandler": {"*.testCreate": "at most 32 functions, a limit of mpi4py's own"},
    "op": {"*.testCreateMany": "at most 32 functions, a limit of mpi4py's own"},
    "objmodel": {"*.testSizeOf": C, "*.testAddressOf": C, "*.testAHandleOf": C,
                 "*.testConstants": "constants that have a buffer, which classes of Python have "
                                    "from 3.12 on"},
    "msgspec": {"*CAIBuf*": GPU, "*DLPackGPU*": GPU},
    "p2p_obj": {"*.testCommLock": "locks inside of mpi4py"},
}
"""Tests out of scope, of files that are not, and why."""
OTHERS = {
    "file, io": "files",
    "dynproc, spawn": "processes that a program starts",
    "session, ulfm, p2p_buf_part, grequest": "MPI-2 to MPI-4: sessions, failures, partitions, "
                                             "generalized requests",
    "util_dtlib, util_pkl5, util_pool, util_sync": "mpi4py's own modules besides MPI",
    "cffi, ctypes, doc, dlpack, mpiabi, mpiapi, package, toplevel": "mpi4py's C and packaging",
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    """The folder of mpi4py's tests."""
    place = tmp_path_factory.mktemp("mpi4py")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-build-isolation",
         "--no-binary", ":all:",
         "-d", str(place), f"mpi4py=={VERSION}"], capture_output=True, text=True, timeout=600)
    if done.returncode:
        pytest.skip(f"mpi4py's source cannot be fetched: {done.stderr.splitlines()[-1]}")
    [archive] = place.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(place, filter="data")
    folder = next(place.glob("mpi4py-*/test"))
    shutil.copy(RUNNER, folder)
    return folder


def outcomes(folder, module, ranks, record):
    """By name, what became of each test of ``module``, and why. After a failure the ranks may be
    at different tests, so the others are run again without it. Tests of OUT are not run."""
    found, left_out = {}, list(OUT.get(module, ()))
    for _ in range(TRIES):
        shutil.rmtree(record, ignore_errors=True)
        record.mkdir()
        failure = ""
        try:
            Model(describe(nodes=ranks)).run([python_program(
                folder / RUNNER.name, [str(record), f"test_{module}", *left_out])] * ranks,
                limit=LIMIT)
        except (RankError, Exception) as error:  # noqa: BLE001
            failure = str(error).split("\n")[0]
        bad = {}
        for path in sorted(record.iterdir()):
            begun = None
            for line in path.read_text().splitlines():
                what, name, why = json.loads(line)
                if what == "out":
                    if why in OUT.get(module, ()):
                        found[name] = what, OUT[module][why]
                    continue
                begun = name if what == "begin" else None
                if what == "failed":
                    bad.setdefault(name, why)
                elif what != "begin" and (what == "skipped" or name not in found):
                    found[name] = what, why
            if begun and failure:
                bad.setdefault(begun, failure)
        found.update({name: ("failed", why) for name, why in bad.items()})
        left_out += bad
        if not bad:
            assert not failure, f"{module}: {failure}"
            return found
    raise AssertionError(f"{module}: {TRIES} tries, and tests still fail: {bad}")


def page(every):
    """The page's text, of the outcomes by number of ranks and module."""
    shown = every[SHOWN]
    sums = {ranks: Counter(what for tests in found.values() for what, _ in tests.values())
            for ranks, found in every.items()}
    lines = [
        "# What mpi4py's tests say", "",
        f"These are the results of the tests of mpi4py {VERSION}. They run inside the ranks of "
        "nicbed, with nicbed's own `mpi4py`;", "each rank runs all of them, as under mpiexec. "
        "`./nicbed test --full -k conformance --update` fetches the tests and writes this page.",
        "",
        "| ranks | passed | failed | skipped | out of scope |", "| --- | --- | --- | --- | --- |",
        *(f"| {ranks} | {sums[ranks]['passed']} | {sums[ranks]['failed']} | "
          f"{sums[ranks]['skipped']} | {sums[ranks]['out']} |" for ranks in RANKS), "",
        f"Runs on more than {SHOWN} ranks leave out {', '.join(LONG)}, which take long.", "",
        f"## By file, on {SHOWN} ranks", "",
        "A test is skipped if it asks for a feature that nicbed lacks, or gets "
        "NotImplementedError. Tests out of scope are not run.", "",
        "| file | passed | failed | skipped | out of scope |", "| --- | --- | --- | --- | --- |"]
    for module, tests in shown.items():
        counts = Counter(what for what, _ in tests.values())
        lines.append(f"| {module} | {counts['passed']} | {counts['failed']} | "
                     f"{counts['skipped']} | {counts['out']} |")
    for title, wanted, head in (("What fails, and why", "failed", "what they get"),
                                ("What is skipped, and why", "skipped", "what is missing"),
                                ("Tests out of scope", "out", "are about")):
        lines += ["", f"## {title}", "", *by_reason(every, wanted, head)]
    lines += ["", "## Files out of scope", "", "| files | are about |", "| --- | --- |",
              *(f"| {files} | {what} |" for files, what in OTHERS.items())]
    return "\n".join(lines) + "\n"


def by_reason(every, wanted, head):
    """A table of the tests that became ``wanted``, with any number of ranks, by file and reason."""
    lines = []
    for module in WANTED:
        whys: dict[str, dict[str, set[int]]] = {}
        there = {ranks for ranks in every if module in every[ranks]}
        for ranks in there:
            for name, (what, why) in sorted(every[ranks][module].items()):
                if what == wanted:
                    text = " ".join(why.split()).replace("|", "/").replace("<", "").replace(">", "")
                    tests = whys.setdefault(plain(text), {})
                    tests.setdefault(name.split(".")[-1], set()).add(ranks)
        for why, tests in whys.items():
            several = sorted(tests)
            on = set.union(*tests.values())
            some = "" if on == there else f" on {', '.join(map(str, sorted(on)))} ranks"
            lines.append(f"| {', '.join(several[:3])}{' …' if len(several) > 3 else ''} | {module} "
                         f"| {why}{some} |")
    return [f"| tests | of file | {head} |", "| --- | --- | --- |", *lines] if lines else ["None."]


def plain(text):
    """A message without addresses of this run."""
    text = re.sub(r" ?object at 0x[0-9a-f]+", "", text)[:140].replace("_", r"\_")
    return re.sub(r"\d{8,}", "(an address)", text)


@pytest.mark.full
def test_conformance(suite, tmp_path, request):
    every = {ranks: {module: outcomes(suite, module, ranks, tmp_path / "record")
                     for module in modules} for ranks, modules in RANKS.items()}
    text = page(every)
    if request.config.getoption("--update"):
        PAGE.write_text(text, encoding="utf-8")
        return
    assert PAGE.read_text(encoding="utf-8") == text
