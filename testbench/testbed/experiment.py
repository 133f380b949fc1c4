"""A user's own experiment: a Python file with a host program, or with its own measurements.

FILE.py defines one of

``async def program(node)``
    A host program, run on every CPU of every node (``node.number`` is the node's number,
    ``node.cpu`` that of the CPU on it). Its return value must be plain data; it is the node's
    result, or one of them if ``node.cpus`` is more than 1.
``async def measure(lab)``
    Runs programs itself, as often as it likes, and returns the results:
    ``run = await lab.run([program, program], settings={"link.latency": 12})``.

``arguments`` in the file, if it is there, is replaced by the command line's extra arguments.
"""

import ast
import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import UserError
from .program import where

__all__ = ["SHOWN", "check", "defined", "run", "tables"]

SHOWN = 4000
"""Characters of a result that are printed."""


def check(file: Path) -> None:
    """Refuse a file that is no experiment, before anything is built.

    Raises
    ------
    UserError
        The file does not exist, is not Python, or defines neither ``program`` nor ``measure``.
    """
    if not defined(file):
        raise UserError(f"{file}: must define `async def program(node)` or "
                        "`async def measure(lab)`")


def defined(file: Path) -> set[str]:
    """Tells which of ``program`` and ``measure`` the file defines.

    Raises
    ------
    UserError
        It does not exist, or is not Python.
    """
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
    except FileNotFoundError:
        raise UserError(f"{file}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: cannot be read: {error}") from None
    except SyntaxError as error:
        raise UserError(f"{file}:{error.lineno}: not Python: {error.msg}") from None
    names = {item.name for item in tree.body if isinstance(item, ast.AsyncFunctionDef)}
    names |= {alias.asname or alias.name for item in tree.body
              if isinstance(item, ast.ImportFrom) for alias in item.names}
    return names & {"program", "measure"}


async def run(lab: Any, file: str, arguments: list[str]) -> dict[str, Any]:
    """Load the experiment and run it, in the simulator's process."""
    path = Path(file)
    spec = importlib.util.spec_from_file_location("experiment", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        if hasattr(module, "arguments"):
            module.__dict__["arguments"] = list(arguments)
        if hasattr(module, "measure"):
            return {"results": _plain(await module.measure(lab), path)}
        cpus = lab.description.node.cpus
        node = module.program if cpus == 1 else [module.program] * cpus
        done = await lab.run([node] * lab.description.fabric.nodes)
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{where(error, {str(path)}, str(path))}: {type(error).__name__}: {error}",
                        status=1) from error
    return {"results": {"nodes": _plain(done.results, path), "cycles": done.cycles},
            "points": {"marks": [list(mark) for mark in done.marks]}}


def _plain(value: Any, path: Path) -> Any:
    import json

    from ..results.document import plain

    try:
        found = plain(value)
        json.dumps(found, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UserError(f"{path.name}: its result must be plain data (numbers, texts, lists, "
                        f"dictionaries): {error}", status=1) from None
    return found


def tables(document: Mapping[str, Any]) -> list[Any]:
    """The result as JSON, its beginning if it is long."""
    from rich.text import Text

    from ..results import document as files

    text = files.text(document["results"]).rstrip()
    return [Text(text if len(text) < SHOWN else text[:SHOWN] + " …")]
