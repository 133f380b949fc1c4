"""A benchmark as one object: what a user writes to plug one in, and what ours are."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from ...host.endpoint import Exchange
from ...host.port.node import Program
from ...layouts.description import Description
from ...layouts.doors import LAYERS, Layer
from ..errors import UserError
from .common.headline import Headline
from .common.programs import Make, on
from .common.programs import programs as each_node
from .fields import read
from .presented import Presented

__all__ = ["Benchmark", "Tell", "Uncarried"]

T = TypeVar("T")

Tell = Callable[[str, int, int], None]
"""Progress: called with the current step, how much of it is done, and the total."""


class Uncarried(UserError):
    """A benchmark does not exist for a layer."""


@dataclass(frozen=True)
class _Nothing:
    """No parameters."""


class Benchmark:
    """A benchmark. A class of a user's has at least :attr:`name`, :attr:`title`, ``Results``,
    :meth:`programs` and :meth:`evaluate`.

    Attributes
    ----------
    name, title
        As ``nicbed bench`` takes it, and a line for ``nicbed list``.
    nodes
        Nodes, or processes, that it needs, and takes by default.
    every_nic
        Its programs choose among the NICs, or the CPUs, of nodes themselves; otherwise they are on
        NIC 0, or on the CPUs where the layer has processes.
    Parameters
        A frozen dataclass of :func:`~.fields.setting` fields: the benchmark's own options of the
        command line, and its part of the key by which results are kept. Lists, numbers and texts.
    Results
        A dataclass of :func:`~.fields.figure` fields.
    FIGURES
        The names of its headline figures, where these are the same for all descriptions.
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    nodes: ClassVar[int] = 2
    every_nic: ClassVar[bool] = False
    Parameters: ClassVar[type] = _Nothing
    Results: ClassVar[type] = _Nothing
    FIGURES: ClassVar[tuple[str, ...] | None] = None

    def takes(self, layer: Layer) -> bool:
        """Tells whether the endpoints of ``layer`` can carry it."""
        return layer.endpoint_class is not None and layer.endpoint_class.messages

    def parameters(self, description: Description) -> Any:
        """The usual parameters on ``description``."""
        return self.Parameters()

    def usual(self, description: Description, parties: int) -> Any:
        """The usual parameters over a layer that counts ``parties``, nodes or processes. As it is
        here: those of :meth:`parameters`."""
        return self.parameters(description)

    def exchange(self, parameters: Any) -> Exchange:
        """Returns the exchange that all endpoints of :meth:`programs` know beforehand."""
        return Exchange(getattr(parameters, "size", 4))

    def programs(self, parameters: Any, endpoint: Make) -> Mapping[int, Program]:
        """The host program of each node that takes part; ``endpoint(node)`` makes its endpoint."""
        raise NotImplementedError

    async def measure(self, lab: Any, layer: str, parameters: Any, tell: Tell) -> Any:
        """Run host programs on ``lab``, in the simulator's process; return what :meth:`evaluate`
        needs, plain data. As it is here: one run of :meth:`programs`, traced; the
        :class:`~nicbed.testbench.lab.Run`."""
        made = self.programs(parameters, on(layer, self.exchange(parameters)))
        return await lab.run(each_node(lab, made), trace=True)

    def evaluate(self, raw: Any, description: Description, parameters: Any) -> Any:
        """The results of what was measured: an object of ``Results``, or a
        :class:`~.fields.Outcome`. A
        pure function."""
        raise NotImplementedError

    def results(self, document: Mapping[str, Any]) -> Any:
        """The results of a result file, as an object of ``Results``."""
        return read(self.Results, document["results"])

    def parameters_of(self, document: Mapping[str, Any]) -> Any:
        """The parameters of a result file, as an object of ``Parameters``."""
        return read(self.Parameters, document["parameters"])

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """Tables and lines for a result file: as it is here, a row for each number."""
        from ..results.tables import amount, table

        return [table(self.title or self.name, ["", "", "unit", "is"],
                      [(one.name, amount(one.value), one.unit, meaning)
                       for one, meaning in self._numbers(document)], left=1)]

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """The figures by which descriptions are compared: as it is here, each number."""
        return [one for one, _ in self._numbers(document)]

    def _numbers(self, document: Mapping[str, Any]) -> list[tuple[Headline, str]]:
        found = []
        results = self.results(document)
        for one in dataclasses.fields(results):
            value = getattr(results, one.name)
            about = (one.metadata.get("unit", ""), one.metadata.get("meaning", ""))
            if isinstance(value, Mapping):
                found += [(Headline(f"{one.name}, {key}", each, about[0]), about[1])
                          for key, each in value.items() if isinstance(each, (int, float))]
            elif value is None or isinstance(value, (int, float)):
                found.append((Headline(one.name, value, about[0]), about[1]))
        return found

    # What there may be, too: ``full(description)``, the parameters with which nothing is left out;
    # ``draw(document, figure)``, a plot; ``series(document)``, a curve to compare.

    @property
    def layers(self) -> Iterable[str]:
        """The layers that can carry it."""
        return [name for name, layer in LAYERS.working() if self.takes(layer)]

    def nodes_on(self, layer: str) -> int:
        """The nodes that it takes by default over ``layer``."""
        return self.nodes

    def module(self, layer: str) -> Any:
        """Returns the object that measures and presents it on ``layer`` (:class:`Presented`).

        Raises
        ------
        Uncarried
            The endpoints of the layer cannot carry it.
        """
        self.check(layer)
        return Presented(self, layer)

    def check(self, layer: str) -> None:
        """Refuse a layer that cannot carry it.

        Raises
        ------
        Uncarried
            It cannot.
        """
        if not self.takes(LAYERS.get(layer)):
            raise Uncarried(f"{self.name} does not exist for layer {layer}: it takes --layer "
                            f"{' or '.join(self.layers)}")
