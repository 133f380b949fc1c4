"""Runs test modules of mpi4py inside a rank: ``mpi4py_runner.py RECORD MODULE [NOT ...]``.

All ranks run the same tests in lock-step, as mpiexec would have them do. ``RECORD`` is a folder,
for a line when a test begins and one when it has ended; tests whose names, or patterns of names,
follow are left out, which is a line, too.
"""

import json
import sys
import unittest
import warnings
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from mpi4py import MPI

__all__: list[str] = []

warnings.simplefilter("ignore")


class Record(unittest.TestResult):
    """Writes down what becomes of each test."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._file = path.open("w", encoding="utf-8")
        self._said = False

    def _say(self, what: str, test: Any, why: str = "") -> None:
        name = ".".join(getattr(test, "test_case", test).id().split(".")[-2:])
        self._file.write(json.dumps([what, name, why]) + "\n")
        self._file.flush()
        self._said = what != "begin"

    def left_out(self, test: Any, pattern: str) -> None:
        """``test`` is not run, because of ``pattern``."""
        self._say("out", test, pattern)

    def startTest(self, test: Any) -> None:
        super().startTest(test)
        self._say("begin", test)

    def addSuccess(self, test: Any) -> None:
        if not self._said:
            self._say("passed", test)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None and not self._said:
            self._failed(test, err)

    def addSkip(self, test: Any, reason: str) -> None:
        self._say("skipped", test, reason)

    def _failed(self, test: Any, err: Any) -> None:
        if not issubclass(err[0], Exception):
            raise err[1]  # the run has ended; unittest would go on
        kind = "skipped" if issubclass(err[0], NotImplementedError) else "failed"
        self._say(kind, test, f"{err[0].__name__}: {err[1]}".split("\n")[0])

    def addError(self, test: Any, err: Any) -> None:
        self._failed(test, err)

    def addFailure(self, test: Any, err: Any) -> None:
        self._failed(test, err)


def _cases(suite: Any) -> Any:
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from _cases(one)
        else:
            yield one


def main() -> None:
    folder, module, *left_out = sys.argv[1:]
    result = Record(Path(folder) / str(MPI.COMM_WORLD.rank))
    import arrayimpl

    arrayimpl.ArrayBackends[:] = [one for one in arrayimpl.ArrayBackends
                                  if vars(one).get("backend") in ("array", "numpy")]
    found = unittest.defaultTestLoader.loadTestsFromName(module)
    wanted = []
    for case in _cases(found):
        name = ".".join(case.id().split(".")[-2:])
        without = next((one for one in left_out if fnmatchcase(name, one)), None)
        if without is None:
            wanted.append(case)
        else:
            result.left_out(case, without)
    unittest.TestSuite(wanted).run(result)


main()
