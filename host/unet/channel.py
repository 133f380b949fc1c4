"""A channel of an endpoint."""

from dataclasses import dataclass

__all__ = ["Channel"]


@dataclass(slots=True, eq=False)
class Channel:
    """A pair of tags that the kernel has registered with the NIC: what is sent on the channel goes
    to wire address ``node`` with tag ``out``; what comes from there with tag ``tag`` is the
    endpoint's.

    Attributes
    ----------
    number
        Its number in the NIC, as descriptors name it.
    open
        False once it is closed.
    """

    number: int
    node: int
    out: int
    tag: int
    open: bool = True
