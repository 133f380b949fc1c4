"""The names by which tables call the layers that carry MPI's messages."""

__all__ = ["NAMES"]

NAMES = {"via": "VIA", "gm": "GM", "tcp": "TCP"}
"""By ``mpi.channel``."""
