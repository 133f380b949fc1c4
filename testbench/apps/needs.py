"""Finds what a program's data need of the target: host memory, and entries of the translation
table."""

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Any

from ...layouts.description import Description, Knob, knobs
from ..errors import UserError

__all__ = ["Need", "grown", "of_kernel", "of_memory"]

MOST_NODES = 64


@dataclass(frozen=True)
class Need:
    """A requirement: a knob, a power of two, is at least ``least``.

    Attributes
    ----------
    why
        For whoever has less.
    kernel
        The kernel whose data need it; None: a program's over Split-C.
    """

    section: str
    key: str
    least: int
    why: str
    kernel: Any = None

    @property
    def knob(self) -> str:
        """Its name."""
        return f"{self.section}.{self.key}"

    @property
    def enough(self) -> int:
        """The least value."""
        return 1 << (self.least - 1).bit_length()

    @property
    def default(self) -> int:
        """The knob's default."""
        return int(str(self._knob.default))

    @property
    def most(self) -> int:
        """The largest value."""
        return int(self._knob.ends[1])

    @property
    def _knob(self) -> Knob:
        return next(knob for knob in knobs() if knob.name == self.knob)

    def has(self, description: Description) -> int:
        """The knob's value."""
        return int(getattr(getattr(description, self.section), self.key))

    def remedy(self, description: Description) -> str:
        """Returns what makes the data fit."""
        if self.least <= self.most:
            return f"try --set {self.knob}={self.enough}, or less data"
        found = None if self.kernel is None else _nodes(self.kernel, description)
        return f"a node has at most {self.most}; try " + (f"--nodes {found}" if found
                                                          else "less data")


def _nodes(kernel: Any, description: Description) -> int | None:
    """The least number of nodes, more than there are, on which all that ``kernel`` needs is to be
    had."""
    for nodes in range(description.fabric.nodes + 1, MOST_NODES + 1):
        if kernel.refuses(kernel.size, nodes):
            continue
        try:
            larger = description.with_({"fabric.nodes": nodes})
            needs = of_kernel("", type(kernel)(kernel.size, nodes), larger)
        except UserError:
            return None
        if all(need.least <= need.most for need in needs):
            return nodes
    return None


def of_memory(name: str, data: int, description: Description, kernel: Any = None,
              queues: int = 0) -> Need:
    """Host memory for ``data`` bytes of program ``name``, and for the layers below: over am2 with
    the queues of ``queues`` endpoints."""
    from ...host.am2.shared.queue_block import block_bytes
    from ...host.apps.data import fixed_bytes

    data += fixed_bytes(description, description.fabric.nodes) + queues * block_bytes(description)
    return Need("memory", "bytes", data, f"{name} needs {data} bytes of host memory", kernel)


def of_kernel(name: str, kernel: Any, description: Description) -> list[Need]:
    """Returns what ``kernel`` needs, with the buffers of MPI.

    Raises
    ------
    UserError
        MPI does not reach so many nodes.
    """
    from ...host.mpi.channels import memory_bytes
    from ...host.mpi.errors import MpiError

    try:
        below = memory_bytes(description)
    except MpiError as error:
        raise UserError(f"{name}: {error}") from None
    found = [of_memory(name, kernel.memory() + below, description, kernel)]
    if description.mpi.channel == "via" and description.via.design != "kernel":
        entries = _registered(kernel, description)
        found.append(Need("via", "translations", entries,
                          f"{name} needs {entries} entries of the translation table", kernel))
    return found


def _registered(kernel: Any, description: Description) -> int:
    """Pages that are registered at once, at most: those of MPI, and those of the long messages that
    a process sends and receives in an iteration, as many as are kept after use. One goes while
    another one comes; regions in no use give way to them."""
    from ...host.mpi.channels.via import ViaChannel

    own = ViaChannel.pages(description, description.fabric.nodes - 1)
    page, eager = description.via.page_bytes, description.mpi.eager_of("via")
    lengths = [Counter({length: count for length, count in kernel.lengths(rank).items()
                        if length > eager}) for rank in range(kernel.procs)]
    moving = 2 * max((2 + length // page for each in lengths for length in each), default=0)
    every = max(2 * sum(count * (2 + length // page) for length, count in each.items())
                for each in lengths)
    return own + max(moving, min(every, description.mpi.registration_cache))


def grown(description: Description, needs: Iterable[Need], asked: Container[str]) -> Description:
    """``description`` with what ``needs`` want, where a knob has its default and is none of
    ``asked``."""
    for need in needs:
        free = need.has(description) == need.default and need.knob not in asked
        if free and need.has(description) < need.least <= need.most:
            description = description.with_({need.knob: need.enough})
    return description
