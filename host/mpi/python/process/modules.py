"""The state that logging, warnings and locale keep for the process."""

import locale
import logging
import sys
import warnings
from typing import Any

__all__ = ["Locale", "Logging", "Warnings"]

Names = dict[str, Any]

_FILTERS = (("default", None, DeprecationWarning, "__main__", 0),
            *(("ignore", None, kind, None, 0) for kind in (
                DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)))
"""Filters of a new process."""


class Logging:
    """Root logger and tables of module logging. A rank begins with the loggers that there are, and
    with a root logger as a new process has it."""

    def fresh(self, rank: int) -> tuple[Names, Names, Any]:
        root, manager = logging.root, logging.root.manager
        return ({**vars(root), "handlers": [], "filters": [], "level": logging.WARNING,
                 "disabled": False, "_cache": {}},
                {**vars(manager), "loggerDict": dict(manager.loggerDict), "disable": 0}, [])

    def take(self) -> tuple[Names, Names, Any]:
        root = logging.root
        return root.__dict__, root.manager.__dict__, logging._handlerList  # type: ignore

    def put(self, state: tuple[Names, Names, Any]) -> None:
        root = logging.root
        root.manager.__dict__ = state[1]
        root.__dict__, _, logging._handlerList = state  # type: ignore


class Warnings:
    """Filters of module warnings, and what shows a warning. A rank begins as a new process does,
    with the options of the environment, and with the filters that modules have for warnings of
    theirs, or of one text or one module."""

    _NAMES = ("filters", "showwarning", "formatwarning", "_showwarnmsg_impl", "onceregistry")

    def fresh(self, rank: int) -> Names:
        module: Any = warnings
        before = self.take()
        own = [one for one in warnings.filters if one[1] or (one[3] and one[3] != "__main__")
               or one[2].__module__ != "builtins"]
        self.put({"filters": [*own, *_FILTERS], "showwarning": module._showwarning_orig,
                  "formatwarning": module._formatwarning_orig, "_showwarnmsg_impl": _shown,
                  "onceregistry": {}})
        module._processoptions(sys.warnoptions)
        state = self.take()
        self.put(before)
        return state

    def take(self) -> Names:
        names = vars(warnings)
        return {name: names[name] for name in self._NAMES}

    def put(self, state: Names) -> None:
        warnings.__dict__.update(state)


def _shown(message: warnings.WarningMessage) -> None:
    """As module warnings shows a warning where nobody has changed it."""
    text = warnings._formatwarnmsg(message)  # type: ignore[attr-defined]
    (message.file or sys.stderr).write(text)


class Locale:
    """The locale. A rank begins with the process's."""

    def fresh(self, rank: int) -> str:
        return self.take()

    def take(self) -> str:
        return locale.setlocale(locale.LC_ALL)

    def put(self, state: str) -> None:
        if state != self.take():
            locale.setlocale(locale.LC_ALL, state)
