"""The functional target for tests: it checks that all time of the CPUs has been charged."""

from collections.abc import Sequence
from typing import Any

from nicbed.host.port.node import Programs
from nicbed.host.runtime import Runtime
from nicbed.layouts.description import Description
from nicbed.testbench.backends.model.nic import ModelNic
from nicbed.testbench.backends.model.port import ModelPort
from nicbed.testbench.backends.model.target import Model as Target

from tests.models.spent import Spent

__all__ = ["Model", "ModelNic", "ModelPort"]


class Model(Target):
    """A target of ``description``, whose runs are checked (:class:`.spent.Spent`)."""

    def __init__(self, description: Description) -> None:
        super().__init__(description)
        self.spent = Spent()

    def was_given(self, port: int, entries: Sequence[tuple[Any, ...]]) -> None:
        self.spent.given(port, list(entries))

    def run(self, programs: Programs, *, limit: int = 0, tracing: bool = True) -> Runtime:
        """Run ``programs`` to their ends; what one raised is raised here."""
        with self.spent:
            runtime = self._run(programs, limit, tracing)
        for port in runtime.ports:
            self.spent.check(port)
        return runtime

    def _run(self, programs: Programs, limit: int, tracing: bool) -> Runtime:
        self.limit = limit
        self.runtime = runtime = Runtime(self.description, self, self.memories, programs,
                                         tracing=tracing)
        self.serve(runtime.attention)
        if runtime.failed is not None:
            raise runtime.failed
        return runtime
