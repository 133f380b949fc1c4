"""What of the Python process belongs to a rank's program while it runs: its output, its arguments,
and its modules.

All ranks run in one Python process, where mpiexec would start one each. So that the globals of a
program's modules are each rank's own, modules from the program's folder are there for its rank
alone; all others are shared.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from ..sync import Surroundings
from ..sync.output import Lines

__all__ = ["PythonSurroundings"]


class _Own:
    """Finds modules in the program's folder, and remembers which they are."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.names: set[str] = set()

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None
                  ) -> ModuleSpec | None:
        found = PathFinder.find_spec(name, [self._folder] if path is None else path, target)
        if found is not None and (path is None or name.partition(".")[0] in self.names):
            self.names.add(name)
            return found
        return None


class PythonSurroundings(Surroundings):
    """Those of rank ``rank``, whose program is ``file``. ``modules`` are there besides, by
    name, for the program alone."""

    def __init__(self, rank: int, file: Path, arguments: Sequence[str],
                 modules: Mapping[str, ModuleType]) -> None:
        folder = str(file.parent)
        self.lines = Lines(rank)
        self._finder = _Own(folder)
        self._finder.names.update(modules)
        self._modules = dict(modules)
        self._outside: Any = None
        self._inside: Any = (self.lines, [str(file), *arguments], [folder, *sys.path],
                             [self._finder, *sys.meta_path])
        self._hidden: dict[str, ModuleType] = {}

    def enter(self) -> None:
        self._outside = sys.stdout, sys.argv, sys.path, sys.meta_path
        sys.stdout, sys.argv, sys.path, sys.meta_path = self._inside
        loaded = sys.modules
        self._hidden = {name: loaded[name] for name in self._modules if name in loaded}
        loaded.update(self._modules)

    def leave(self) -> None:
        self._inside = sys.stdout, sys.argv, sys.path, sys.meta_path
        sys.stdout, sys.argv, sys.path, sys.meta_path = self._outside
        loaded = sys.modules
        self._modules = {name: loaded.pop(name) for name in self._finder.names if name in loaded}
        loaded.update(self._hidden)
