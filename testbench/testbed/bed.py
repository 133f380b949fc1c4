"""A testbed: measures benchmarks, programs and experiments on a description."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from threading import Lock
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Self

from ...host.port.node import Program, Programs
from ...layouts.description import Description
from ...layouts.doors import LAYERS
from ..backends import BOARDS, MODEL, SIMS
from ..backends.job import Job
from ..backends.session import RunError, built_simulator, perform
from ..defaults import LAYER as DEFAULT_LAYER
from ..descriptions import load
from ..descriptions.advice import sent_again
from ..errors import UserError, nearest
from ..simulators.simulator import Simulator, same_simulator
from ..store import Store, standard
from . import measurement
from .keeping import kept
from .listener import Listener
from .measurement import AREA, Measurement
from .options import Options
from .program_run import ProgramRun
from .result import Result

if TYPE_CHECKING:
    from .mpi_program import MpiProgram

__all__ = ["Testbed", "bench", "check_layer", "check_sim", "one_nic"]


class Testbed:
    """A NIC description under test, and the simulators that run it.

    A simulator's process stays between calls. Timing and cost knobs change nothing about it; a
    structure knob changes to another one, which is built if there is none yet. A bed belongs to one
    thread. A call that is interrupted ends its simulator's process, and the next call starts
    another one.

    Parameters
    ----------
    nic
        The description: a file, the name of one that comes with nicbed, or a description.
    knobs
        Knobs by name: ``{"nic.mtu": 1024, "link.latency": 24}``.
    nodes
        Nodes on the fabric (default: the description's, or as many as a benchmark needs).
    sim
        The back end: one of ``verilator``, ``icarus``, ``one-design``, ``uart``, ``gates``,
        ``board``.
    limit
        Target cycles after which a run is stopped (default 200,000,000).
    store
        Where results are looked up and kept (default: :func:`nicbed.testbench.store.standard`);
        None: nowhere.
    options
        Further ones, which few callers need.
    sections
        Knobs by section: ``link={"latency": 24}``; but for section nic, which ``knobs`` has.

    Raises
    ------
    UserError
        A name, a description, a knob or a value is wrong. Every method raises it for what its
        caller or the run did wrong: one line; its child :class:`nicbed.RunError` has the kind of
        the exception behind it and, as ``details``, its traceback.
    """

    __test__ = False  # no test of pytest, for all its name

    def __init__(self, nic: str | Path | Description = load.DEFAULT,
                 knobs: Mapping[str, Any] | None = None, *, nodes: int | None = None,
                 sim: str = SIMS[0], limit: int | None = None,
                 store: Store | None | EllipsisType = ..., options: Options | None = None,
                 **sections: Mapping[str, Any]) -> None:
        check_sim(sim)
        if isinstance(nic, Mapping):
            raise UserError(f"nic = {dict(nic)!r}: is the description; knobs of section nic are "
                            "given by name, such as knobs={\"nic.mtu\": 1024}")
        self.sim = sim
        self.limit = limit
        self.options = options = options or Options()
        self.listener = options.listener or Listener()
        self.store = standard() if isinstance(store, EllipsisType) else store
        self._nic = str(nic) if isinstance(nic, Path) else nic
        self._overrides = tuple(options.overrides)
        self._nodes = nodes
        self._changes: dict[str, Any] = _merged(_knobs(sections), _named(knobs))
        self._built: dict[tuple[str, ...], Simulator] = {}
        self._building = options.building or Lock()
        self._closed = False
        self._description = self._load(self._changes, nodes)

    @property
    def description(self) -> Description:
        """The description as it is set now."""
        return self._description

    def set(self, knob: str, value: Any) -> None:
        """Set ``knob``, such as ``"bus.dma_setup"``, for all further calls.

        Raises
        ------
        UserError
            The knob does not exist, or the value is refused; the bed stays as it was.
        """
        changes = {**self._changes, knob: value}
        self._description = self._load(changes, self._nodes)
        self._changes = changes

    def bench(self, name: str, *, layer: str | None = None, full: bool = False,
              knobs: Mapping[str, Any] | None = None, wave: Path | None = None,
              timeline: Path | None = None, **parameters: Any) -> Result:
        """Run benchmark ``name``, one of nicbed's or of an installed package, or that in a file
        ("./my_bench.py"); ``parameters`` are in place of its usual ones.

        Parameters
        ----------
        layer
            Communication layer (default: the first one that the benchmark supports).
        full
            All runs, including those that the benchmark leaves out to take about a minute.
        knobs
            Knobs by name, for this call alone.
        wave
            File for a waveform; this builds a separate simulator.
        timeline
            File for the time line of all runs (:mod:`nicbed.testbench.timeline`).
        """
        return self.measure(self.benchmark(name, layer=layer, full=full, knobs=knobs,
                                           parameters=parameters), wave=wave, timeline=timeline)

    def app(self, name: str, *, layer: str | None = None, layout: str | None = None,
            knobs: Mapping[str, Any] | None = None, wave: Path | None = None,
            timeline: Path | None = None, **parameters: Any) -> Result:
        """Run program ``name`` over Split-C or MPI with ``parameters``; the others as for
        :meth:`bench`. ``layer`` can only be one of the program's. ``layout`` names a layout of its
        processes: now-8, smp, now-32 or 4x8."""
        return self.measure(self.program(name, layer=layer, layout=layout, knobs=knobs,
                                         **parameters), wave=wave, timeline=timeline)

    def area(self, *, layer: str = DEFAULT_LAYER, knobs: Mapping[str, Any] | None = None) -> Result:
        """The area of the NIC on an ECP5, from synthesis; the others as for :meth:`bench`. Only
        structure knobs change it."""
        return self.measure(self.wanted([AREA], layer=layer, knobs=knobs)[AREA])

    def experiment(self, file: str | Path, arguments: Sequence[str] = (), *,
                   layer: str = DEFAULT_LAYER, wave: Path | None = None,
                   timeline: Path | None = None) -> Result:
        """Run the experiment in ``file``, as ``nicbed run`` does; the others as for
        :meth:`bench`."""
        return self.measure(self.prepared_experiment(file, arguments, layer=layer), wave=wave,
                            timeline=timeline)

    def run(self, program: Program | Programs, *, layer: str = DEFAULT_LAYER, trace: bool = True,
            profile: bool = False, knobs: Mapping[str, Any] | None = None,
            limit: int | None = None) -> ProgramRun:
        """Run a host program, ``async def program(node)``, on every CPU of every node; or a
        sequence of programs, one entry for each node.

        Parameters
        ----------
        layer
            The layer that the programs use.
        trace
            Collect events. Changes no cycle.
        profile
            Count the cycles of NIC processors by program counter. Verilator only.
        knobs
            Knobs by name, for this call alone.
        limit
            Cycles after which the run is stopped (default: the bed's).
        """
        from .program import FUNCTION, carried, everywhere, received, source

        layer = check_layer(layer)
        description = load.for_layer(self._with(knobs), layer, ours=False)
        programs = everywhere(program, description)
        label = getattr(program, "__name__", "programs")
        found = self.job(Job(description, function=FUNCTION, arguments={
            "programs": carried(programs), "file": source(programs),
            "options": {"trace": trace, "profile": profile, "limit": limit}},
            modules=[FUNCTION.partition(":")[0]]), label=label)
        return ProgramRun(description, received(found))

    def benchmark(self, name: str, *, layer: str | None = None, full: bool = False,
                  knobs: Mapping[str, Any] | None = None,
                  parameters: Mapping[str, Any] | None = None) -> Measurement:
        """Checks all that :meth:`bench` checks and returns the measurement; nothing is built."""
        from ..benches import check, named

        name, found = named(name)
        layer = check_layer(layer or next(iter(found.layers)))
        check(name, layer)
        description = self._with(knobs)
        if LAYERS.get(layer).parties(description) < found.nodes_on(layer):
            description = self._with(knobs, found.nodes_on(layer))
        description = load.for_layer(description, layer)
        _enough(found.name, found.nodes if found.nodes < 4 else 2, layer, description)
        if layer == "mpi":
            one_nic(description, f"{found.name} on layer mpi", "whose ranks are nodes")
        return measurement.benchmark(name, found, description, layer=layer, sim=self.sim,
                                     full=full, changes=parameters)

    def program(self, name: str, *, layer: str | None = None, layout: str | None = None,
                knobs: Mapping[str, Any] | None = None, **parameters: Any) -> Measurement:
        """Returns what :meth:`app` measures, without measuring it."""
        from .. import apps
        from ..apps.layout import layout_of

        app = apps.get(name)
        over = app.over(layer, layout)
        laid = None if layout is None else layout_of(layout)
        layer = check_layer(over)
        if laid is None:
            description = self._with(knobs, app.nodes if layer == app.layer else 0)
        else:
            asked = {*self._asked(knobs), *(["fabric.nodes"] if self._nodes is not None else [])}
            changes = laid.changes(self._with(knobs), asked, layer)
            description = load.load(self._with(knobs), changes=changes)
            laid.check(description, layer)
        description = load.for_layer(description, layer)
        description = apps.fitted(app, parameters, description, self._asked(knobs), layer)
        if layer == app.layer:
            one_nic(description, app.name, "whose processes are nodes")
        return measurement.program(app, parameters, description, sim=self.sim, layer=layer)

    def wanted(self, names: Sequence[str], *, layer: str | None = None,
               knobs: Mapping[str, Any] | None = None) -> dict[str, Measurement]:
        """Returns what is measured under ``names``, those of benchmarks and programs and ``area``,
        without measuring it. ``layer`` is that of benchmarks; of a program it can only be its own.
        The area is that of a NIC for this layer, or else for that of the first other name."""
        from ..apps import APPS

        found: dict[str, Measurement] = {}
        for name in sorted(names, key=lambda name: name == AREA):
            if name in APPS:
                found[name] = self.program(name, layer=layer, knobs=knobs)
            elif name != AREA:
                found[name] = self.benchmark(name, layer=layer, knobs=knobs)
            else:
                over = layer or next((one.layer for one in found.values()), DEFAULT_LAYER)
                over = check_layer(over)
                found[name] = measurement.area(
                    load.for_layer(self._with(knobs), over, ours=False), layer=over, sim=self.sim)
        return {name: found[name] for name in names}

    def prepared_experiment(self, file: str | Path, arguments: Sequence[str] = (), *,
                            layer: str = DEFAULT_LAYER) -> Measurement:
        """Returns the measurement of :meth:`experiment`, without measuring it."""
        layer = check_layer(layer)
        return measurement.experiment(Path(file), arguments, load.for_layer(
            self._description, layer, ours=False), layer=layer, sim=self.sim)

    def mpi_program(self, program: "MpiProgram", *, work: Path) -> Measurement:
        """A program of MPI in Python or C, to be measured: what ``nicbed app FILE`` runs. ``work``
        is a folder that stays until it has been measured."""
        from .mpi_program import NODES

        description = load.for_layer(self._with(None, NODES), "mpi")
        one_nic(description, program.files[0].name, "whose ranks are nodes")
        return measurement.mpi_program(program, description, sim=self.sim, work=work,
                                       listener=self.listener)

    def measure(self, wanted: Measurement, *, wave: Path | None = None,
                timeline: Path | None = None, label: str | None = None) -> Result:
        """The result of ``wanted``, whatever its description: from the store, or measured now.
        ``label`` is what progress is told of; the others are as for :meth:`bench`.

        Raises
        ------
        UserError
            With ``fresh``: the result is another one than the store has.
        """
        label = label or wanted.name

        def run() -> dict[str, Any]:
            if wanted.synthesis:
                with self.listener.progress(label) as tell:
                    return wanted.document(wanted.presentation.measure(wanted.description, tell))
            if wanted.outlook:
                self.listener.told(f"{label}: {wanted.outlook}")
            return wanted.document(self.job(Job(
                wanted.description, function=wanted.function, arguments=wanted.arguments,
                limit=wanted.limit, wave=wave, timeline=timeline, modules=wanted.modules,
                reads=wanted.reads), label=label))

        if self.store is None or not wanted.pure:
            return Result(run(), wanted.presentation)
        found = kept(self.store, wanted, self.limit, run, self.listener.warn,
                     again=self.options.fresh or wave is not None or timeline is not None)
        if found.stored:
            self.listener.told(f"{label}: from the store")
        elif found.checked and self.options.fresh:
            self.listener.told(f"{label}: measured again, and the same as in the store")
        return Result(found.document, wanted.presentation, stored=found.stored)

    def job(self, wanted: Job, *, label: str) -> Any:
        """Perform the job ``wanted`` as :func:`nicbed.perform` does, on a simulator of this bed and
        its serial port. The job's limit holds where the bed has none. ``label`` is as for
        :meth:`measure`."""
        if self._closed:
            raise UserError("this testbed is closed: open another one")
        for line in sent_again(wanted.description):
            self.listener.advise(line)
        try:
            with self.listener.progress(label) as tell:
                here = replace(wanted, sim=self.sim, port=self.options.port,
                               baud=self.options.baud,
                               limit=wanted.limit if self.limit is None else self.limit,
                               built=None if wanted.wave
                               else self._simulator(wanted.description, tell))
                return perform(here, progress=tell, output=self.listener.printed)
        except RunError as error:
            if error.kind not in ("UserError", "LineError", "EndpointError"):
                raise
            raise RunError(str(error).removeprefix(f"{error.kind}: "), kind=error.kind,
                           details=error.details, status=error.status) from None

    def close(self) -> None:
        """End the simulators' processes that wait for this bed; a later call is refused."""
        from ..backends import kept

        self._closed = True
        kept.end({tuple(one.command) for one in self._built.values()})
        self._built.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<testbed {self._nic if isinstance(self._nic, str) else 'description'}: " \
               f"{self._description.fabric.nodes} nodes, {self.sim}>"

    def _load(self, changes: Mapping[str, Any], nodes: int | None) -> Description:
        return load.load(self._nic, self._overrides, nodes, changes=changes)

    def _with(self, knobs: Mapping[str, Any] | None, least: int = 0) -> Description:
        """The description with ``knobs`` changed, and with ``least`` nodes if it has fewer and the
        caller has asked for no number."""
        changes = {**self._changes, **_named(knobs)}
        found = self._load(changes, self._nodes) if knobs else self._description
        asked = self._nodes is not None or "fabric.nodes" in self._asked(knobs)
        return self._load(changes, least) if not asked and found.fabric.nodes < least else found

    def _asked(self, knobs: Mapping[str, Any] | None) -> frozenset[str]:
        """Knobs that the caller has set, beside the description's file."""
        return frozenset((*self._changes, *(knobs or {}),
                          *(text.partition("=")[0].strip() for text in self._overrides)))

    def _simulator(self, description: Description, tell: Any) -> Simulator | None:
        """The simulator of ``description``; None for a board and for the functional target, for
        which nothing is built."""
        if self.sim in (*BOARDS, MODEL):
            return None
        key = same_simulator(description)
        found = self._built.get(key)
        if found is None or not found.place.is_dir():
            with self._building:
                found = built_simulator(description, self.sim, progress=tell)
            self._built[key] = found
        return found


def bench(name: str, *, nic: str = load.DEFAULT, overrides: Sequence[str] = (),
          nodes: int | None = None, layer: str | None = None, sim: str = SIMS[0],
          limit: int | None = None, full: bool = False) -> dict[str, Any]:
    """Run benchmark ``name``; return the document that ``nicbed bench`` would write to its result
    file.

    Parameters
    ----------
    nic, overrides, nodes
        The NIC description: its file or name, knobs as "link.latency=12", the number of nodes.
    layer
        Communication layer (default: the first one that the benchmark supports).
    sim, limit
        As for :func:`nicbed.run_job`.
    full
        All runs, including those that the benchmark leaves out to take about a minute.

    Raises
    ------
    UserError
        A name, a description or a value is wrong, or the run failed.
    """
    bed = Testbed(nic, nodes=nodes, sim=sim, limit=limit, options=Options(overrides))
    return bed.bench(name, layer=layer, full=full).document


def _enough(name: str, needed: int, layer: str, description: Description) -> None:
    """Refuse a description with fewer than ``needed`` nodes, or processes of ``layer``, for
    ``name``."""
    over = LAYERS.get(layer)
    there = over.parties(description)
    if there >= needed:
        return
    if over.processes is None:
        raise UserError(f"{name} needs {needed} nodes: fabric.nodes = {there}: must be at least "
                        f"{needed}")
    raise UserError(f"{name} needs {needed} processes: over layer {layer} there are {there} with "
                    f"node.cpus = {description.node.cpus} and fabric.nodes = "
                    f"{description.fabric.nodes}")


def one_nic(description: Description, name: str, why: str = "") -> None:
    """Refuse nodes with several NICs for ``name``, which needs nodes with one; ``why`` says why, as
    a relative clause.

    Raises
    ------
    UserError
        Nodes have several.
    """
    if description.node.nics > 1:
        raise UserError(f"node.nics = {description.node.nics}: {name}{why and f', {why},'} needs "
                        "nodes with one NIC; programs of your own (nicbed run) drive several")


def check_layer(layer: str) -> str:
    """The name of a layer, which may be given by the path of a file; refuse an unknown one.

    Raises
    ------
    UserError
        It is unknown.
    """
    if not LAYERS.is_path(layer) and layer not in LAYERS.names():
        raise UserError(f"no layer is called {layer}{nearest(layer, LAYERS.names())}")
    return layer if LAYERS.is_builtin(layer) else LAYERS.resolve(layer)


def check_sim(sim: str) -> None:
    """Refuse an unknown back end.

    Raises
    ------
    UserError
        It is unknown.
    """
    if sim not in SIMS:
        raise UserError(f"no simulator is called {sim}{nearest(sim, list(SIMS))}")


def _named(knobs: Any) -> Mapping[str, Any]:
    """``knobs``, values by name, as a caller has given them, or none."""
    if knobs is None:
        return {}
    if not isinstance(knobs, Mapping) or not all(isinstance(name, str) for name in knobs):
        raise UserError(f"knobs = {knobs!r}: must be values by name, such as "
                        "{\"link.latency\": 24}")
    return knobs


_OPTIONS = frozenset(one.name for one in fields(Options))


def _merged(sections: Mapping[str, Any], knobs: Mapping[str, Any]) -> dict[str, Any]:
    """Knobs that were given by section and by name; none may be given both ways."""
    for name, value in knobs.items():
        if name in sections:
            section, _, key = name.partition(".")
            raise UserError(f"{name} is given twice: by {section}={{\"{key}\": "
                            f"{sections[name]!r}}} and by knobs={{\"{name}\": {value!r}}}")
    return {**sections, **knobs}


def _knobs(sections: Mapping[str, Any]) -> dict[str, Any]:
    """``{"link": {"latency": 24}}`` as knobs by name."""
    found = {}
    for section, content in sections.items():
        if section in _OPTIONS:
            raise UserError(f"{section}: is given as options=Options({section}=…)")
        if not isinstance(content, Mapping):
            raise UserError(f"{section} = {content!r}: must be knobs and values, such as "
                            f"link={{\"latency\": 24}}")
        found |= {f"{section}.{key}": value for key, value in content.items()}
    return found
