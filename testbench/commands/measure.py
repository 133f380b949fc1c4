"""Commands that measure: description in, measurement, tables and plots and a result file out."""

import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..descriptions import load
from ..errors import UserError, nearest
from .output import MODE, Mode, finish

__all__ = ["Plots", "bench", "check_names", "check_places", "describe", "listed",
           "measure_bench",
           "progress_bar", "run_bench", "run_experiment", "run_in_simulator", "run_profile",
           "run_speed", "run_tests", "wanted_nodes"]


def bench(name: str, *, nic: str = load.DEFAULT, overrides: Sequence[str] = (),
          nodes: int | None = None, layer: str | None = None, sim: str = "verilator",
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
    from ..benches import get

    found = get(name)
    layer = layer or next(iter(found.layers))
    check_names(layer, sim)
    found.module(layer)
    description = describe(found, nic=nic, overrides=overrides, nodes=nodes, layer=layer)
    return measure_bench(found, description, layer=layer, sim=sim, limit=limit, label=name,
                         full=full)


def run_bench(name: str, *, nic: str, overrides: Sequence[str], nodes: int | None, layer: str,
              sim: str, port: str | None, out: Path, wave: Path | None, limit: int | None,
              breakdown: bool, full: bool) -> None:
    """Run benchmark ``name`` and print the results."""
    from ..benches import get

    chosen = get(name)
    module = chosen.module(layer)
    description = describe(chosen, nic=nic, overrides=overrides, nodes=nodes, layer=layer)
    check_places(out, wave)
    plots = Plots() if hasattr(module, "draw") else None
    document = measure_bench(chosen, description, layer=layer, sim=sim, port=port, wave=wave,
                             limit=limit, label=name, full=full)

    from ..report import document as files

    path = out / f"{files.stem(document)}.json"
    if plots:
        plots.save(module.draw, document, path)
    text = files.text(document)
    files.save(path, text.encode())
    finish(text, lambda: _show(module, document, breakdown), path)


def describe(bench: Any, *, nic: str, overrides: Sequence[str], nodes: int | None, layer: str
             ) -> Any:
    """The description on which ``bench`` on ``layer`` runs."""
    description = load.load(nic, overrides, wanted_nodes(nic, overrides, nodes, bench.nodes))
    if description.fabric.nodes < bench.nodes and bench.nodes < 4:
        raise UserError(f"{bench.name} needs {bench.nodes} nodes: fabric.nodes = "
                        f"{description.fabric.nodes}: must be at least {bench.nodes}")
    _one_nic(description, bench.name)
    return load.for_layer(description, layer)


def _one_nic(description: Any, name: str) -> None:
    """Refuse nodes with several NICs, whose programs would have to say which they drive."""
    if description.node.nics > 1:
        raise UserError(f"{name} measures nodes with one NIC: node.nics = "
                        f"{description.node.nics}; programs of your own (nicbed run) drive several")


def measure_bench(bench: Any, description: Any, *, layer: str, sim: str, port: str | None = None,
                  wave: Path | None = None, limit: int | None, label: str, full: bool = False
                  ) -> dict[str, Any]:
    """Run ``bench``; return its document."""
    module = bench.module(layer)
    if full and not hasattr(module, "full"):
        raise UserError(f"--full: {bench.name} leaves nothing out; run it without")
    parameters = (module.full if full else module.parameters)(description)
    outcome = run_in_simulator(
        description, sim, "nicbed.testbench.benches:run",
        {"name": bench.name, "layer": layer, "parameters": parameters}, wave, limit, label, port)

    from ..report import document as files

    return files.build(bench.name, layer, sim, description, parameters, outcome)


def run_experiment(file: Path, arguments: Sequence[str], *, nic: str, overrides: Sequence[str],
                   nodes: int | None, layer: str, sim: str, port: str | None, out: Path,
                   wave: Path | None, limit: int | None) -> None:
    """Run a user's own experiment."""
    from .experiment import check

    check(file)
    description = load.for_layer(load.load(nic, overrides, nodes), layer)
    check_places(out, wave)
    parameters = {"arguments": list(arguments)}
    outcome = run_in_simulator(
        description, sim, "nicbed.testbench.commands.experiment:run",
        {"file": str(file.resolve()), "arguments": list(arguments)}, wave, limit, file.stem, port)

    from ..report import document as files
    from ..report.tables import console

    document = files.build(file.stem, layer, sim, description, parameters, outcome)
    path = out / f"{files.stem(document)}.json"
    whole, text = files.text(document), files.text(document["results"]).rstrip()
    files.save(path, whole.encode())
    finish(whole, lambda: console().print(text if len(text) < 4000 else text[:4000] + " …",
                                          markup=False), path)


def run_speed(*, nic: str, overrides: Sequence[str], nodes: int | None, layer: str, sim: str,
              out: Path) -> None:
    """Measure simulation speed; the simulator's process prints nothing and returns rows."""
    from ..report import document as files
    from ..report import speed as report
    from ..speed.measurement import CROSSBAR, measure

    if nodes is not None and nodes > CROSSBAR:
        overrides = ["fabric.topology=fat_tree", *overrides]
    description = load.for_layer(load.load(nic, overrides, nodes), layer)
    _one_nic(description, "speed")
    check_places(out, None)
    with progress_bar("speed") as tell:
        outcome = measure(description, layer=layer, sim=sim, nodes=[nodes] if nodes else None,
                          progress=tell)
    document = files.build("speed", layer, sim, description, {}, outcome)
    path = out / f"{files.stem(document)}.json"
    text = files.text(document)
    files.save(path, text.encode())
    finish(text, lambda: report.show(document), path)


def run_profile(*, nic: str, overrides: Sequence[str], layer: str, size: int, sim: str, out: Path,
                limit: int | None) -> None:
    """Print the cycles of NIC processors for each round trip."""
    from .profile import check

    description = load.for_layer(load.load(nic, overrides), layer)
    check(description, sim)
    check_places(out, None)
    outcome = run_in_simulator(description, sim, "nicbed.testbench.commands.profile:run",
                               {"layer": layer, "size": size}, None, limit, "profile")

    from ..report import document as files
    from ..report.profile import show

    document = files.build("profile", layer, sim, description, {"size": size}, outcome)
    path = out / f"{files.stem(document)}.json"
    text = files.text(document)
    files.save(path, text.encode())
    finish(text, lambda: show(document), path)


def run_tests(arguments: Sequence[str]) -> int:
    """Run pytest in the repository; its exit status."""
    root = Path(__file__).resolve().parents[2]
    if not (root / "tests").is_dir():
        raise UserError("the tests are in the repository: run ./nicbed test in a clone", status=1)
    chosen = ["--durations=30" if one == "--durations" else one for one in arguments]
    if "-n" not in chosen and not any(one.startswith("-n") for one in chosen):
        chosen += ["-n", "2", "--dist", "loadfile"]
    return subprocess.run([sys.executable, "-m", "pytest", *chosen], cwd=root).returncode


def listed() -> str:
    """The lists of ``nicbed list``, as JSON."""
    import json

    from ...layouts.description import knobs
    from ..apps import APPS
    from ..benches import BENCHES, LAYERS

    return json.dumps({
        "benchmarks": [{"name": one.name, "title": one.title, "nodes": one.nodes,
                        "layers": list(one.layers)} for one in BENCHES.values()],
        "programs": [{"name": app.name, "title": app.title, "parameters": list(app.options)}
                     for app in APPS.values()],
        "layers": LAYERS, "descriptions": load.names(),
        "knobs": [knob.model_dump(mode="json", exclude={"default"})
                  | {"default": knob.default if isinstance(knob.default, (int, float, str))
                     else str(knob.default)} for knob in knobs()]}, indent=2)


def check_names(layer: str, sim: str) -> None:
    """Refuse an unknown layer or simulator."""
    from ..backends import SIMS
    from ..benches import LAYERS

    if layer not in LAYERS:
        raise UserError(f"no layer is called {layer}{nearest(layer, list(LAYERS))}")
    if sim not in SIMS:
        raise UserError(f"no simulator is called {sim}{nearest(sim, list(SIMS))}")


def check_places(out: Path, wave: Path | None) -> None:
    """Refuse files and folders that cannot be written, before anything is built."""
    from ..report.document import check_folder

    check_folder(out)
    if wave is not None:
        if not wave.parent.is_dir():
            raise UserError(f"--wave {wave}: there is no folder {wave.parent}")
        check_folder(wave.parent)


def wanted_nodes(nic: str, overrides: Sequence[str], nodes: int | None, wanted: int) -> int | None:
    """The number of nodes: the user's, else what is ``wanted`` if the description has fewer."""
    if nodes is not None or any(text.strip().startswith("fabric.nodes") for text in overrides):
        return nodes
    has = load.load(nic, overrides).fabric.nodes
    return wanted if has < wanted else None


def run_in_simulator(description: Any, sim: str, job: str, arguments: Mapping[str, Any],
                     wave: Path | None, limit: int | None, label: str, port: str | None = None
                     ) -> dict[str, Any]:
    """Run ``job`` in a separate process, with a progress bar."""
    from ..backends.session import RunError, run_job
    from ..descriptions.advice import sent_again

    for line in sent_again(description):
        print(f"nicbed: this will take long: {line}", file=sys.stderr, flush=True)
    try:
        with progress_bar(label) as tell:
            return run_job(description, sim, function=job, arguments=arguments, progress=tell,
                           wave=wave, limit=limit, port=port, output=_printed)
    except RunError as error:
        if error.kind not in ("UserError", "LineError"):
            raise
        raise UserError(str(error).removeprefix(f"{error.kind}: "), status=1) from None


def _printed(text: str) -> None:
    """Print a program's output; with -q and --json it does not go to standard output."""
    alone = MODE.get() in (Mode.QUIET, Mode.JSON)
    print(text, end="", file=sys.stderr if alone else sys.stdout, flush=True)


@contextmanager
def progress_bar(label: str):
    """A function (step, done, total) that moves a progress bar, on a terminal only; with -v it
    prints each step, with -q or --json nothing."""
    mode = MODE.get()
    if mode is Mode.VERBOSE:
        last = ""

        def step(what: str, done: int, total: int) -> None:
            nonlocal last
            if what != last:
                last = what
                print(f"nicbed: {label}: {what}", file=sys.stderr, flush=True)

        yield step
        return
    if mode is not Mode.NORMAL or not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from ..report.tables import console

    with Progress(TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[text]}"),
                  TimeElapsedColumn(), console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=1.0, text="")
        yield lambda what, done, total: bar.update(task, completed=done, total=total or None,
                                                   text=what)


def _show(module: Any, document: Mapping[str, Any], breakdown: bool) -> None:
    from ..report import tables

    out = tables.console()
    for item in module.tables(document):
        out.print(item)
    if breakdown:
        lives = document.get("breakdown") or {}
        if document["layer"] == "via" and lives:
            out.print(tables.lives(lives))
        else:
            for title, found in lives.items():
                out.print(tables.stages(found, document["clock_mhz"], f"Mean life of {title}"))
        if not lives:
            out.print(f"{document['benchmark']} traces no single messages: no breakdown")
    for line in (*document["notes"], *tables.checks(document["checks"])):
        out.print(line)


class Plots:
    """Plots of a run. The plotting library loads while the simulator works."""

    def __init__(self) -> None:
        # No daemon thread: a library that is still loading when Python ends may abort it.
        self._loading = threading.Thread(target=self._load)
        self._loading.start()

    @staticmethod
    def _load() -> None:
        from ..report import plots

        plots.warm_up()

    def save(self, draw: Callable[..., None], document: Mapping[str, Any], path: Path) -> None:
        """Draw ``document`` beside its result file."""
        from ..report import document as files

        self._loading.join()
        from ..report import plots

        for suffix, content in plots.render(draw, document).items():
            files.save(path.with_suffix(suffix), content)
