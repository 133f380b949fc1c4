"""Parameters and results of COMMTEST."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...fields import figure, setting
from .model import Error

__all__ = ["CommtestParameters", "CommtestResults", "Row"]


@dataclass(frozen=True)
class CommtestParameters:
    """A part of the grid, or all of it."""

    cells: Sequence[Sequence[Any]] = setting([], "cells of the grid, each with its numbers of "
                                                 "messages")
    whole: bool = setting(False, "whether that is the whole grid")
    cpus: int = setting(1, "CPUs of a node")


@dataclass(frozen=True, kw_only=True)
class Row:
    """The model of a protocol in a cell: T = a · messages + b · bytes."""

    a: float | None = figure("cycles", "a message; None: too few numbers of messages")
    b: float = figure("cycles/byte", "a byte")
    latency: float | None = figure("cycles", "of a message, from a")
    swap: float = figure("bytes/cycle", "of a swap, both ways, from b")
    one_way: float = figure("bytes/cycle", "of one way, from b")
    errors: Mapping[str, Error] = figure("", "of the model, by which messages")


@dataclass(frozen=True, kw_only=True)
class CommtestResults:
    """The models of all protocols in all cells, and which protocols are worth having."""

    cells: Mapping[str, Mapping[str, Row]] = figure("", "models by cell and protocol")
    fastest: Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]] = figure(
        "", "protocols, the fastest first, by cell, number of messages and kind")
    dominated: Mapping[str, str] = figure(
        "", "for each protocol that is nowhere faster than some other: that other")
    eager: int = figure("bytes", "longest message that goes eagerly")
    eager_within: int | None = figure("bytes", "the same within a node", optional=True)
