"""The description from which the points of a study or a search start, and the way of measuring
them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...layouts.description import Description
from ..descriptions import load
from ..testbed.bed import Testbed
from ..testbed.options import Options

__all__ = ["Start"]


@dataclass(frozen=True)
class Start:
    """The description, as it is named, and the way of measuring.

    Attributes
    ----------
    nic, overrides, nodes
        As of :func:`~..descriptions.load.load`.
    layer, sim, limit
        As of :class:`~nicbed.Testbed`; layer None is the benchmark's own.
    """

    nic: str = load.DEFAULT
    overrides: tuple[str, ...] = ()
    nodes: int | None = None
    layer: str | None = None
    sim: str = "verilator"
    limit: int | None = None

    def acquaint(self) -> None:
        """Load what is from outside in it, so that the names of its knobs are known.

        Raises
        ------
        UserError
            It is not there, or cannot be loaded.
        """
        load.acquaint(self.nic, self.overrides, self.layer)

    def description(self, changes: Mapping[str, Any] | None = None) -> Description:
        """The description with ``changes``, values by knob.

        Raises
        ------
        UserError
            It is wrong, or refuses a value.
        """
        return load.load(self.nic, self.overrides, self.nodes, changes=changes)

    def bed(self) -> Testbed:
        """A testbed that looks nothing up and keeps nothing, for what is to be measured.

        Raises
        ------
        UserError
            The description is wrong.
        """
        return Testbed(self.nic, nodes=self.nodes, sim=self.sim, limit=self.limit, store=None,
                       options=Options(self.overrides))
