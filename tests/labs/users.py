"""Functions run as a user who is not root, in a fork of the test's process: such a user may not be
able to read the Python that runs the tests."""

import os
import pickle
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

import pytest

__all__ = ["ONE", "OTHER", "as_user"]

ONE, OTHER = 54321, 54322
"""Two users whom no machine knows: they have no home either."""


def _child(function: Callable[[], Any], user: int, umask: int, writing: int) -> NoReturn:
    try:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
        os.umask(umask)
        answer: tuple[Any, str] = (function(), "")
    except BaseException:
        answer = (None, traceback.format_exc())
    with os.fdopen(writing, "wb") as pipe:
        pickle.dump(answer, pipe)
    os._exit(0)


def as_user(function: Callable[[], Any], user: int = ONE, umask: int = 0o022) -> Any:
    """What ``function`` gives as ``user``; a test that fails with its traceback if it raises. Skips
    the test if this process may not become another user."""
    if os.geteuid() != 0:
        pytest.skip("becoming another user needs root")
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _child(function, user, umask, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    answer, failed = pickle.loads(data)
    assert not failed, failed
    return answer
