"""Begins and ends the command line: prints an error's line, and gives its exit code."""

import errno
import os
import signal
import sys
import threading
import warnings
from contextlib import suppress
from contextvars import copy_context
from typing import NoReturn

import click

from ...firmware import tools
from ...firmware.cache import CacheError
from ..errors import UserError
from .group import nicbed

__all__ = ["main", "run_command"]


_REFUSED = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM}
"""What a system says of files that cannot be written or read there."""


class _Interrupted(BaseException):
    """Raised in place of KeyboardInterrupt, for which click would print an empty line."""


def _interrupt(number: int, frame: object) -> NoReturn:
    """Treat a termination like an interrupt: the simulator's process must end, too."""
    raise _Interrupted


def _fail(text: str, status: int) -> NoReturn:
    print(f"nicbed: {text}", file=sys.stderr)
    sys.exit(status)


def _ignore_unused() -> None:
    """Components that an error left unused are none of the user's mistakes."""
    if "amaranth" in sys.modules:
        from amaranth._unused import UnusedMustUse

        warnings.simplefilter("ignore", UnusedMustUse)


def main(command: click.Command = nicbed, name: str = "nicbed") -> None:
    """Entry point of a process, in which a signal ends the command."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    with suppress(CacheError):
        os.environ.update(tools.matplotlib())
    run_command(command, name)


def run_command(command: click.Command = nicbed, name: str = "nicbed") -> None:
    """Do what ``sys.argv`` says. A user's error is one line; Ctrl-C prints "interrupted". Whatever
    the command line chooses, such as what is printed, holds for this call alone."""
    try:
        copy_context().run(command.main, prog_name=name, standalone_mode=False)
    except UserError as error:
        if os.environ.get("NICBED_DEBUG") and getattr(error, "details", ""):
            print(error.details, file=sys.stderr)  # type: ignore[attr-defined]
        _fail(str(error), error.status)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        sys.exit(2)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        where = f" ({context.command_path} --help)" if context and context.parent else ""
        _fail(" ".join(error.format_message().split()) + where, 2)
    except (_Interrupted, KeyboardInterrupt, click.Abort):
        if threading.active_count() > 1:  # what threads have begun ends with this process
            print("nicbed: interrupted", file=sys.stderr, flush=True)
            os._exit(130)
        _fail("interrupted", 130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except CacheError as error:
        _fail(str(error), 1)
    except Exception as error:
        if os.environ.get("NICBED_DEBUG"):
            raise
        if isinstance(error, OSError) and error.errno in _REFUSED:
            _fail(": ".join(map(str, filter(None, (error.filename, error.strerror)))), 1)
        from ...layouts.doors.blame import blamed  # help needs no doors

        if line := blamed(error):
            _ignore_unused()
            _fail(f"{line} (NICBED_DEBUG=1 shows the way there)", 2)
        said = (str(error).splitlines() or [""])[0]
        _fail(f"internal error, {type(error).__name__}: {said} (NICBED_DEBUG=1 shows "
              "where)", 70)
