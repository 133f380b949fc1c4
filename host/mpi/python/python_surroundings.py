"""Gives a rank's program its own part of the Python process while it runs: its standard streams,
its arguments, its modules, and what modules keep for the process (:mod:`.process`).

All ranks run in one Python process, where mpiexec would start one each. So that the globals of a
program's modules are each rank's own, modules from the program's folder are there for its rank
alone; all others are shared.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

from ..sync import Rank, Surroundings
from ..sync.output import Lines
from .process import Process

__all__ = ["PythonSurroundings"]


class _Own:
    """Finds modules in the program's folder, and remembers which they are in ``names``. Packages
    without a place have no other modules than those that are there."""

    def __init__(self, folder: str, names: set[str]) -> None:
        self._folder = folder
        self.names = names

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None
                  ) -> ModuleSpec | None:
        if path == [] and name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"{name} is not supported "
                                      "(docs/tutorials/mpi.md lists what is)")
        found = PathFinder.find_spec(name, [self._folder] if path is None else path, target)
        if found is not None and (path is None or name.partition(".")[0] in self.names):
            self.names.add(name)
            return found
        return None


class PythonSurroundings(Surroundings):
    """Those of ``rank``, whose program is ``file``. ``modules`` are there besides, by name, for the
    program alone."""

    def __init__(self, rank: Rank, file: Path, arguments: Sequence[str],
                 modules: Mapping[str, ModuleType]) -> None:
        folder = str(file.parent)
        self._rank = rank
        self._number = rank.number
        self._printed = Lines(rank.number), Lines(rank.number, sys.stderr)
        self._names = rank.keep("modules", set)
        self._names.update(modules)
        self._modules = dict(modules)
        self._outside: Any = None
        self._inside: Any = (_input(rank.number), *self._printed, [str(file), *arguments],
                             [folder, *sys.path], [_Own(folder, self._names), *sys.meta_path],
                             sys.__excepthook__)
        self._hidden: dict[str, ModuleType] = {}
        self._process = rank.node.run_service(Process)
        self._process.begin(rank.mpi.size)

    def enter(self) -> None:
        self._outside = (sys.stdin, sys.stdout, sys.stderr, sys.argv, sys.path, sys.meta_path,
                         sys.excepthook)
        (sys.stdin, sys.stdout, sys.stderr, sys.argv, sys.path, sys.meta_path,
         sys.excepthook) = self._inside
        loaded, hidden = sys.modules, self._hidden
        for name, module in self._modules.items():
            if name in loaded:
                hidden[name] = loaded[name]
            loaded[name] = module
        if self._process.active:
            self._process.give(self._number)

    def leave(self) -> None:
        self._inside = (sys.stdin, sys.stdout, sys.stderr, sys.argv, sys.path, sys.meta_path,
                        sys.excepthook)
        (sys.stdin, sys.stdout, sys.stderr, sys.argv, sys.path, sys.meta_path,
         sys.excepthook) = self._outside
        loaded, modules = sys.modules, self._modules
        modules.clear()
        for name in self._names:
            if name in loaded:
                modules[name] = loaded.pop(name)
        if self._hidden:
            loaded.update(self._hidden)
            self._hidden.clear()

    def finish(self) -> None:
        """The program has come to its end: what it wants called then is called."""
        self._process.finish(self._rank)

    def flush(self) -> None:
        """Nothing more will be printed."""
        for lines in self._printed:
            lines.end()

    def end(self) -> None:
        self._process.end()
        self._inside[0].close()


def _input(rank: int) -> TextIO:
    """The standard input of rank 0; nothing for the others, and where there is none."""
    try:
        return open(os.devnull if rank else 0, closefd=bool(rank))
    except OSError:
        return open(os.devnull)
