"""The output of a command: tables by default; the result with ``--json``, its path with ``-q``.
While it works: a progress bar, and what programs print."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from typing import Any

from ..testbed.listener import Listener, Progress

__all__ = ["MODE", "Mode", "Terminal", "finish", "progress_bar"]


class Mode(Enum):
    """The amount of output."""

    NORMAL = "normal"
    QUIET = "quiet"
    """The last line, the path of the result file, and nothing else on standard output."""
    JSON = "json"
    """The result document on standard output, and nothing else there."""
    VERBOSE = "verbose"
    """As normal, and each step of a build or run is a line on standard error."""


MODE: ContextVar[Mode] = ContextVar("MODE", default=Mode.NORMAL)
"""The mode of the command that runs."""


def finish(text: str, show: Callable[[], Any], path: Any) -> None:
    """Print the result of a command: ``text``, its document, or the output of ``show`` and
    ``path``."""
    mode = MODE.get()
    if mode is Mode.JSON:
        print(text.rstrip("\n"), flush=True)
        return
    if mode is not Mode.QUIET:
        show()
    print(path, flush=True)


class Terminal(Listener):
    """The listener of the command line's beds."""

    def advise(self, line: str) -> None:
        print(f"nicbed: this will take long: {line}", file=sys.stderr, flush=True)

    def told(self, line: str) -> None:
        if MODE.get() in (Mode.NORMAL, Mode.VERBOSE):
            self.warn(line)

    def warn(self, line: str) -> None:
        print(f"nicbed: {line}", file=sys.stderr, flush=True)

    def printed(self, text: str) -> None:
        """Print a program's output; with -q and --json it does not go to standard output."""
        alone = MODE.get() in (Mode.QUIET, Mode.JSON)
        print(text, end="", file=sys.stderr if alone else sys.stdout, flush=True)

    @contextmanager
    def progress(self, label: str) -> Iterator[Progress]:
        with progress_bar(label) as tell:
            yield tell


@contextmanager
def progress_bar(label: str) -> Iterator[Progress]:
    """A function (step, done, total) that moves a progress bar, on a terminal only; with -v it
    prints each step, with -q or --json nothing."""
    mode = MODE.get()
    if mode is Mode.VERBOSE:
        last = ""

        def step(what: str, done: int, total: int) -> None:
            nonlocal last
            if what != last:
                last = what
                print(f"nicbed: {label}: {what}", file=sys.stderr, flush=True)

        yield step
        return
    if mode is not Mode.NORMAL or not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    from ..results.tables import console

    with Bars(TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[text]}"),
              TimeElapsedColumn(), console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=1.0, text="")
        yield lambda what, done, total: bar.update(task, completed=done, total=total or None,
                                                   text=what)
