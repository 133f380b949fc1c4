"""Commands that measure: they take a description, and give tables, plots and a result file."""

import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..backends.job import Job
from ..defaults import LAYER
from ..descriptions import load
from ..errors import UserError
from ..results.tables import console
from ..testbed.bed import one_nic
from ..testbed.result import Result
from .options import RunOptions
from .output import finish, progress_bar

__all__ = ["Plots", "check_places", "listed", "run_bench", "run_experiment", "run_profile",
           "run_speed", "run_tests", "show_result", "store"]


def run_bench(name: str, options: RunOptions, *, breakdown: bool, full: bool,
              texts: Mapping[str, str] | None = None) -> None:
    """Run benchmark ``name``, with the parameters in ``texts`` in place of its usual ones, and
    print the results."""
    with options.bed() as bed:
        wanted = bed.benchmark(name, layer=options.layer, full=full, parameters=texts)
        check_places(options.out, options.wave, options.timeline)
        plots = Plots() if hasattr(wanted.presentation, "draw") else None
        result = bed.measure(wanted, wave=options.wave, timeline=options.timeline)
    path = store(result, options.out, plots)

    def show() -> None:
        show_result(result, result.lives() if breakdown else [])

    finish(result.text, show, path)


def run_experiment(file: Path, arguments: Sequence[str], options: RunOptions) -> None:
    """Run a user's own experiment."""
    with options.bed() as bed:
        wanted = bed.prepared_experiment(file, arguments, layer=options.layer or LAYER)
        check_places(options.out, options.wave, options.timeline)
        result = bed.measure(wanted, wave=options.wave, timeline=options.timeline)
    path = store(result, options.out, None)

    def show() -> None:
        for item in result.tables():
            console().print(item)

    finish(result.text, show, path)


def run_speed(options: RunOptions) -> None:
    """Measure simulation speed; the simulator's process prints nothing and returns rows."""
    from ..results import document as files
    from ..results import speed as report
    from ..speed.measurement import CROSSBAR, measure

    layer, sim, nodes = options.layer or LAYER, options.sim, options.nodes
    if nodes is not None and nodes > CROSSBAR:
        options = replace(options, overrides=("fabric.topology=fat_tree", *options.overrides))
    description = load.for_layer(options.description(), layer)
    one_nic(description, "speed")
    check_places(options.out)
    with progress_bar("speed") as tell:
        outcome = measure(description, layer=layer, sim=sim, nodes=[nodes] if nodes else None,
                          progress=tell)
    document = files.build("speed", layer, sim, description, {}, outcome)
    path = options.out / f"{files.stem(document)}.json"
    text = files.text(document)
    files.save(path, text.encode())
    finish(text, lambda: report.show(document), path)


def run_profile(options: RunOptions, size: int) -> None:
    """Print the cycles of NIC processors for each round trip of ``size`` bytes. The number of nodes
    is the description's."""
    from ..results import document as files
    from ..results.profile import show
    from .profile import check

    layer, sim = options.layer or LAYER, options.sim
    with replace(options, nodes=None).bed() as bed:
        description = load.for_layer(bed.description, layer)
        check(description, sim)
        one_nic(description, "profile")
        check_places(options.out)
        outcome = bed.job(Job(description, function="nicbed.testbench.commands.profile:run",
                              arguments={"layer": layer, "size": size}), label="profile")
    document = files.build("profile", layer, sim, description, {"size": size}, outcome)
    path = options.out / f"{files.stem(document)}.json"
    text = files.text(document)
    files.save(path, text.encode())
    finish(text, lambda: show(document), path)


def run_tests(arguments: Sequence[str]) -> int:
    """Run pytest in the repository; its exit status."""
    root = Path(__file__).resolve().parents[2]
    if not (root / "tests").is_dir():
        raise UserError("the tests are in the repository: run ./nicbed test in a clone", status=1)
    chosen = ["--cpu-durations=30" if one == "--durations" else one for one in arguments]
    if "-n" not in chosen and not any(one.startswith("-n") for one in chosen):
        chosen += ["-n", "2", "--dist", "loadfile"]
    return subprocess.run([sys.executable, "-m", "pytest", *chosen], cwd=root).returncode


def listed(nic: str | None = None) -> str:
    """The lists of ``nicbed list``, as JSON.

    Raises
    ------
    UserError
        Description ``nic`` is wrong.
    """
    import json

    from ...layouts.description import knobs
    from ...layouts.doors import LAYERS
    from ..apps import APPS
    from ..benches import BENCHES
    from .plugged import doors, load_all, plugged

    load_all(nic)
    return json.dumps({
        "benchmarks": [{"name": name, "title": title, "from": origin, **(
            {"nodes": one.nodes, "layers": list(one.layers)} if one else {})}
            for name, origin, title, one in plugged(BENCHES)],
        "programs": [{"name": app.name, "title": app.title, "layer": app.layer,
                      "parameters": list(app.options)}
                     for app in APPS.values()],
        "layers": {name: layer.title for name, layer in LAYERS.working()},
        "doors": {kind: [{"name": one.name, "from": one.origin, "title": one.title}
                         for one in plugged(door)] for kind, door in doors().items()},
        "descriptions": load.names(),
        "knobs": [knob.model_dump(mode="json", exclude={"default"})
                  | {"default": knob.default if isinstance(knob.default, (int, float, str))
                     else str(knob.default)} for knob in knobs()]}, indent=2)


def check_places(out: Path, wave: Path | None = None, timeline: Path | None = None) -> None:
    """Refuse files and folders that cannot be written, before anything is built."""
    from ..results.document import check_folder

    check_folder(out)
    for option, file in (("--wave", wave), ("--timeline", timeline)):
        if file is None:
            continue
        if file.is_dir():
            raise UserError(f"{option} {file}: is a folder")
        try:
            check_folder(file.parent)
        except UserError as error:
            raise UserError(f"{option} {error}") from None


def store(result: Result, out: Path, plots: "Plots | None") -> Path:
    """Write the result file, and its plot beside it; return the file's path."""
    path = result.path(out)
    if plots and result.draw:
        plots.save(result.draw, result.document, path)
    return result.save(out)


def show_result(result: Result, also: Sequence[Any] = ()) -> None:
    """Print the tables of a result, what ``also`` is wanted, notes and checks."""
    out = console()
    for item in (*result.tables(), *also, *result.remarks()):
        out.print(item)


class Plots:
    """Plots of a run. The plotting library loads while the simulator works."""

    def __init__(self) -> None:
        # No daemon thread: a library that is still loading when Python ends may abort it.
        self._loading = threading.Thread(target=self._load)
        self._loading.start()

    @staticmethod
    def _load() -> None:
        from ..results import plots

        plots.warm_up()

    def save(self, draw: Callable[..., None], document: Mapping[str, Any], path: Path) -> None:
        """Draw ``document`` beside its result file."""
        from ..results import document as files

        self._loading.join()
        from ..results import plots

        for suffix, content in plots.render(draw, document).items():
            files.save(path.with_suffix(suffix), content)
