"""``nicbed app FILE``: a program of MPI, in Python, C or C++, written for blocking calls."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..testbed.bed import Testbed
from .measure import check_places, show_result, store
from .output import Terminal, finish

__all__ = ["is_program", "run_program"]


def is_program(name: str) -> bool:
    """Tells whether ``name`` is a program's file or folder, not the name of one that comes with
    nicbed."""
    suffix = Path(name).suffix
    return suffix in (".c", ".py") or "/" in name or Path(name).is_dir() or (
        bool(suffix) and _is_cplusplus(suffix))


def _is_cplusplus(suffix: str) -> bool:
    from ...host.mpi.c.cplusplus import SUFFIXES

    return suffix in SUFFIXES


def run_program(names: Sequence[str], arguments: Sequence[str], *, flags: str, nic: str,
                overrides: Sequence[str], nodes: int | None, sim: str, port: str | None, out: Path,
                wave: Path | None, timeline: Path | None, limit: int | None,
                compute: str | None = None) -> None:
    """Run the program in ``names``: a file in Python; or files in C or C++, or folders of them. On
    one node it has one rank, on a target of two nodes."""
    alone = nodes == 1
    with (tempfile.TemporaryDirectory(prefix="nicbed-") as work,
          Testbed(nic, overrides=overrides, nodes=2 if alone else nodes, sim=sim, limit=limit,
                  port=port, listener=Terminal()) as bed):
        check_places(out, wave, timeline)
        wanted = bed.mpi_program([Path(name) for name in names], arguments, work=Path(work),
                                 flags=flags, alone=alone, compute=compute or "")
        result = bed.measure(wanted, wave=wave, timeline=timeline)
    path = store(result, out, None)
    finish(result.text, lambda: show_result(result), path)
