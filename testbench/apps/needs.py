"""What a program's data need of the target: host memory, and entries of the translation table."""

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Any

from ...layouts.description import Description, Knob, knobs

__all__ = ["Need", "grown", "of_kernel", "of_memory"]

BUFFER_PAGES = 64
"""Registered pages of MPI's own buffers over VIA, at most, for each node."""
MOST_NODES = 64


@dataclass(frozen=True)
class Need:
    """That a knob, a power of two, is at least ``least``.

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
        return int(self._knob.bounds.split()[-1])

    @property
    def _knob(self) -> Knob:
        return next(knob for knob in knobs() if knob.name == self.knob)

    def has(self, description: Description) -> int:
        """The knob's value."""
        return int(getattr(getattr(description, self.section), self.key))

    def remedy(self, description: Description) -> str:
        """What makes the data fit."""
        if self.least <= self.most:
            return f"try --set {self.knob}={self.enough}, or less data"
        found = self._nodes(description)
        return f"a node has at most {self.most}; try " + (f"--nodes {found}" if found
                                                          else "less data")

    def _nodes(self, description: Description) -> int | None:
        """The least number of nodes on which the kernel's data fit."""
        kernel, shared = type(self.kernel), self.kernel
        for nodes in range(description.fabric.nodes + 1, MOST_NODES + 1) if shared else ():
            if not kernel.refuses(shared.size, nodes) and of_memory(
                    "", kernel(shared.size, nodes).memory(), description).least <= self.most:
                return nodes
        return None


def of_memory(name: str, data: int, description: Description, kernel: Any = None) -> Need:
    """Host memory for ``data`` bytes of program ``name``, and for the layers below."""
    from ...host.apps.data import fixed_bytes

    data += fixed_bytes(description, description.fabric.nodes)
    return Need("memory", "bytes", data, f"{name} needs {data} bytes of host memory", kernel)


def of_kernel(name: str, kernel: Any, description: Description) -> list[Need]:
    """What ``kernel`` needs."""
    found = [of_memory(name, kernel.memory(), description, kernel)]
    if description.mpi.channel == "via" and description.via.design != "kernel":
        # One long message goes while another one comes; regions in no use give way to them.
        pages = 2 * (1 + -(-kernel.longest() // description.via.page_bytes))
        if pages > description.mpi.registration_cache:
            entries = pages + BUFFER_PAGES * description.fabric.nodes
            found.append(Need("via", "translations", entries,
                              f"{name} needs {entries} entries of the translation table", kernel))
    return found


def grown(description: Description, needs: Iterable[Need], asked: Container[str]) -> Description:
    """``description`` with what ``needs`` want, where a knob has its default and is none of
    ``asked``."""
    for need in needs:
        free = need.has(description) == need.default and need.knob not in asked
        if free and need.has(description) < need.least <= need.most:
            section = getattr(description, need.section)
            description = description.model_copy(update={
                need.section: section.model_copy(update={need.key: need.enough})})
    return description
