"""``nicbed app FILE``: a program of MPI, in Python, C or C++, written for blocking calls."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .measure import check_places, show_result, store
from .options import RunOptions
from .output import finish

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


def run_program(names: Sequence[str], arguments: Sequence[str], options: RunOptions, *,
                flags: str = "", compute: str | None = None) -> None:
    """Run the program in ``names``: a file in Python; or files in C or C++, or folders of them. On
    one node it has one rank, on a target of two nodes."""
    alone = options.nodes == 1
    if alone:
        options = replace(options, nodes=2)
    from ..testbed.mpi_program import MpiProgram

    with (tempfile.TemporaryDirectory(prefix="nicbed-") as work, options.bed() as bed):
        check_places(options.out, options.wave, options.timeline)
        wanted = bed.mpi_program(MpiProgram([Path(name) for name in names], arguments, flags,
                                            alone, compute or ""), work=Path(work))
        result = bed.measure(wanted, wave=options.wave, timeline=options.timeline)
    path = store(result, options.out, None)
    finish(result.text, lambda: show_result(result), path)
