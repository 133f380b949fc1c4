"""Several layers of a CPU, each on a NIC of its own, polled in turn."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from ..port.node import Node
from .costs import Prices

__all__ = ["Layer", "Layers"]

Spin = Callable[[Callable[[], Any] | None], Any]
"""``await spin(condition)`` polls until the condition is true; without one, once."""


class Layer(Protocol):
    """The methods that a layer needs to be polled in turn: Active Messages have them."""

    enabled: bool

    async def enable(self) -> None: ...

    async def poll(self) -> None: ...

    def expect(self, waits: bool) -> None: ...

    async def leave(self, spin: Spin) -> None: ...

    async def disable(self, spin: Spin) -> None: ...


class Layers:
    """The ``layers`` of CPU ``cpu``; ``layers[n]`` is one of them."""

    def __init__(self, cpu: Node, *layers: Any) -> None:
        if not layers:
            raise ValueError("there must be a layer to poll")
        self._port = cpu.port
        self._layers: tuple[Any, ...] = layers
        self._turn = cpu.service(Prices).turn

    def __getitem__(self, number: int) -> Any:
        return self._layers[number]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._layers)

    def __len__(self) -> int:
        return len(self._layers)

    async def enable(self) -> None:
        """Enable all."""
        for layer in self._layers:
            await layer.enable()

    async def poll(self) -> None:
        """Poll each once."""
        for layer in self._layers:
            if layer.enabled:
                self._port.spend(self._turn)
                await layer.poll()

    async def wait(self, condition: Callable[[], Any]) -> None:
        """Poll all, in turn, until ``condition()`` is true; it is evaluated after each round."""
        for layer in self._layers:
            layer.expect(layer.enabled)
        try:
            while not condition():
                await self.poll()
        finally:
            for layer in self._layers:
                layer.expect(False)

    async def disable(self) -> None:
        """Disable all. First each one's own communication ends and its peers are told, while all
        are served, so that no two CPUs wait for each other's layers."""
        for layer in self._layers:
            await layer.leave(self._spin)
        for layer in self._layers:
            await layer.disable(self._spin)

    async def _spin(self, condition: Callable[[], Any] | None = None) -> None:
        while True:
            await self.poll()
            if condition is None or condition():
                return
