"""In the process of a back end: executes a job and stores its result."""

import importlib
import importlib.util
import json
import os
import pickle
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["Progress", "carry_out"]

Progress = Callable[[str, int, int], None]
"""Called with the current step, how much of it is done, and the total (0: unknown)."""


def _function(name: str) -> Any:
    """The function that "module:name" or "FILE.py:name" names."""
    place, _, attribute = name.rpartition(":")
    if place.endswith(".py"):
        path = Path(place)
        sys.path.insert(0, str(path.parent))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(place)
    return getattr(module, attribute)


def _enter(folder: str | None) -> None:
    """Make ``folder`` the current directory, if it is there. No module is looked for in it."""
    sys.path[:] = filter(None, sys.path)
    if folder is not None:
        with suppress(OSError):
            os.chdir(folder)


class _Reports:
    """The way back to the parent: JSON lines on a pipe. Text that programs print goes there,
    too."""

    def __init__(self, descriptor: int) -> None:
        self._pipe = os.fdopen(descriptor, "w", buffering=1, encoding="utf-8")

    def report(self, kind: str, what: Any) -> None:
        self._pipe.write(json.dumps({kind: what}) + "\n")

    def progress(self, what: str, done: int, total: int) -> None:
        self.report("progress", [what, done, total])

    def say(self, text: str) -> None:
        """Write a line to standard error. A signal's handler may call this, so it bypasses the
        buffer."""
        os.write(self._pipe.fileno(), (json.dumps({"say": text}) + "\n").encode())

    def write(self, text: str) -> int:
        self.report("print", text)
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False

    def close(self) -> None:
        """End the reports."""
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
        self._pipe.close()


class _Errors:
    """Sends what programs write to standard error the same way."""

    def __init__(self, reports: _Reports) -> None:
        self._reports = reports

    def write(self, text: str) -> int:
        self._reports.report("error", text)
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


async def carry_out(make_backend: Callable[[dict[str, Any], Progress], Any]) -> None:
    """Execute the job in the file that NICBED_JOB names, on the back end that ``make_backend``
    makes for it; ``make_backend`` may report as the job does."""
    from ..lab import Lab
    with open(os.environ["NICBED_JOB"], "rb") as file:
        wanted = pickle.load(file)
    reports = _Reports(int(os.environ["NICBED_REPORTS"]))
    sys.stdout = reports  # type: ignore[assignment]
    sys.stderr = _Errors(reports)  # type: ignore[assignment]
    timeline = None

    def give_up(error: BaseException) -> None:
        """A program goes on whatever is raised in it: its process ends here."""
        _store(wanted["answer"], _error(error))
        os._exit(1)

    try:
        _enter(wanted["folder"])
        function = _function(wanted["function"])
        lab = Lab(wanted["description"], wanted["sim"], make_backend(wanted, reports.progress),
                  reports.progress, wanted["limit"], reports.say, wave=wanted["wave"],
                  give_up=give_up)
        if wanted["timeline"] is not None:
            from ..timeline import Timeline
            timeline = lab.timeline = Timeline(Path(wanted["timeline"]))
        answer = {"result": await function(lab, **wanted["arguments"])}
        data = pickle.dumps(answer)
    except BaseException as error:
        data = _error(error)
    if timeline is not None:
        for line in timeline.close():
            reports.say(line)
    try:
        _store(wanted["answer"], data)
    finally:
        reports.close()


def _error(error: BaseException) -> bytes:
    from ...layouts.doors.blame import place

    if where := place(error):
        error.add_note(f"at {where}")
    notes = getattr(error, "__notes__", [])
    return pickle.dumps({
        "status": getattr(error, "exit_status", 1),
        "error": [type(error).__name__, str(error), [str(note) for note in notes],
                  "".join(traceback.format_exception(error))]})


def _store(place: str, data: bytes) -> None:
    part = place + ".part"
    with open(part, "wb") as file:
        file.write(data)
    os.replace(part, place)
