"""A program of MPI that was written for blocking calls, in Python or in C, as it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..backends import MODEL
from ..errors import UserError
from .listener import Listener

__all__ = ["MEASURED", "NODES", "REMARK", "MpiProgram", "built", "run", "tables"]

NODES = 4
"""Ranks, if neither the user nor the description wants more."""
MEASURED = "measured"
"""How a program's computation may be charged: by its CPU time on this computer."""
REMARK = ("computation was charged by its CPU time on the computer that ran it: cycles depend on "
          "that computer, and differ from run to run")
"""What a result says of itself then."""


@dataclass(frozen=True)
class MpiProgram:
    """A program of MPI, and how it is run.

    Attributes
    ----------
    files
        The program's file in Python; or files in C or C++, or folders of them.
    arguments
        The arguments that it gets.
    flags
        Options for the C compiler.
    alone
        Whether it runs on node 0 alone.
    compute
        "measured": the CPU time that the program takes on this computer is charged to the target's
        CPUs, so that results depend on it; or nothing.
    """

    files: Sequence[Path]
    arguments: Sequence[str] = ()
    flags: str = ""
    alone: bool = False
    compute: str = ""


def built(files: Sequence[Path], work: Path, flags: str = "",
          listener: Listener | None = None) -> Path:
    """Makes what the simulator's process needs of the program in ``files``: the file in Python
    itself, or a library, in the folder ``work``, of the files in C or C++, or folders of them.
    ``flags``: options for the compiler. ``listener`` is told what takes long, and is warned of what
    the program's ranks share.

    Raises
    ------
    UserError
        They are no program.
    """
    python = [file for file in files if file.suffix == ".py"]
    if python and len(files) > 1:
        raise UserError(f"{python[0]}: a program in Python is one file; its modules may lie beside "
                        "it")
    if python and flags:
        raise UserError(f"--cflags {flags}: for programs in C")
    return _python(python[0]) if python else _c(files, work, flags, listener or Listener())


def _python(file: Path) -> Path:
    try:
        compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise UserError(f"{file}:{line}: not Python: {getattr(error, 'msg', error)}") from None
    return file.resolve()


def _c(files: Sequence[Path], work: Path, flags: str, listener: Listener) -> Path:
    from ...host.mpi.c import CompileError, compile_program, shared

    try:
        library = compile_program(files, work, flags, listener.told)
    except CompileError as error:
        failure = UserError(str(error))
        failure.details = error.log  # type: ignore[attr-defined]
        raise failure from None
    line = shared(library)
    if line:
        listener.warn(f"{files[0].name}: {line}")
    return library


async def run(lab: Any, file: str, name: str, arguments: list[str], alone: bool = False,
              measured: bool = False) -> dict[str, Any]:
    """Run the program on all nodes, or on node 0 ``alone``, in the simulator's process;
    ``measured``: what it computes is charged by its CPU time there."""
    from ...host.mpi.sync import RankError

    path = Path(file)
    if path.suffix == ".py":
        from ...host.mpi.python import python_program

        program = python_program(path, arguments, measured=measured)
    else:
        from ...host.mpi.c import c_program

        program = c_program(path, [name, *arguments], measured=measured)
    if lab.description.node.cpus > 1:
        raise UserError(f"a rank is a node: node.cpus = {lab.description.node.cpus}, must be 1",
                        status=1)
    try:
        nodes = lab.description.fabric.nodes
        ranks = 1 if alone else nodes
        done = await lab.run([program] * ranks + [None] * (nodes - ranks))
    except RankError as error:
        failure = UserError(str(error), status=error.status)
        failure.exit_status = error.status  # type: ignore[attr-defined]
        raise failure from None
    return {"results": {"cycles": done.cycles, "ranks": ranks}}


def tables(document: Mapping[str, Any]) -> list[Any]:
    """Tells how long it took."""
    results = document["results"]
    seconds = results["cycles"] / (document["clock_mhz"] * 1e6)
    about = "about " if document["sim"] == MODEL else ""
    ranks = "1 rank" if results["ranks"] == 1 else f"{results['ranks']} ranks"
    return [f"{ranks}, {about}{results['cycles']:,} cycles, {about}{seconds:.6g} s"]
