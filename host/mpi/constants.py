"""Constants of MPI, under its names."""

__all__ = ["ANY_SOURCE", "ANY_TAG", "MAX_TAG", "PROC_NULL", "UNDEFINED"]

ANY_SOURCE = -1
"""As the source of a receive: any rank."""
ANY_TAG = -1
"""As the tag of a receive: any."""
PROC_NULL = -2
"""As a source or destination: nobody; the call does nothing."""
UNDEFINED = -32766
"""No rank, no colour, no count."""
MAX_TAG = (1 << 30) - 1
"""The largest tag of a program (MPI_TAG_UB)."""
