"""What logging, warnings and locale keep for the process."""

import locale
import logging
import warnings
from typing import Any

__all__ = ["Locale", "Logging", "Warnings"]

Names = dict[str, Any]


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
    """Filters of module warnings, and what shows a warning. A rank begins with what the process
    has."""

    _NAMES = ("filters", "showwarning", "formatwarning", "_showwarnmsg_impl", "onceregistry")

    def fresh(self, rank: int) -> Names:
        before = self.take()
        return {**before, "filters": list(before["filters"]), "onceregistry": {}}

    def take(self) -> Names:
        names = vars(warnings)
        return {name: names[name] for name in self._NAMES}

    def put(self, state: Names) -> None:
        warnings.__dict__.update(state)


class Locale:
    """The locale. A rank begins with the process's."""

    def fresh(self, rank: int) -> str:
        return self.take()

    def take(self) -> str:
        return locale.setlocale(locale.LC_ALL)

    def put(self, state: str) -> None:
        if state != self.take():
            locale.setlocale(locale.LC_ALL, state)
