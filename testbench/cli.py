"""The command line: ``nicbed app``, ``bench``, ``compare``, ``fit``, ``gate``, ``list``,
``profile``, ``report``, ``reproduce``, ``run``, ``speed``, ``store``, ``sweep``, ``synth``,
``test``, ``whatif``, ``why``.

Imports stay inside the commands, so that a command's start-up time does not include modules it does
not need.
"""

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

import click

from .backends import BOARDS, SIMS
from .commands.output import MODE, Mode
from .errors import UserError, nearest

__all__ = ["main"]


class _Commands(click.Group):
    """Refuses an unknown command in one line, with the nearest ones."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            raise UserError(f"no command is called {args[0]}"
                            f"{nearest(args[0], sorted(self.commands))}")
        return super().resolve_command(ctx, args)


def _mode(mode: Mode) -> Any:
    """Callback of a flag that chooses what is printed."""
    def choose(ctx: click.Context, _: click.Parameter, given: bool) -> None:
        if given:
            before = ctx.meta.setdefault("nicbed.mode", mode)
            if before is not mode:
                raise UserError("-v, -q and --json: give one of them")
            MODE.set(mode)
    return choose


_MODES = [
    click.option("-v", "--verbose", is_flag=True, expose_value=False, callback=_mode(Mode.VERBOSE),
                 help="Print each step on standard error."),
    click.option("-q", "--quiet", is_flag=True, expose_value=False, callback=_mode(Mode.QUIET),
                 help="Print the path of the result file and nothing else."),
    click.option("--json", is_flag=True, expose_value=False, callback=_mode(Mode.JSON),
                 help="Print the result as JSON on standard output and nothing else there."),
]


def _target_options(nic: bool = True) -> Any:
    """Common options of all commands that simulate; ``nic``: with --nic."""
    found = [
        click.option("--set", "overrides", multiple=True, metavar="KNOB=VALUE",
                     help="Change a knob, such as link.latency=12. May be given again."),
        click.option("--nodes", type=int, metavar="N", help="Nodes on the fabric."),
        click.option("--sim", default="verilator", metavar="SIM", show_default=True,
                     help="What runs the target. Simulators: verilator, icarus; one-design is "
                          "Verilator with all nodes in one netlist. FPGA board: board. A board's "
                          "logic in a simulator: uart; its netlist: gates."),
        click.option("--out", default="results", metavar="DIR", show_default=True,
                     type=click.Path(file_okay=False, path_type=Path),
                     help="Folder for result files and plots."),
        *_MODES,
    ]
    if nic:
        found.insert(0, click.option(
            "--nic", default="default", metavar="FILE.toml", show_default=True,
            help="NIC description: a file, or the name of one that `nicbed list` shows."))

    def add(command: Any) -> Any:
        for option in reversed(found):
            command = option(command)
        return command

    return add


def _layer(default: str | None = None) -> Any:
    return click.option("--layer", default=default, metavar="LAYER", show_default=True,
                        help="Communication layer: am, via, gm, fm, mpl, tcp, mpi or rpc."
                        + ("" if default else "  [default: am if the benchmark has it]"))


_FRESH = click.option("--fresh", is_flag=True,
                      help="Measure anew what the store has, and check that it is the same.")


def _options(command: Any) -> Any:
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
        click.option("--limit", type=click.IntRange(1), metavar="CYCLES",
                     help="Stop a run after this many target cycles.  [default: 200000000]"),
    ]):
        command = option(command)
    return _target_options()(command)


EXITS = """Exit codes: 0 done (a failed check of a benchmark is a finding, printed and stored in the
result file, and no error); 1 a build or run failed, or a
gate does not hold; 2 the command line, a description or a file is
wrong; 70 an internal error; 130 interrupted; 141 standard output was closed."""


@click.group(cls=_Commands, epilog=EXITS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="nicbed", message="%(prog)s %(version)s")
def nicbed() -> None:
    """A testbed for network-interface architects: what a NIC's design does to o, g and L."""


@nicbed.command()
@click.argument("name")
@_layer()
@_options
@_FRESH
@click.option("--breakdown", is_flag=True, help="Print the life of a message by stage.")
@click.option("--full", is_flag=True,
              help="The whole grid, where a benchmark leaves out what takes long (vis, commtest).")
def bench(name: str, layer: str | None, nic: str, overrides: tuple[str, ...], nodes: int | None,
          sim: str, out: Path, port: str | None, wave: Path | None, timeline: Path | None,
          limit: int | None,
          breakdown: bool, full: bool, fresh: bool) -> None:
    """Run microbenchmark NAME: print its table, draw its plots, write its result file."""
    from .benches import get
    from .commands.measure import run_bench

    layer = layer or next(iter(get(name).layers))
    _check(layer, sim)
    _check_port(sim, port, wave)
    run_bench(name, nic=nic, overrides=overrides, nodes=nodes, layer=layer, sim=sim, port=port,
              out=out, wave=wave, timeline=timeline, limit=limit, breakdown=breakdown, full=full,
              fresh=fresh)


class _Program(click.Command):
    """What comes after -- is the program's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.meta[ARGUMENTS] = tuple(args[at + 1:])
            args = args[:at]
        return super().parse_args(ctx, args)


ARGUMENTS = "nicbed.arguments"


@nicbed.command(cls=_Program)
@click.argument("names", nargs=-1, required=True, metavar="NAME | FILE.py | FILE.c ...")
@click.option("--cflags", default="", metavar="FLAGS",
              help="Of a program in C: more options for the compiler, such as '-DN=100'.")
@click.option("--variant", metavar="VARIANT",
              help="Of a sort: sm, two keys a message, or lg, in bulk.  [default: lg]")
@click.option("--keys", type=int, metavar="N", help="Of a sort: keys a process.  [default: 2048]")
@click.option("--passes", type=int, metavar="N", help="Of radix-sort: passes.  [default: 3]")
@click.option("--blocks", type=int, metavar="N",
              help="Of mm: blocks in a row of a matrix.  [default: 4]")
@click.option("--block", type=int, metavar="N",
              help="Of mm: doubles in a row of a block.  [default: 16]")
@click.option("--seed", type=int, metavar="N", help="Seed of the data.  [default: 1]")
@click.option("--class", "class_", metavar="CLASS",
              help="Of a NAS kernel: its size, S, W or A.  [default: S]")
@click.option("--compute", metavar="HOW",
              help="Of a NAS kernel: do the arithmetic (whole), or charge alone what it takes "
                   "(charged).  [default: whole]")
@click.option("--iterations", type=int, metavar="K",
              help="Of a NAS kernel: K timed iterations; the whole run's time follows by their "
                   "slope.  [default: all]")
@click.option("--layer", metavar="LAYER",
              help="Layer of the program, which has one.  [am, of a NAS kernel mpi]")
@_FRESH
@_options
@click.pass_context
def app(ctx: click.Context, names: tuple[str, ...], cflags: str, layer: str | None, nic: str,
        overrides: tuple[str, ...], nodes: int | None, sim: str, out: Path, port: str | None,
        wave: Path | None, timeline: Path | None, limit: int | None, fresh: bool,
        **given: Any) -> None:
    """Run program NAME: over Split-C mm, sample-sort or radix-sort; over MPI a NAS kernel, is, ep,
    cg, mg, ft, lu, sp or bt. Check its answer; print where its time went by process, and its
    messages; draw a plot, write its result file.

    Or run a program of MPI as it was written: FILE.py, for mpi4py, or FILE.c, several of them, or
    their folder. What comes after -- are its arguments."""
    from .commands.app import run_app
    from .commands.program import is_program, run_program

    name = next(iter(names))
    if is_program(name):
        _check("mpi", sim)
        _check_port(sim, port, wave)
        wrong = [key.rstrip("_") for key, value in given.items() if value is not None]
        if wrong:
            raise UserError(f"--{wrong[0]}: is for programs that come with nicbed")
        if layer not in (None, "mpi"):
            raise UserError(f"--layer {layer}: programs of MPI run over mpi")
        run_program(names, ctx.meta.get(ARGUMENTS, ()), flags=cflags, nic=nic, overrides=overrides,
                    nodes=nodes, sim=sim, port=port, out=out, wave=wave, timeline=timeline,
                    limit=limit)
        return
    if len(names) > 1 or cflags or ARGUMENTS in ctx.meta:
        raise UserError(f"{name}: several files, --cflags, and arguments after -- are for "
                        "programs of MPI")

    _check(layer or "am", sim)
    _check_port(sim, port, wave)
    run_app(name, {key.rstrip("_"): value for key, value in given.items() if value is not None},
            layer=layer, nic=nic, overrides=overrides, nodes=nodes, sim=sim, port=port, out=out,
            wave=wave, timeline=timeline, limit=limit, fresh=fresh)


@nicbed.command(context_settings={"ignore_unknown_options": True})
@click.argument("file", metavar="FILE.py")
@_layer("am")
@_options
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(file: str, layer: str, nic: str, overrides: tuple[str, ...], nodes: int | None, sim: str,
        out: Path, port: str | None, wave: Path | None, timeline: Path | None, limit: int | None,
        arguments: tuple[str, ...]) -> None:
    """Run your own experiment: FILE.py defines `async def program(node)`, run on every node, or
    `async def measure(lab)` for several runs. The file gets ARGUMENTS as `arguments`. With --layer
    mpi it may also be a program for mpi4py, which `nicbed app` runs, too."""
    from .commands.measure import run_experiment
    from .commands.program import run_program
    from .testbed.experiment import defined

    _check(layer, sim)
    _check_port(sim, port, wave)
    if layer == "mpi" and not defined(Path(file)):
        run_program([file], arguments, flags="", nic=nic, overrides=overrides, nodes=nodes,
                    sim=sim, port=port, out=out, wave=wave, timeline=timeline, limit=limit)
        return
    run_experiment(Path(file), arguments, nic=nic, overrides=overrides, nodes=nodes, layer=layer,
                   sim=sim, port=port, out=out, wave=wave, timeline=timeline, limit=limit)


@nicbed.command()
@click.argument("nics", nargs=-1, metavar="A.toml B.toml ...")
@click.option("--bench", "benches", metavar="NAME[,NAME]",
              help="Benchmarks to run on each description.  [with --axis: logp,bandwidth]")
@click.option("--app", "programs", metavar="NAME[,NAME]",
              help="NAS kernels to run on each description in place of benchmarks: what a cycle of "
                   "o, of g and of L is worth to them.")
@click.option("--class", "size", metavar="CLASS",
              help="Of NAS kernels: their size, S, W or A.  [default: S]")
@click.option("--axis", "axes", multiple=True, metavar="AXIS",
              help="Compare the points of a design axis, processor or attachment, on top of one "
                   "description. With both axes: every combination.")
@_layer()
@click.option("--limit", type=click.IntRange(1), metavar="CYCLES",
              help="Stop a run after this many target cycles.  [default: 200000000]")
@_FRESH
@_target_options(nic=False)
def compare(nics: tuple[str, ...], benches: str | None, programs: str | None, size: str | None,
            axes: tuple[str, ...], layer: str | None, limit: int | None, fresh: bool,
            overrides: tuple[str, ...], nodes: int | None, sim: str, out: Path) -> None:
    """Run benchmarks on several NIC descriptions (files, or names that `nicbed list` shows), or on
    the points of a design axis: print and plot them side by side, with the knobs that differ. With
    --app: NAS kernels, and what o, g and L are worth to them."""
    from .commands.compare import run_compare
    from .commands.worth import run_worth

    _check(layer or "am", sim)
    if sim == "board":
        raise UserError("--sim board: a board carries one configuration, compare needs several; "
                        "try --sim uart, or bench on each")
    if programs is not None:
        if benches is not None or axes:
            raise UserError("--app: goes without --bench and --axis")
        run_worth(nics or ("default",), programs, size=size or "S", overrides=overrides,
                  nodes=nodes, layer=layer, sim=sim, out=out, limit=limit, fresh=fresh)
        return
    if size is not None:
        raise UserError(f"--class {size}: goes with --app alone")
    run_compare(nics, benches, axes=axes, overrides=overrides, nodes=nodes, layer=layer, sim=sim,
                out=out, limit=limit, fresh=fresh)


@nicbed.command()
@click.argument("study", required=False, metavar="[STUDY.toml]",
                type=click.Path(dir_okay=False, path_type=Path))
@click.option("--vary", multiple=True, metavar="KNOB=VALUES",
              help="Values of a knob: 256,1024, or 4:64:*2 (times 2 each), 4:64:10 (10 more each), "
                   "4:64 (to choose from). May be given again.")
@click.option("--bench", "benches", metavar="NAME[,NAME]",
              help="Benchmarks and programs to measure at each point.  [default: logp]")
@click.option("--method", metavar="METHOD",
              help="grid, zip, random or lhs (Latin hypercube).  [default: grid; with --points "
                   "lhs]")
@click.option("--points", type=int, metavar="N", help="Points of random or lhs.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, metavar="N",
              help="Seed of random and lhs.")
@click.option("--where", "constraints", multiple=True, metavar="CONDITION",
              help="Leave out points without it: 'via.window * 2 <= via.send_slots'.")
@click.option("--metric", "metrics", multiple=True, metavar="[NAME=]BENCH:FIGURE",
              help="A column, such as logp:o_s or g=logp:truth.g.  [default: all figures]")
@click.option("--pareto", "front", nargs=2, metavar="METRIC METRIC",
              help="Also plot the points that none beats in both, less being better.")
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True, metavar="N",
              help="Points that are measured at the same time.")
@click.option("--nic", metavar="FILE.toml",
              help="NIC description to start from.  [default: default]")
@_layer()
@click.option("--limit", type=click.IntRange(1), metavar="CYCLES",
              help="Stop a run after this many target cycles.  [default: 200000000]")
@_FRESH
@_target_options(nic=False)
def sweep(study: Path | None, sim: str, layer: str | None, **given: Any) -> None:
    """Measure benchmarks at many points of a design: the combinations of what --vary says, or what
    a study's file says. Points that are in the store are not measured again, so an interrupted
    sweep goes on where it was. Writes one table (CSV, Parquet, JSON) and its plot."""
    from .commands.sweep import run_sweep

    _check(layer or "am", sim)
    if sim == "board":
        raise UserError("--sim board: a board carries one configuration, sweep needs several; try "
                        "--sim uart")
    run_sweep(study, sim=sim, layer=layer, **given)


@nicbed.command("list")
@_MODES[-1]
def list_() -> None:
    """Show benchmarks, programs, layers, NIC descriptions, and knobs with unit, default and
    range."""
    if MODE.get() is Mode.JSON:
        from .commands.measure import listed

        print(listed())
        return
    from .commands.listing import show

    show()


_OUT = click.option("--out", default="results", metavar="DIR", show_default=True,
                    type=click.Path(file_okay=False, path_type=Path),
                    help="Folder for result files and plots.")


def _modes(command: Any) -> Any:
    for option in reversed(_MODES):
        command = option(command)
    return command


_ONLY = click.option("--only", "kinds", multiple=True,
                     type=click.Choice(["results", "builds"]),
                     help="Results, or built simulators and firmware, alone.  [default: both]")


@nicbed.group(cls=_Commands)
def store() -> None:
    """What is kept of results and built simulators. NICBED_STORE chooses the results' folder, or
    `none`; NICBED_CACHE that of the simulators."""


@store.command("list")
@_ONLY
@_MODES[-1]
def store_list(kinds: tuple[str, ...]) -> None:
    """Show what is kept: what it is, its size, when it was last used."""
    from .commands.store import run_list

    run_list(kinds)


@store.command()
@click.option("--age", "older", metavar="AGE", help="Remove what was not used for AGE: 30d, 12h.")
@click.option("--size", "larger", metavar="SIZE",
              help="Remove what was used longest ago, until SIZE is left: 500MB, 2GB.")
@_ONLY
@_MODES[-1]
def prune(older: str | None, larger: str | None, kinds: tuple[str, ...]) -> None:
    """Remove results and built simulators by age and size. Nothing is lost but time."""
    from .commands.store import run_prune

    run_prune(kinds, older, larger)


@store.command()
@_MODES[-1]
def verify() -> None:
    """Check that each result is as it was kept."""
    from .commands.store import run_verify

    run_verify()


@nicbed.group(cls=_Commands)
def gate() -> None:
    """Hold figures to accepted values, to the last digit: for CI. A gate file (default:
    nicbed-gate.toml) says what is measured on which descriptions."""


_GATE = click.argument("file", default="nicbed-gate.toml", metavar="[FILE]",
                       type=click.Path(dir_okay=False, path_type=Path))


@gate.command("init")
@_GATE
@click.option("--nic", default="default", metavar="FILE.toml", show_default=True,
              help="NIC description: a file, or the name of one that `nicbed list` shows.")
@click.option("--bench", "benches", default="logp,rtt", metavar="NAME[,NAME]", show_default=True,
              help="Benchmarks whose figures are held to.")
@click.option("--set", "overrides", multiple=True, metavar="KNOB=VALUE",
              help="Change a knob, such as link.latency=12. May be given again.")
@click.option("--nodes", type=int, metavar="N", help="Nodes on the fabric.")
@_layer()
@_modes
def gate_init(file: Path, nic: str, benches: str, overrides: tuple[str, ...], nodes: int | None,
              layer: str | None) -> None:
    """Write a first gate file, with the values of now."""
    from .commands.gate import run_init

    run_init(file, nic=nic, benches=benches, overrides=overrides, nodes=nodes, layer=layer)


@gate.command("check")
@_GATE
@click.option("--junit", "junit_to", metavar="FILE",
              type=click.Path(dir_okay=False, path_type=Path),
              help="Write a JUnit XML report: a test case for each figure.")
@click.option("--summary", "markdown_to", metavar="FILE",
              type=click.Path(dir_okay=False, path_type=Path),
              help="Write a summary for code review, in Markdown.")
@_FRESH
@_modes
def gate_check(file: Path, junit_to: Path | None, markdown_to: Path | None, fresh: bool) -> None:
    """Measure, and print what is not as it was accepted, by how much, and which parts of a round
    trip moved. Exit code 1 if something moved."""
    from .commands.gate import run_check

    run_check(file, junit_to=junit_to, markdown_to=markdown_to, fresh=fresh)


@gate.command("accept")
@_GATE
@click.option("--reason", required=True, metavar="TEXT",
              help="One line that says why the new values are right; it is kept in the file.")
@_modes
def gate_accept(file: Path, reason: str) -> None:
    """Take the values of now, and print what they were."""
    from .commands.gate import run_accept

    run_accept(file, reason)


@nicbed.command()
@click.argument("nic", metavar="DESCRIPTION")
@click.option("--figures", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
              help="Figures to fit to, and parameters with bounds, in place of the description's.")
@click.option("--programs", is_flag=True,
              help="Fit what programs over Split-C compute with, by the table [fit.programs].")
@click.option("--set", "overrides", multiple=True, metavar="KNOB=VALUE",
              help="Change a knob before the fit. May be given again.")
@click.option("--write", is_flag=True,
              help="Write the fitted values into the description's file; its comments stay.")
@_OUT
@_modes
def fit(nic: str, figures: Path | None, programs: bool, overrides: tuple[str, ...], write: bool,
        out: Path) -> None:
    """Choose knobs of a description (a file, or a name that `nicbed list` shows) by figures: those
    that its table [fit] names, within its bounds. Print the result, the residuals, and how sharply
    the figures fix each knob."""
    from .commands.fit import run_fit

    run_fit(nic, figures, overrides=overrides, write=write, out=out, programs=programs)


@nicbed.command()
@click.argument("wanted", metavar="[STUDY[/TABLE]]", required=False)
@click.option("--all", "everything", is_flag=True,
              help="All studies; writes reproduction.md, the page of the documentation, too.")
@click.option("--long", is_flag=True,
              help="Also the tables that take many minutes, which are measured by name alone.")
@_OUT
@_modes
def reproduce(wanted: str | None, everything: bool, long: bool, out: Path) -> None:
    """Measure what a published table shows on the machines' descriptions: print published, ours and
    error, redraw its plots. Without STUDY, list the studies and their tables."""
    from .commands.reproduce import run_reproduce

    run_reproduce(wanted, everything, out=out, long=long)


@nicbed.command()
@click.argument("files", nargs=-1, required=True, metavar="RESULT...",
                type=click.Path(dir_okay=False, path_type=Path))
@click.option("-o", "--output", "to", metavar="FILE",
              type=click.Path(dir_okay=False, path_type=Path),
              help="Where to.  [default: report.html; of an export standard output]")
@click.option("--title", default="", metavar="TEXT", help="Its title.  [default: the results']")
@click.option("--export", "form", metavar="FORMAT",
              help="In place of a page, LogGP parameters for another simulator, from results of "
                   "logp and of bulk or bandwidth: loggopsim (options) or simgrid (a platform).")
@_MODES[1]
def report(files: tuple[Path, ...], to: Path | None, title: str, form: str | None) -> None:
    """Put results on one page for a browser: result files, tables of sweeps (.csv), time lines
    (.pftrace). Plots answer to the mouse, tables sort; the page is one file without a network."""
    from .commands.report import run_export, run_report

    if form is not None:
        run_export(files, form, to)
        return
    run_report(files, to or Path("report.html"), title=title)


@nicbed.command()
@_layer("am")
@_target_options()
def speed(layer: str, nic: str, overrides: tuple[str, ...], nodes: int | None, sim: str,
          out: Path) -> None:
    """Measure how fast the simulation runs, against the bare loop over the same netlist."""
    from .commands.measure import run_speed

    _check(layer, sim)
    run_speed(nic=nic, overrides=overrides, nodes=nodes, layer=layer, sim=sim, out=out)


@nicbed.command()
@_layer("am")
@click.option("--size", type=click.IntRange(4, 32768), default=4, metavar="BYTES",
              show_default=True, help="Bytes of a message.")
@click.option("--limit", type=click.IntRange(1), metavar="CYCLES",
              help="Stop a run after this many target cycles.  [default: 200000000]")
@_target_options()
def profile(layer: str, size: int, limit: int | None, nic: str, overrides: tuple[str, ...],
            nodes: int | None, sim: str, out: Path) -> None:
    """Show the cycles of the NIC's processor for each message, by function and source line."""
    from .commands.measure import run_profile

    _check(layer, sim)
    run_profile(nic=nic, overrides=overrides, layer=layer, size=size, sim=sim, out=out,
                limit=limit)


@nicbed.command()
@click.option("--board", required=True, metavar="BOARD", help="Board: ecpix5 or ulx3s.")
@click.option("--nic", default="default", metavar="FILE.toml", show_default=True,
              help="NIC description: a file, or the name of one that `nicbed list` shows.")
@click.option("--set", "overrides", multiple=True, metavar="KNOB=VALUE",
              help="Change a knob, such as via.vis=64. May be given again.")
@_layer("am")
@click.option("--clock", metavar="MHZ", help="Clock of the target.  [default: the board's]")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, metavar="N",
              help="First seed of placing. Another seed gives another fmax.")
@click.option("--seeds", type=click.IntRange(1), default=1, show_default=True, metavar="N",
              help="Place with N seeds, as many at once as there are cores, and keep the best; "
                   "each costs as much time and memory as the first.")
@click.option("--out", default="results", metavar="DIR", show_default=True,
              type=click.Path(file_okay=False, path_type=Path),
              help="Folder for the bitstream and its report.")
@click.option("--program", is_flag=True, help="Program the board with the bitstream.")
@click.option("--area", "area_only", is_flag=True,
              help="Print the area and stop before placing, which takes longest.")
def synth(board: str, nic: str, overrides: tuple[str, ...], layer: str, clock: str | None,
          seed: int, seeds: int, out: Path, program: bool, area_only: bool) -> None:
    """Synthesise a NIC description for an FPGA board: bitstream, area by block, fmax."""
    from .commands.synth import run_synth

    _check(layer, SIMS[0])
    if program and area_only:
        raise UserError("--area makes no bitstream: leave out --program")
    run_synth(board, nic=nic, overrides=overrides, layer=layer, clock=clock, seed=seed, seeds=seeds,
              out=out, program=program, area_only=area_only)


@nicbed.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--set", "overrides", multiple=True, metavar="KNOB=VALUE",
              help="Change a knob on both sides. May be given again.")
@click.option("--layer", default="am", metavar="LAYER", show_default=True,
              help="Communication layer: am, via, gm, fm or mpl.")
@_OUT
@_modes
def why(first: str, second: str, overrides: tuple[str, ...], layer: str, out: Path) -> None:
    """Say why the figures of A and B differ: the difference of a round trip in cost items and
    stages, which add up to it, and of g by blocks. A and B are NIC descriptions (files, or names
    that `nicbed list` shows) or result files; with @REVISION behind it, such as default@HEAD~3, a
    revision of the project measures."""
    from .commands.why import run_why

    run_why((first, second), overrides=overrides, layer=layer, out=out)


@nicbed.command()
@click.argument("nic", required=False, default="default", metavar="[NIC]")
@click.option("--knobs", multiple=True, metavar="PATTERN",
              help="Only knobs whose names match, such as 'cpu.*'. May be given again.  [default: "
                   "all that matter]")
@click.option("--set", "overrides", multiple=True, metavar="KNOB=VALUE",
              help="Change a knob before all else. May be given again.")
@_layer("am")
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True, metavar="N",
              help="Changes that are measured at the same time.")
@_FRESH
@_OUT
@_modes
def whatif(nic: str, knobs: tuple[str, ...], overrides: tuple[str, ...], layer: str, workers: int,
           fresh: bool, out: Path) -> None:
    """Say what each timing and cost knob of NIC does to o_s, o_r, g, L, RTT and bandwidth: halved,
    doubled and made free, one at a time; with elasticities, and with what the work of a round trip
    predicts. What is in the store is not measured again, so an interrupted run goes on where it
    was."""
    from .commands.whatif import run_whatif

    run_whatif(nic, overrides=overrides, layer=layer, knobs=knobs, workers=workers, fresh=fresh,
               out=out)


@nicbed.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def test(arguments: tuple[str, ...]) -> None:
    """Run the tests. --full includes long tests; --durations prints the slowest 30. ARGUMENTS go
    to pytest."""
    from .commands.measure import run_tests

    sys.exit(run_tests(arguments))


def _check(layer: str, sim: str) -> None:
    from .testbed.bed import check_layer, check_sim

    check_layer(layer)
    check_sim(sim)


def _check_port(sim: str, port: str | None, wave: Path | None) -> None:
    if sim == "board" and port is None:
        raise UserError("--sim board needs the board's serial port: --port /dev/ttyUSB0")
    if sim != "board" and port is not None:
        raise UserError(f"--port {port}: only --sim board has one")
    if sim in BOARDS and wave is not None:
        raise UserError(f"--wave {wave}: --sim {sim} records none; cycles are the same with "
                        "--sim verilator")


class _Interrupted(BaseException):
    """Raised in place of KeyboardInterrupt, for which click would print an empty line."""


def _interrupt(number: int, frame: object) -> NoReturn:
    """Treat a termination like an interrupt: the simulator's process must end, too."""
    raise _Interrupted


def _fail(text: str, status: int) -> NoReturn:
    print(f"nicbed: {text}", file=sys.stderr)
    sys.exit(status)


def main(command: click.Command = nicbed, name: str = "nicbed") -> None:
    """Entry point. A user's error is one line; Ctrl-C prints "interrupted"."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        command.main(prog_name=name, standalone_mode=False)
    except UserError as error:
        if os.environ.get("NICBED_DEBUG") and getattr(error, "details", ""):
            print(error.details, file=sys.stderr)  # type: ignore[attr-defined]
        _fail(str(error), error.status)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        sys.exit(2)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        where = f" (nicbed {context.info_name} --help)" if context and context.parent else ""
        _fail(" ".join(error.format_message().split()) + where, 2)
    except (_Interrupted, KeyboardInterrupt, click.Abort):
        if threading.active_count() > 1:  # what threads have begun ends with this process
            print("nicbed: interrupted", file=sys.stderr, flush=True)
            os._exit(130)
        _fail("interrupted", 130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except Exception as error:
        if os.environ.get("NICBED_DEBUG"):
            raise
        said = (str(error).splitlines() or [""])[0]
        _fail(f"internal error, {type(error).__name__}: {said} (NICBED_DEBUG=1 shows "
              "where)", 70)


if __name__ == "__main__":
    main()
