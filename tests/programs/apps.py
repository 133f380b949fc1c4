"""Programs over Split-C on the model target, with a stand-in for a lab."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from nicbed.host.apps.computing import compute
from nicbed.host.apps.streaming import Streaming
from nicbed.host.runtime import Runtime
from nicbed.layouts.description import Description
from nicbed.layouts.doors import LAYERS
from nicbed.testbench import apps
from nicbed.testbench.apps import measurement
from nicbed.testbench.run.sent_again import Account

from tests.models.target import Model
from tests.programs.am import describe


class ModelLab:
    """Runs programs on the model target."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self.runtime: Runtime | None = None
        self.account = Account()

    async def run(self, programs: list) -> Any:
        self.runtime = Model(self.description).run(programs, limit=200_000_000)
        return SimpleNamespace(results=self.runtime.results, marks=self.runtime.marks)


def run_app(name: str, nodes: int, given: dict[str, Any], settings: dict[str, Any] | None = None,
            data: Any = None, layer: str = "am", messages: Any = None) -> SimpleNamespace:
    """Run a program over ``layer``, or over ``messages`` in place of that layer's, on ``data``
    instead of its own if that is given: its ``outcome``, the ``runtime``, and what went into it."""
    app = apps.get(name)
    description = describe({"fabric.nodes": nodes, **(settings or {})})
    over = LAYERS.get(layer)
    if messages is not None:
        over = replace(over, messages=messages)
    lab = ModelLab(apps.fitted(app, given, description, settings or {}, layer))
    parameters = apps.parameters(app, given, lab.description, layer)
    module = SimpleNamespace(**vars(app.module))
    if data is not None:
        module.inputs = lambda parameters, procs: data
    run, inputs = asyncio.run(measurement.measure(lab, module, parameters, over))
    outcome = measurement.evaluate(module, run, inputs, parameters,
                                   over.places(lab.description))
    return SimpleNamespace(outcome=outcome, runtime=lab.runtime, run=run, inputs=inputs,
                           module=module, parameters=parameters, description=lab.description)


async def cycles_on_lab(lab: Any, jobs: list[tuple[str, dict[str, Any], dict[str, Any]]]
                        ) -> list[int | str]:
    """Programs one after the other in one simulator: of each its cycles, or the checks that failed.
    A job: name, parameters, settings."""
    found: list[int | str] = []
    for name, given, settings in jobs:
        app = apps.get(name)
        parameters = apps.parameters(app, given, lab.description)
        one = SimpleNamespace(description=lab.description,
                              run=lambda programs, settings=settings: lab.run(
                                  programs, settings=settings, limit=50_000_000))
        run, inputs = await measurement.measure(one, app.module, parameters, LAYERS.get(app.layer))
        outcome = measurement.evaluate(app.module, run, inputs, parameters,
                                       LAYERS.get(app.layer).places(lab.description))
        failed = [f"{name}: {one['check']}: {one['detail']}" for one in outcome["checks"]
                  if not one["ok"]]
        found.append("; ".join(failed) or run.cycles)
    return found


async def computed(lab: Any, cpus: Sequence[int], settings: dict[str, Any]) -> list[int]:
    """Cycles in which each of so many CPUs of node 0 computes 500 points of fft, whose 16 bytes
    each come from memory and go back there."""
    found = []
    for count in cpus:
        async def program(node: Any) -> int:
            port, over = node.port, Streaming(node)
            sc = SimpleNamespace(node=node)
            await over.change(Streaming.room(node.description))  # dirty lines, to be written back
            begin = await port.flush()
            await compute(sc, "fft_point", 500, over, 16)
            return await port.flush() - begin

        there = lab.description.node.cpus
        run = await lab.run([[program] * count + [None] * (there - count), None],
                            settings={"apps.poll_interval": 0, **settings})
        found.append(max(run.results[0][:count]))
    return found
