"""Descriptions of tests that run on another core, too: knobs by the environment."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from nicbed.layouts.description import Description

__all__ = ["Overriding"]


class Overriding:
    """The description of tests, with the knobs ``usual``, and over them what the environment
    variable ``name`` has (JSON)."""

    def __init__(self, name: str, usual: Mapping[str, Any]) -> None:
        self._name = name
        self._usual = usual

    @contextmanager
    def by(self, knobs: Mapping[str, Any]) -> Iterator[None]:
        """Have the description with these knobs, here and in processes that are begun here."""
        os.environ[self._name] = json.dumps(knobs)
        try:
            yield
        finally:
            del os.environ[self._name]

    def describe(self, **knobs: Any) -> Description:
        """It, with knobs as ``gm__window=1``."""
        table: dict[str, dict[str, Any]] = {}
        given = {**json.loads(os.environ.get(self._name, "{}")), **knobs}
        for name, value in {**self._usual,
                            **{key.replace("__", "."): given[key] for key in given}}.items():
            section, key = name.split(".")
            table.setdefault(section, {})[key] = value
        return Description.model_validate(table)
