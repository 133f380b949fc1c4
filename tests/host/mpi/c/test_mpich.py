"""MPICH's own tests on nicbed: docs/reference/mpich-conformance.md has what they say.

`NICBED_MPICH_TESTS=.../mpich/test/mpi ./nicbed test --full -k mpich --update` writes the page. Run
as a program with a folder for what it builds and names (`coll`, `pt2pt/bsend1`), it prints what
became of these tests alone.
"""

import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.labs.mpich import CHANGED, FOLDERS, OTHERS, Outcome, Suite, Test, judged

ROOT = Path(__file__).resolve().parents[4]
PAGE = ROOT / "docs" / "reference" / "mpich-conformance.md"


def page(every):
    """The page's text, of the outcomes of all tests."""
    sums = Counter(one.what for one in every.values())
    lines = [
        "# What MPICH's tests say", "",
        "These are the results of MPICH's C tests on the functional target. They are not part of "
        "nicbed; get `test/mpi` of MPICH's source. A test",
        "that asks for several numbers of ranks or arguments counts once for each; variants that "
        "differ only in MPICH's own algorithms count once.",
        "`NICBED_MPICH_TESTS=FOLDER ./nicbed test --full -k mpich --update` runs the tests and "
        "writes this page.", "",
        "| passed | failed | out of scope |", "| --- | --- | --- |",
        f"| {sums['passed']} | {sums['failed']} | {sums['out']} |", "",
        "## By folder", "", "| folder | passed | failed | out of scope |",
        "| --- | --- | --- | --- |"]
    for folder in FOLDERS:
        counts = Counter(one.what for test, one in every.items() if test.folder == folder)
        lines.append(f"| {folder} | {counts['passed']} | {counts['failed']} | {counts['out']} |")
    for title, what in (("What fails, and why", "failed"), ("Tests out of scope", "out")):
        lines += ["", f"## {title}", "", *by_reason(every, what)]
    lines += ["", "## Tests that are changed", "",
              "A line of each of these tests is changed before it is compiled.", "",
              "| test | line | becomes | why |", "| --- | --- | --- | --- |",
              *(f"| {name} | `{before}` | `{after}` | {why} |"
                for name, (before, after, why) in CHANGED.items())]
    lines += ["", "## Folders out of scope", "", "| folders | are about |", "| --- | --- |",
              *(f"| {folders} | {what} |" for folders, what in OTHERS.items())]
    return "\n".join(lines) + "\n"


def by_reason(every, what):
    """A table of the tests that became ``what``, by reason."""
    reasons = {}
    for test, one in every.items():
        if one.what == what:
            why = " ".join(one.why.split()).replace("|", "/")[:160]
            reasons.setdefault(why, {})[f"{test.folder}/{test.name}"] = None
    if not reasons:
        return ["None."]
    return ["| tests | why |", "| --- | --- |",
            *(f"| {', '.join(names)} | {why} |".replace("_", r"\_")
              for why, names in reasons.items())]


@pytest.mark.full
def test_mpich(tmp_path, request):
    folder = os.environ.get("NICBED_MPICH_TESTS")
    if not folder:
        pytest.skip("NICBED_MPICH_TESTS does not name test/mpi of MPICH's source")
    suite = Suite(Path(folder).resolve(), tmp_path)
    text = page({test: suite.outcome(test) for one in FOLDERS for test in suite.tests(one)})
    if request.config.getoption("--update"):
        PAGE.write_text(text, encoding="utf-8")
        return
    assert PAGE.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("kind, status, said, printed, what", [
    ("", "ended", "", [" No Errors"], "passed"),
    ("", "ended", "", ["No errors"], "passed"),
    ("", "ended", "", ["Test Skipped"], "out"),
    ("", "ended", "", [" No Errors", " No Errors"], "failed"),
    ("", "ended", "", ["Found 3 errors"], "failed"),
    ("", "ended", "", ["odd", " No Errors"], "failed"),
    ("TestAllowWarnings", "ended", "", ["odd", " No Errors"], "passed"),
    ("", "ended", "rank 1 ended with exit status 1", [" No Errors"], "failed"),
    ("", "killed", "", [" No Errors"], "failed"),
    ("", "crash", "SIGSEGV", [" No Errors"], "failed"),
    ("TestStatus", "ended", "rank 1 ended with exit status 1", [], "passed"),
    ("TestStatus", "ended", "", [], "failed"),
    ("TestErrFatal", "ended", "rank 0: MPI_Abort", [], "passed"),
    ("TestErrFatal", "ended", "", [" No Errors"], "failed"),
])
def test_verdicts(kind, status, said, printed, what):
    test = Test("coll", "one", 2, (("resultTest", kind),) if kind else ())
    assert judged(test, status, said, printed).what == what


def test_a_list_is_read(tmp_path):
    (tmp_path / "coll").mkdir()
    (tmp_path / "coll" / "testlist.in").write_text(
        "# a remark\nred3 10 # another\n@other@red4 2\nbcast 4 arg=-x arg=1 mem=20.1\n"
        "red3 10 env=MPIR_CVAR_REDUCE_INTRA_ALGORITHM=tree\n")
    [first, second] = Suite(tmp_path, tmp_path).tests("coll")
    assert str(first) == "coll/red3 10" and not first.out
    assert second.values("arg") == ["-x", "1"] and second.out == "memory of gigabytes"


def test_a_page_names_each_reason_once():
    every = {Test("coll", name, 2, ()): Outcome("failed", "it hangs") for name in ("a", "b")}
    assert "| coll/a, coll/b | it hangs |" in page(every)


if __name__ == "__main__":
    chosen = Suite(Path(os.environ["NICBED_MPICH_TESTS"]).resolve(), Path(sys.argv[1]).resolve())
    for wanted in sys.argv[2:] or FOLDERS:
        place, name = (wanted, "") if wanted in FOLDERS else tuple(wanted.rsplit("/", 1))
        for found in chosen.tests(place):
            if name in ("", found.name):
                result = chosen.outcome(found)
                print(f"{result.what:7}{found}  {result.why[:400]}", flush=True)
