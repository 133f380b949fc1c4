"""Options that several commands share, and the checks that refuse wrong values."""

from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Any

import click

from ..backends import BOARDS
from ..commands.options import RunOptions
from ..commands.output import MODE, Mode
from ..errors import UserError

__all__ = ["FRESH", "LIMIT", "MODES", "NIC", "OUT", "check", "check_port", "gathered",
           "layer_option", "measure_options", "mode_options", "study_options", "target_options",
           "workers_option"]


def gathered(kind: type, name: str) -> Any:
    """A decorator of a command's function: it takes the options that are fields of the dataclass
    ``kind`` as one object, ``name``."""
    names = {field.name for field in fields(kind)}

    def of(function: Any) -> Any:
        @wraps(function)
        def command(**given: Any) -> Any:
            chosen = {key: given.pop(key) for key in names & given.keys()}
            return function(**{name: kind(**chosen)}, **given)

        return command

    return of


def _mode(mode: Mode) -> Any:
    """Callback of a flag that chooses what is printed."""
    def choose(ctx: click.Context, _: click.Parameter, given: bool) -> None:
        if given:
            before = ctx.meta.setdefault("nicbed.mode", mode)
            if before is not mode:
                raise UserError("-v, -q and --json: give one of them")
            MODE.set(mode)
    return choose


MODES = [
    click.option("-v", "--verbose", is_flag=True, expose_value=False, callback=_mode(Mode.VERBOSE),
                 help="Print each step on standard error."),
    click.option("-q", "--quiet", is_flag=True, expose_value=False, callback=_mode(Mode.QUIET),
                 help="Print the path of the result file and nothing else."),
    click.option("--json", is_flag=True, expose_value=False, callback=_mode(Mode.JSON),
                 help="Print the result as JSON on standard output and nothing else there."),
]


def mode_options(command: Any) -> Any:
    for option in reversed(MODES):
        command = option(command)
    return command


LIMIT = click.option("--limit", type=click.IntRange(1), metavar="CYCLES",
                     help="Stop a run after this many target cycles.  [default: 200000000]")
NIC = click.option("--nic", default="default", metavar="FILE.toml", show_default=True,
                   help="NIC description: a file, or the name of one that `nicbed list` shows.")
OUT = click.option("--out", default="results", metavar="DIR", show_default=True,
                    type=click.Path(file_okay=False, path_type=Path),
                    help="Folder for result files and plots.")


def target_options(nic: bool = True) -> Any:
    """Common options of all commands that simulate; ``nic``: with --nic. The command takes them,
    and its others that :class:`RunOptions` has, as ``options``."""
    found = [
        click.option("--set", "overrides", multiple=True, metavar="KNOB=VALUE",
                     help="Change a knob, such as link.latency=12. May be given again."),
        click.option("--nodes", type=int, metavar="N", help="Nodes on the fabric."),
        click.option("--sim", default="verilator", metavar="SIM", show_default=True,
                     help="What runs the target. Simulators: verilator, icarus; one-design is "
                          "Verilator with all nodes in one netlist. FPGA board: board. A board's "
                          "logic in a simulator: uart; its netlist: gates. A functional target in "
                          "Python, for app and run, whose cycles are estimates: model."),
        OUT,
        *MODES,
    ]
    if nic:
        found.insert(0, NIC)

    def add(command: Any) -> Any:
        command = gathered(RunOptions, "options")(command)
        for option in reversed(found):
            command = option(command)
        return command

    return add


def layer_option(default: str | None = None) -> Any:
    return click.option("--layer", default=default, metavar="LAYER", show_default=True,
                        help="Communication layer, one that `nicbed list` shows."
                        + ("" if default else "  [default: am if the benchmark has it]"))


FRESH = click.option("--fresh", is_flag=True,
                      help="Measure anew what the store has, and check that it is the same.")


def measure_options(command: Any) -> Any:
    """These options, and those of commands that measure messages."""
    for option in reversed([
        click.option("--port", metavar="DEVICE",
                     help="Serial port of the board, such as /dev/ttyUSB0 (--sim board)."),
        click.option("--wave", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
                     help="Record a waveform; this builds a separate simulator."),
        click.option("--timeline", metavar="FILE",
                     type=click.Path(dir_okay=False, path_type=Path),
                     help="Record a time line of all runs, which ui.perfetto.dev opens. Changes no "
                          "cycle."),
        LIMIT,
    ]):
        command = option(command)
    return target_options()(command)


def study_options(command: Any) -> Any:
    """These options, and those of commands that measure many points of one description."""
    for option in reversed([
        click.option("--dask", metavar="ADDRESS",
                     help="Measure on a Dask cluster: its scheduler's address, tcp://HOST:8786, or "
                          "its file."),
        click.option("--nic", metavar="FILE.toml",
                     help="NIC description to start from.  [default: default]"),
        layer_option(),
        LIMIT,
        FRESH,
    ]):
        command = option(command)
    return target_options(nic=False)(command)


def workers_option(text: str) -> Any:
    """An option that says how many things are measured at the same time; ``text`` says which."""
    return click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True,
                        metavar="N", help=text)


def check(layer: str, sim: str) -> None:
    from ..testbed.bed import check_layer, check_sim

    check_layer(layer)
    check_sim(sim)


def check_port(options: RunOptions) -> None:
    sim, port, wave = options.sim, options.port, options.wave
    if sim == "board" and port is None:
        raise UserError("--sim board needs the board's serial port: --port /dev/ttyUSB0")
    if sim != "board" and port is not None:
        raise UserError(f"--port {port}: only --sim board has one")
    if sim in BOARDS and wave is not None:
        raise UserError(f"--wave {wave}: --sim {sim} records none; cycles are the same with "
                        "--sim verilator")
