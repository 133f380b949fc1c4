"""``nicbed.mpi``: :mod:`nicbed.host.mpi` under a short name, so that programs can say ``from
nicbed.mpi import MPI``."""

import sys

from .host import mpi

sys.modules[__name__] = mpi
