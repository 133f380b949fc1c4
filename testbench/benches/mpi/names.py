"""The layers that carry MPI's messages (``mpi.channel``): their names in tables, and whether their
ping-pongs can vary."""

from ....layouts.doors import LAYERS

__all__ = ["shown", "varies"]


def shown(channel: str) -> str:
    """The name by which tables call the layer ``channel``."""
    return channel.upper()


def varies(channel: str) -> bool:
    """Tells whether the ping-pong of the layer ``channel`` can have fresh buffers, segments and
    connections, as VIA's programs choose them; the others, whose endpoints exchange messages, have
    the plain one alone."""
    return not LAYERS.get(channel).endpoint_class.messages
