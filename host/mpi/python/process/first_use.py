"""Tells of the first use of a module by a program."""

from collections.abc import Callable, Collection
from types import ModuleType
from typing import Any

from ...sync import running

__all__ = ["FirstUse"]


class FirstUse:
    """Calls ``used()`` when a rank's program asks ``module`` for one of ``names`` (None: for
    anything), once. Until then whoever asks the module takes a little longer."""

    def __init__(self, module: ModuleType, names: Collection[str] | None,
                 used: Callable[[], None]) -> None:
        self._module = module
        self._before = type(module)
        ask = ModuleType.__getattribute__

        class Watched(ModuleType):
            def __getattribute__(self, name: str) -> Any:
                # Whoever imports a module asks for its __spec__.
                if (not name.startswith("__") if names is None else name in names) and running():
                    end()
                    used()
                return ask(self, name)

        end = self.end
        module.__class__ = Watched

    def end(self) -> None:
        """Nothing is told any more."""
        self._module.__class__ = self._before
