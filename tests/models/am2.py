"""Runs processes of tests of AM-II on the functional target: CPUs of a node, a program each."""

from typing import Any

from tests.models.target import Model
from tests.programs.am2 import Process, describe

__all__ = ["LIMIT", "asks", "idle", "run"]

LIMIT = 3_000_000


def run(*programs: Any, **knobs: Any) -> list[Any]:
    return Model(describe(len(programs), **knobs)).run(
        [list(programs), None], limit=LIMIT).results[0]


def idle(process_of: Any = None) -> Any:
    """A program that serves, with the handlers that ``process_of`` gives it."""
    async def program(node: Any) -> Any:
        process = Process(node)
        await process.open(**(process_of(process) if process_of else {"h1": process.note}))
        await process.close()
        return process.got, process.back
    return program


def asks(body: Any, **handlers: Any) -> Any:
    """A program with ``body(process)`` between opening and closing; its result."""
    async def program(node: Any) -> Any:
        process = Process(node)
        await process.open(**({"h1": process.note} | handlers))
        result = await body(process)
        await process.close()
        return result
    return program
