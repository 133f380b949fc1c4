"""Jobs for the whole target: what back ends and options are held against each other with."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from nicbed.host.am.gam import Gam
from nicbed.testbench.lab import OFTEN, Lab, Run
from nicbed.testbench.speed.workloads import SETTINGS, WORKLOADS


def exchange(requests: int, words: int, step: int) -> Any:
    """Each node requests of its neighbour, computing in between; returns what its handlers saw."""
    async def program(node: Any) -> list[Any]:
        seen: list[Any] = []

        def on_reply(am: Any, source: int, *args: int) -> None:
            seen.append(("reply", source, args))

        async def on_request(am: Any, source: int, *args: int) -> None:
            seen.append(("request", source, args))
            await am.reply(1, *args)

        gam = Gam(node, [on_request, on_reply])
        await gam.enable()
        peer = node.number ^ 1
        for n in range(requests):
            await gam.request(peer, 0, *(n + w for w in range(words)))
            if step:
                await node.port.delay(step * (1 + (n + node.number) % 3))
        while len(seen) < 2 * requests:
            await gam.poll()
        await gam.disable()
        return [seen, await node.port.flush()]
    return program


def as_rows(run: Run) -> dict[str, Any]:
    """All of a run."""
    return {"cycles": run.cycles, "results": run.results, "events": run.events,
            "marks": run.marks, "wakes": run.wakes, "counters": run.counters}


async def exchanges(lab: Lab, requests: int = 10, words: int = 2, step: int = 50, runs: int = 1,
                    **options: Any) -> list[dict[str, Any]]:
    """The exchange, ``runs`` times over."""
    programs = [exchange(requests, words, step) for _ in range(lab.description.fabric.nodes)]
    return [as_rows(await lab.run(programs, **options)) for _ in range(runs)]


async def pairs_over_via(lab: Lab, until: int = 15_000) -> list[dict[str, Any]]:
    """8-byte messages on a VI between the nodes of each pair, to and fro, then one way; traced."""
    return [as_rows(await lab.run([WORKLOADS["via"][name](until)] * lab.description.fabric.nodes,
                                  settings=SETTINGS, trace=True))
            for name in ("ping-pong", "stream")]


async def foreign(lab: Lab) -> None:
    """Awaits what is no operation."""
    await asyncio.sleep(0)


class Answering:
    """A back end at whose attentions Python answers what ``answer`` makes of its answer."""

    direct = False

    def __init__(self, backend: Any, answer: Callable[[bool], Any]) -> None:
        self._backend = backend
        self._answer = answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    async def serve(self, attention: Callable[[], bool]) -> None:
        await self._backend.serve(lambda: self._answer(attention()))


class Undecided:
    """Neither true nor false."""

    def __bool__(self) -> bool:
        raise ZeroDivisionError("asked for its truth")


class Serving:
    """A back end whose ports are served by what ``serve`` makes of what serves them."""

    direct = True

    def __init__(self, backend: Any, serve: Callable[..., Any]) -> None:
        self._backend = backend
        self._serve = serve

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    async def serve(self, attention: Callable[[], bool], ports: Sequence[Callable[..., int]],
                    often: int) -> None:
        await self._backend.serve(attention, [partial(self._serve, port) for port in ports], often)


async def served(lab: Lab) -> tuple[list[dict[str, Any]], list[str]]:
    """The exchange, also with ports whose serving raises at the 20th time, or gives no number; and
    what these two raised. Behind each of them as ever."""
    backend, count, raised = lab._backend, 0, []
    assert backend.direct

    def fails(serve: Callable[..., int], *arguments: int) -> int:
        nonlocal count
        count += 1
        return 1 // (20 - count) * 0 + serve(*arguments)

    def no_number(serve: Callable[..., int], *arguments: int) -> Any:
        nonlocal count
        count += 1
        return "two" if count == 20 else serve(*arguments)

    found = []
    for serve in (None, fails, None, no_number, None):
        count = 0
        lab._backend = backend if serve is None else Serving(backend, serve)
        try:
            found += await exchanges(lab)
        except (ZeroDivisionError, TypeError) as error:
            raised.append(f"{error} ({count})")
    return found, raised


async def reported(lab: Lab) -> tuple[list[int], list[int]]:
    """The cycles at which progress is told of a run with many attentions; and those at its end."""
    cycles: list[int] = []

    async def program(node: Any) -> int:
        for _ in range(5 * OFTEN):
            await node.port.delay(3)
            await node.port.flush()
        return node.port.cycle

    done = await lab.run([program, None], progress=cycles.append)
    return cycles, [done.cycles, OFTEN]


async def answers(lab: Lab) -> tuple[list[dict[str, Any]], list[str]]:
    """The exchange, also with answers of another kind than bool, and with one that raises, or has
    no truth, at the 20th attention; and what these two raised. Behind each of them as ever."""
    backend, count, raised = lab._backend, 0, []

    def number(more: bool) -> int:
        return 7 if more else 0

    def fails(more: bool) -> bool:
        nonlocal count
        count += 1
        return bool(1 // (20 - count)) or more

    def no_truth(more: bool) -> Any:
        nonlocal count
        count += 1
        return Undecided() if count == 20 else more

    found = []
    for answer in (bool, number, fails, bool, no_truth, bool):
        count = 0
        lab._backend = Answering(backend, answer)
        try:
            found += await exchanges(lab)
        except ZeroDivisionError as error:
            raised.append(f"{error} ({count})")
    return found, raised
