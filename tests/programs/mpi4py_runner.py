"""Runs test modules of mpi4py inside a rank: ``mpi4py_runner.py RECORD MODULE [NOT ...]``.

All ranks run the same tests in lock-step, as mpiexec would have them do. ``RECORD`` is a folder,
for a line when a test begins and one when it has ended; tests whose names follow are left out.
"""

import json
import sys
import unittest
import warnings
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
    wanted = [case for case in _cases(found)
              if ".".join(case.id().split(".")[-2:]) not in left_out]
    unittest.TestSuite(wanted).run(result)


main()
