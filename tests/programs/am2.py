"""Programs of Active Messages II: processes with an endpoint each, which know each other."""

from collections import Counter
from collections.abc import Callable, Coroutine, Generator
from itertools import count
from typing import Any

from nicbed.host.am2 import AM_STATUS, Am2, EndpointName
from nicbed.host.port.node import Node
from nicbed.layouts.description import Description

__all__ = ["SEGMENT", "TAG", "Cut", "Met", "Process", "describe"]

TAG = 0x1234_5678_9ABC_DEF0
SEGMENT = 20_000
OK = AM_STATUS.AM_OK


def describe(cpus: int, **knobs: Any) -> Description:
    """One node of CPUs that matters, and ``knobs`` of am2; ``line``: bytes of a cache line."""
    line = knobs.pop("line", 64)
    return Description.model_validate({
        "node": {"cpus": cpus}, "fabric": {"nodes": 2}, "memory": {"bytes": 32 << 20},
        "cpu": {"line_bytes": line}, "am2": {"protocol": "shared", **knobs}})


class Met:
    """Who has come how often, to meet all others; ``gone`` are processes that will not any more."""

    def __init__(self) -> None:
        self.come: Counter[int] = Counter()
        self.gone: set[int] = set()

    def all(self, cpus: int, times: int) -> bool:
        """Whether all have come so often."""
        return all(self.come[cpu] >= times or cpu in self.gone for cpu in range(cpus))


class Cut:
    """A coroutine that is closed behind its operation number ``most``, or ``early``, before that is
    executed. What it returns then is None."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], most: int, early: bool = False) -> None:
        self._coroutine = coroutine
        self._most = most
        self._early = early

    def __await__(self) -> Generator[None, None, Any]:
        coroutine = self._coroutine
        for number in count(1):
            try:
                coroutine.send(None)
            except StopIteration as end:
                return end.value
            if number == self._most and self._early:
                break
            yield
            if number == self._most:
                break
        coroutine.close()
        return None


class Process:
    """A process of a test with one endpoint; entry n of its translation table is that of CPU n.

    Attributes
    ----------
    back
        What came to handler 0.
    got
        What handlers of tests note.
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self.port = node.port
        self.am = Am2(node)
        self.cpu = node.cpu
        self.back: list[tuple[Any, ...]] = []
        self.got: list[Any] = []
        self.bundle: Any = None
        self.endpoint: Any = None
        self.segment = node.shared(f"segment {node.cpu}", SEGMENT)
        self.source = node.allocate(SEGMENT)
        self._met = node.run_service(Met)
        self._times = 0

    async def open(self, tag: int = TAG, **handlers: Callable[..., Any]) -> "Process":
        """Make the endpoint with ``handlers``, by h1, h2, …, and wait for the others."""
        am = self.am
        assert await am.AM_Init() is OK
        _, self.bundle = await am.AM_AllocateBundle()
        _, self.endpoint, _ = await am.AM_AllocateEndpoint(self.bundle)
        await am.AM_SetTag(self.endpoint, tag)
        await am.AM_SetSeg(self.endpoint, self.segment, SEGMENT)
        await am.AM_SetHandler(self.endpoint, 0, lambda *what: self.back.append(what))
        for name, handler in handlers.items():
            await am.AM_SetHandler(self.endpoint, int(name[1:]), handler)
        for cpu in range(self.node.cpus):
            await am.AM_Map(self.endpoint, cpu, EndpointName(self.node.number, cpu), TAG)
        await self.meet()
        return self

    async def meet(self) -> None:
        """Poll until all processes have come so often."""
        self._times += 1
        self._met.come[self.cpu] += 1
        await self.until(lambda: self._met.all(len(self.node.programs), self._times))

    async def until(self, condition: Callable[[], Any]) -> None:
        """Poll until it holds."""
        while not condition():
            if self.endpoint.open:
                assert await self.am.AM_Poll(self.bundle) is OK
            else:
                await self.port.delay(100)
                await self.port.flush()

    async def quiet(self) -> None:
        """Poll until no request is out."""
        await self.until(lambda: not self.endpoint.outstanding)

    async def close(self) -> None:
        """Wait for the end of all requests of all processes, and terminate."""
        await self.quiet()
        await self.meet()
        assert await self.am.AM_Terminate() is OK

    async def send(self, *what: int) -> None:
        """A request that must be taken: entry, handler, arguments."""
        assert await self.am.AM_RequestM(self.endpoint, *what) is OK

    def note(self, token: Any, *what: int) -> None:
        """A handler that notes what it gets."""
        self.got.append(what)
