"""Constants of MPI, under its names."""

__all__ = ["ANY_SOURCE", "ANY_TAG", "CART", "COMM_TYPE_SHARED", "CONGRUENT", "DIST_GRAPH", "GRAPH",
           "IDENT", "MAX_TAG", "PROC_NULL", "ROOT", "SIMILAR", "SUBVERSION", "UNDEFINED", "UNEQUAL",
           "VERSION"]

VERSION, SUBVERSION = 3, 1
"""Of the standard of which the calls are."""
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
ROOT = -4
"""As the root of a call on a communicator of two groups: this rank."""
IDENT, CONGRUENT, SIMILAR, UNEQUAL = range(4)
"""How two communicators or groups compare: the same; the same processes; in another order; not."""
CART, GRAPH, DIST_GRAPH = 1, 2, 3
"""Kinds of topologies."""
COMM_TYPE_SHARED = 1
"""Split by which ranks share memory."""
