"""A side that another revision of the project measures.

A checkout of the revision is made in a temporary folder, and a process of this Python measures the
side with the code of the checkout. As module, ``python -m nicbed.testbench.why.remote``, it is that
process: a side in by its arguments, an observation out as JSON.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..errors import UserError
from .local import Progress, described, measured
from .observation import Observation

__all__ = ["main", "observed"]

_ROOT = Path(__file__).resolve().parents[2]
_PACKAGE = "nicbed"


def observed(nic: str, revision: str, overrides: Sequence[str], layer: str,
             progress: Progress) -> Observation:
    """The observation of ``nic`` by the project as it was at ``revision``.

    Raises
    ------
    UserError
        There is no such revision, it cannot measure a side, or the side is wrong there.
    """
    local = Path(nic).resolve() if Path(nic).is_file() else nic
    progress(f"revision {revision}", 0, 0)
    with _checkout(revision) as place:
        if not (place / _PACKAGE / Path(__file__).relative_to(_ROOT)).is_file():
            raise UserError(f"revision {revision}: cannot measure what why compares: take one that "
                            "has testbench/why")
        run = subprocess.run(
            [sys.executable, "-m", f"{_PACKAGE}.testbench.why.remote", str(local), layer,
             *overrides], capture_output=True, text=True, cwd=place,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(
                filter(None, [str(place), os.environ.get("PYTHONPATH")]))})
    if run.returncode:
        lines = run.stderr.strip().splitlines()
        raise UserError(f"revision {revision}: {lines[-1] if lines else 'ended without a word'}",
                        status=1)
    return Observation.of(json.loads(run.stdout))


@contextmanager
def _checkout(revision: str) -> Iterator[Path]:
    """A folder that holds the package as it was at ``revision``."""
    with tempfile.TemporaryDirectory(prefix="nicbed-why-") as folder:
        place = Path(folder)
        (place / _PACKAGE).mkdir()
        archive = subprocess.Popen(["git", "-C", str(_ROOT), "archive", revision, "--"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert archive.stdout is not None and archive.stderr is not None
        unpacked = subprocess.run(["tar", "-x", "-C", str(place / _PACKAGE)],
                                  stdin=archive.stdout, capture_output=True)
        archive.stdout.close()  # or git waits for ever if tar has ended before
        said = archive.stderr.read().decode(errors="replace").strip()
        if archive.wait() or unpacked.returncode:
            raise UserError(f"revision {revision}: {said or 'is not in this checkout'}".replace(
                "fatal: ", ""))
        yield place


def main(arguments: Sequence[str]) -> None:
    """Measure the side that ``arguments`` name: description, layer, overrides."""
    nic, layer, *overrides = arguments
    try:
        found = measured(described(nic, overrides, layer), layer, lambda *_: None)
    except UserError as error:
        sys.exit(str(error))
    print(json.dumps(found.plain()))


if __name__ == "__main__":
    main(sys.argv[1:])
