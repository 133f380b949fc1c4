"""Calls of mpi4py that nicbed does not have: calling one raises NotImplementedError."""

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["refused", "refuses"]

Kind = TypeVar("Kind", bound=type)


def refused(name: str) -> Callable[..., Any]:
    """Returns a function called ``name`` that raises NotImplementedError."""
    def refuse(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"{name} is not supported (docs/tutorials/mpi.md lists what is)")
    refuse.__name__ = name
    return refuse


def refuses(names: str) -> Callable[[Kind], Kind]:
    """Gives a class methods of these ``names``, each of which raises NotImplementedError."""
    def give(kind: Kind) -> Kind:
        for name in names.split():
            setattr(kind, name, staticmethod(refused(f"{kind.__name__}.{name}")))
        return kind
    return give
