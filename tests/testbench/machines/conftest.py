"""Jobs of :mod:`nicbed.testbench.machines` over the functional model, with a cache of their own."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from nicbed.testbench.machines import measured

from tests.labs.model import ModelLab


@pytest.fixture
def jobs(monkeypatch, tmp_path) -> list[Any]:
    """The jobs that were measured, each in the functional model in place of a simulator."""
    done: list[Any] = []

    def perform(job: Any, **_: Any) -> Sequence[Any]:
        done.extend(job.arguments["jobs"])
        return asyncio.run(measured.in_simulator(ModelLab(job.description),
                                                 job.arguments["jobs"]))

    monkeypatch.setenv("NICBED_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("nicbed.testbench.backends.session.perform", perform)
    return done
