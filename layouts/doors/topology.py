"""A topology: what a user writes to plug a kind of fabric in."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..description import Description, Section
    from ..fabric import Graph

__all__ = ["Topology"]


class Topology:
    """A kind of fabric, by its name in ``fabric.topology``. A topology of your own is a subclass,
    of which a door makes an object without arguments.

    Attributes
    ----------
    name
        Small letters, digits, underscores; also that of its section of knobs.
    title
        One line for ``nicbed list``.
    knobs
        The section of its own knobs, ``[name]``, all of kind structure; None for none.
    """

    name: str
    title: str
    knobs: "type[Section] | None" = None

    def graph(self, description: "Description", addresses: int, what: str) -> "Graph":
        """The graph of switches for so many wire addresses. ``what``: what a message calls their
        number.

        Raises
        ------
        ValueError
            There is no room for so many, or a knob is wrong.
        """
        raise NotImplementedError(f"topology {self.name} has no graph()")
