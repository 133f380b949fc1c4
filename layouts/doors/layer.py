"""A communication layer as one object: what a user writes to plug one in. The folder of a layer has
it in ``layer.py`` as ``LAYER``."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from .lazy import resolved

if TYPE_CHECKING:
    from ..description import Description, Section

__all__ = ["Layer"]


def _no_needs(description: "Description", name: str) -> Iterable[str]:
    return ()


def _itself(description: "Description") -> "Description":
    return description


@dataclass(frozen=True)
class Layer:
    """A communication layer: everything that the testbed must know of it, in one place.

    Objects of host programs are given as strings ``"module:name"``, which are imported when they
    are first needed, or as the objects themselves.

    Attributes
    ----------
    name
        As ``--layer`` takes it.
    title
        A line for ``nicbed list``.
    knobs
        Its section of a description, ``[name]``; one of a layer from outside has knobs of kind cost
        alone.
    sections
        Names of further sections that its programs read: those of a layer below.
    drivers
        The kinds of driver on which it can live, best first.
    below
        ``below(description)`` is the name of the layer on which it runs, whose needs are its own;
        None: it drives the NIC itself.
    chosen_by
        The knob by which the layer below is chosen.
    needs
        ``needs(description, name)`` gives a line for each rule that the description breaks; the
        line calls the layer ``name``.
    needs_of_exchange
        The same for programs each of whose messages must arrive once, as those of benchmarks.
    flushes
        Whether it flushes cache lines where the bus is not coherent, under this description; None:
        never.
    settle
        ``settle(description)`` is the description with what the layer decides where knobs leave it
        open.
    endpoint
        Its :class:`~nicbed.host.endpoint.Endpoint`; empty: it has none.
    processes
        Where any CPU can have a process of its own over the layer: ``processes(description)`` is
        node and CPU of each one that a benchmark, or a program over Split-C, has, in order of both,
        and benchmarks count processes. None: they count nodes, of which CPU 0 runs the program.
    messages
        What makes the Generic Active Messages of a process of its :class:`~nicbed.host.port.node.
        Node`, for Split-C (:class:`~nicbed.host.splitc.messages.Messages`); empty: there are none.
    background
        What the runtime starts beside the programs of a run: ``background(description)`` is a
        :class:`nicbed.host.background.Background`, or None: that of a layer that is built in, if
        its knobs are as usual. Empty: nothing.
    """

    name: str
    title: str
    _: KW_ONLY
    knobs: "type[Section] | None" = None
    sections: tuple[str, ...] = ()
    drivers: tuple[Any, ...] = ()
    below: "Callable[[Description], str] | None" = None
    chosen_by: str = ""
    needs: "Callable[[Description, str], Iterable[str]]" = _no_needs
    needs_of_exchange: "Callable[[Description, str], Iterable[str]]" = _no_needs
    flushes: "Callable[[Description], bool] | None" = None
    settle: "Callable[[Description], Description]" = _itself
    endpoint: Any = ""
    processes: "Callable[[Description], Sequence[tuple[int, int]]] | None" = None
    messages: Any = ""
    background: Any = ""

    @property
    def endpoint_class(self) -> Any:
        """The class of its endpoints; None: it has none."""
        return resolved(self.endpoint) if self.endpoint else None

    def places(self, description: "Description") -> "Sequence[tuple[int, int]]":
        """Node and CPU of each process, in the order of their numbers; else CPU 0 of each node."""
        if self.processes is None:
            return [(node, 0) for node in range(description.fabric.nodes)]
        return self.processes(description)

    def parties(self, description: "Description") -> int:
        """Number of what benchmarks over the layer count: its processes, else nodes."""
        return len(self.places(description))

    @property
    def own_sections(self) -> tuple[str, ...]:
        """Names of the sections of a description that its programs read, beside those of the node
        and of what joins the nodes."""
        return (*self.sections, *([self.name] if self.knobs else []))
