"""A measurement to be made: a benchmark, a program, an experiment or the area of a description."""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...layouts.description import Description
from ...layouts.doors import Named
from ..backends import MODEL
from ..benches.parameters import changed
from ..errors import UserError

if TYPE_CHECKING:
    from ..apps import App
    from ..benches import Benchmark
    from .listener import Listener
    from .mpi_program import MpiProgram

__all__ = ["AREA", "Measurement", "area", "benchmark", "experiment", "mpi_program", "program"]

AREA = "area"
"""Name under which the area is measured, beside the names of benchmarks and programs."""
_PACKAGE = __name__.split(".")[0]


@dataclass(frozen=True)
class Measurement:
    """Something to measure, whole and in plain data: any process may carry it out, and the outcome
    is the same.

    Attributes
    ----------
    name
        The benchmark, the program, or the experiment's file without its suffix.
    layer, sim
        The layer whose messages are measured; the back end.
    description
        The description, with what the layer needs (:func:`~..descriptions.load.for_layer`).
    parameters
        The benchmark's or program's parameters; they are part of the result.
    function, arguments
        What the simulator's process carries out, as for :func:`nicbed.run_job`.
    module
        Module that presents the result: its tables, its plot, its figures; "": one from outside.
    pure
        Whether the outcome depends on nothing else, neither a user's files nor a board.
    reads
        Whether it reads the standard input of the process that has it measured.
    limit
        Target cycles after which it is stopped, if nobody says otherwise.
    synthesis
        Whether it is synthesised, in the caller's process, and no simulator runs.
    outlook
        What its user wants to know before it is measured: how long that will take. May be "".
    remarks
        What the result says of itself, beside the description's notes.
    bench
        The benchmark's name, if it is one; as its door gives it, of one from outside.
    """

    name: str
    layer: str
    sim: str
    description: Description
    parameters: Mapping[str, Any]
    function: str
    arguments: Mapping[str, Any]
    module: str
    pure: bool = True
    reads: bool = False
    limit: int | None = None
    synthesis: bool = False
    outlook: str = ""
    remarks: tuple[str, ...] = ()
    bench: str = ""

    @property
    def presentation(self) -> Any:
        """The object that presents the result: a module, or the benchmark."""
        if self.bench:
            from ..benches import get

            return get(self.bench).module(self.layer)
        return importlib.import_module(self.module)

    @property
    def outside(self) -> tuple[Named, ...]:
        """The names of the objects from outside on which the result depends."""
        own = [one for one in (self.bench, self.layer) if isinstance(one, Named)]
        return tuple(dict.fromkeys([*own, *self.description.outside]))

    @property
    def modules(self) -> list[str]:
        """Modules of nicbed that a simulator's process needs."""
        return [self.function.partition(":")[0], *filter(None, [self.module])]

    def document(self, outcome: Mapping[str, Any]) -> dict[str, Any]:
        """The document of the result file."""
        from ..results import document as files

        if self.synthesis:
            return self.presentation.document(self.name, self.layer, self.description,
                                              outcome)
        return files.build(self.name, self.layer, self.sim, self.description, self.parameters,
                           outcome, self.remarks)


def benchmark(name: str, bench: "Benchmark", description: Description, *, layer: str, sim: str,
              full: bool = False, changes: Mapping[str, Any] | None = None) -> Measurement:
    """Benchmark ``bench``, found as ``name``, on ``layer``; ``full``: with the runs that it usually
    leaves out; ``changes``: parameters in place of the usual ones.

    Raises
    ------
    UserError
        The benchmark does not exist for the layer, refuses the description, leaves nothing out, or
        has no such parameter.
    """
    if sim == MODEL:
        raise UserError("--sim model: its cycles are estimates, and it has no events: "
                        f"{bench.name} needs a simulator (nicbed app and nicbed run take the "
                        "model)")
    module = bench.module(layer)
    if full and not hasattr(module, "full"):
        raise UserError(f"--full: {bench.name} leaves nothing out; run it without")
    parameters = changed(name, (module.full if full else module.parameters)(description), changes)
    own = module.__name__ if module.__name__.startswith(f"{_PACKAGE}.") else ""
    return Measurement(str(name), layer, sim, description, parameters,
                       f"{_PACKAGE}.testbench.benches:run",
                       {"name": name, "layer": layer, "parameters": parameters}, own,
                       pure=sim != "board", bench=name)


def area(description: Description, *, layer: str, sim: str) -> Measurement:
    """The area of the description's NIC, from synthesis."""
    module = f"{_PACKAGE}.testbench.synth.nic"
    return Measurement(AREA, layer, sim, description, {}, f"{module}:measure", {}, module,
                       synthesis=True)


def program(app: "App", given: Mapping[str, Any], description: Description, *, sim: str,
            layer: str | None = None) -> Measurement:
    """Program ``app`` with the parameters ``given``, over ``layer`` (default: the app's).

    Raises
    ------
    UserError
        A parameter does not exist, or the program's data does not fit into memory.
    """
    from .. import apps

    layer = layer or app.layer
    parameters = apps.parameters(app, given, description, layer)
    other = {"layer": layer} if layer != app.layer else {}
    return Measurement(app.name, layer, sim, description, parameters, app.job,
                       {"name": app.name, "parameters": parameters, **other}, app.report.__name__,
                       limit=app.limit, pure=sim != "board",
                       outlook=apps.outlook(app, parameters, description, sim))


def experiment(file: Path, arguments: Sequence[str], description: Description, *, layer: str,
               sim: str) -> Measurement:
    """The experiment in ``file``, which gets ``arguments``.

    Raises
    ------
    UserError
        The file is no experiment.
    """
    from .experiment import check

    check(file)
    given = list(arguments)
    name = f"{_PACKAGE}.testbench.testbed.experiment"
    return Measurement(file.stem, layer, sim, description, {"arguments": given}, f"{name}:run",
                       {"file": str(file.resolve()), "arguments": given}, name, pure=False)


def mpi_program(program: "MpiProgram", description: Description, *, sim: str, work: Path,
                listener: "Listener") -> Measurement:
    """The ``program`` of MPI; a library of it is made in the folder ``work``, of which ``listener``
    is told.

    Raises
    ------
    UserError
        Its files are no program.
    """
    from .mpi_program import MEASURED, REMARK, built

    files, compute = program.files, program.compute
    if compute not in ("", MEASURED):
        raise UserError(f"--compute {compute}: for a program of MPI there is {MEASURED}")
    given = list(program.arguments)
    name = f"{_PACKAGE}.testbench.testbed.mpi_program"
    parameters = {"arguments": given, **({"cflags": program.flags} if program.flags else {}),
                  **({"ranks": 1} if program.alone else {}),
                  **({"compute": compute} if compute else {})}
    return Measurement(files[0].stem, "mpi", sim, description, parameters, f"{name}:run",
                       {"file": str(built(files, work, program.flags, listener)),
                        "name": str(files[0]), "arguments": given, "alone": program.alone,
                        "measured": bool(compute)}, name,
                       pure=False, reads=True, remarks=(REMARK,) if compute else ())
