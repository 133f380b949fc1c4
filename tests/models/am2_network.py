"""Runs programs of tests of AM-II's network way on the functional target."""

from typing import Any

from tests.models.target import Model
from tests.programs.am2_network import LIMIT, describe

__all__ = ["run"]


def run(programs: Any, **knobs: Any) -> list[Any]:
    """Their results."""
    return Model(describe(**knobs)).run(programs, limit=LIMIT).results
