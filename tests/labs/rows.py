"""Rows of parameters."""

from typing import Any

import pytest

__all__ = ["more"]


def more(*values: Any, id: str | None = None) -> Any:
    """A row that runs with ``--full`` alone: one of many like it."""
    return pytest.param(*values, marks=pytest.mark.full, id=id)
