"""Carries a host program of the calling process to the simulator's process.

Functions of a notebook or of a script have no module that another process could import, so they
are carried whole, with what they refer to.
"""

import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ...host.port.node import Programs
from ...host.runtime import Stuck
from ...layouts.description import Description
from ..errors import UserError

__all__ = ["FUNCTION", "carried", "everywhere", "received", "run", "source", "where"]

FUNCTION = f"{__name__}:run"
"""The job that runs carried programs."""


def everywhere(program: Any, description: Description) -> Programs:
    """An entry for each node: ``program`` on every CPU of every node if it is a function, or as it
    is given, node by node.

    Raises
    ------
    UserError
        There are not as many entries as nodes.
    """
    nodes, cpus = description.fabric.nodes, description.node.cpus
    if callable(program):
        each: Any = program if cpus == 1 else [program] * cpus
        return [each] * nodes
    if len(program) != nodes:
        raise UserError(f"{len(program)} programs for {nodes} nodes (fabric.nodes): give one a "
                        "node, None where there is nothing to run, or one function for all")
    return list(program)


def carried(value: Any) -> bytes:
    """``value`` in a form that another process understands.

    Raises
    ------
    UserError
        It holds what no other process can have, such as an open file.
    """
    import cloudpickle

    try:
        return cloudpickle.dumps(value)
    except Exception as error:
        raise UserError("the program refers to what the simulator's process cannot have: "
                        f"{type(error).__name__}: {error}", status=1) from None


def received(data: bytes) -> Any:
    """Returns what was :func:`carried`."""
    import cloudpickle

    return cloudpickle.loads(data)


def source(programs: Any) -> str:
    """The file in which the first of ``programs`` is, if a reader knows it: no notebook's cell."""
    for function in _functions(programs):
        path = Path(function.__code__.co_filename)
        if path.is_file() and not path.parent.name.startswith("ipykernel_"):
            return str(path)
        break
    return ""


async def run(lab: Any, programs: bytes, file: str, options: dict[str, Any]) -> bytes:
    """In the simulator's process: run the carried ``programs``, which are from ``file``, once."""
    given = received(programs)
    try:
        found = await lab.run(given, **options)
    except (Stuck, UserError):
        raise
    except Exception as error:
        files = {program.__code__.co_filename for program in _functions(given)}
        raise UserError(f"{where(error, files, file)}: {type(error).__name__}: {error}",
                        status=1) from error
    return carried(found)


def _functions(programs: Sequence[Any]) -> Iterator[Callable[..., Any]]:
    for entry in programs:
        if isinstance(entry, Sequence):
            yield from _functions(entry)
        elif hasattr(entry, "__code__"):
            yield entry


def where(error: BaseException, files: set[str], file: str) -> str:
    """The last line in one of ``files`` on the way to ``error``, as FILE.py:LINE with the name of
    ``file``; as the function and its line if that is empty; or only the file."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if frame.filename in files]
    name = Path(file).name
    if not frames:
        return name or "program"
    return f"{name}:{frames[-1].lineno}" if file else f"{frames[-1].name}, line {frames[-1].lineno}"
