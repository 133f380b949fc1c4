"""``nicbed doctor``: reports what is there and what is missing, and tries the simulators."""

import json
import sys
from collections.abc import Iterator

from ..doctor import installed, places, toys
from ..doctor.finding import Finding
from .output import MODE, Mode

__all__ = ["run_doctor"]

WIDTH = 27
"""Columns of the longest name."""


def _findings(build: bool) -> Iterator[Finding]:
    yield installed.nicbed()
    yield installed.python()
    yield installed.machine()
    yield installed.shared_library()
    yield from installed.packages()
    yield from installed.groups()
    yield from installed.programs()
    yield from places.places()
    yield from installed.variables()
    if build:
        for sim in toys.SIMULATORS:
            if MODE.get() in (Mode.NORMAL, Mode.VERBOSE):
                print(f"nicbed: building a toy for {sim}", file=sys.stderr, flush=True)
            yield toys.toy(sim)


def run_doctor(build: bool) -> None:
    """Print a line for each finding; the process ends with status 1 if something that everybody
    needs is wrong. ``build``: whether simulators are tried."""
    found = []
    for one in _findings(build):
        found.append(one)
        if MODE.get() is not Mode.JSON:
            print(one.line(WIDTH), flush=True)
    works = all(one.state != "wrong" for one in found)
    if MODE.get() is Mode.JSON:
        print(json.dumps({"works": works, "findings": [one.plain() for one in found]}, indent=2))
    else:
        print("nicbed works here" if works else "nicbed does not work here: see what is wrong")
    if not works:
        sys.exit(1)
