"""Names of objects as text, "module:object", which are imported when they are first needed."""

import importlib
from typing import Any

__all__ = ["resolved"]


def resolved(what: Any) -> Any:
    """``what`` itself, or the object that a text "module:object" names."""
    if not isinstance(what, str):
        return what
    module, _, name = what.partition(":")
    return getattr(importlib.import_module(module), name)
