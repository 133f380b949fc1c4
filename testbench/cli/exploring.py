"""``nicbed compare``, ``sweep``, ``optimise``, ``whatif`` and ``why``: differences between
descriptions."""

from pathlib import Path

import click

from ..commands.options import RunOptions, SearchOptions, SweepOptions
from ..defaults import LAYER as DEFAULT_LAYER
from ..errors import UserError
from .group import nicbed
from .options import (
    FRESH,
    LIMIT,
    OUT,
    check,
    gathered,
    layer_option,
    mode_options,
    study_options,
    target_options,
    workers_option,
)


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
@layer_option()
@LIMIT
@FRESH
@target_options(nic=False)
def compare(nics: tuple[str, ...], benches: str | None, programs: str | None, size: str | None,
            axes: tuple[str, ...], options: RunOptions) -> None:
    """Run benchmarks on several NIC descriptions (files, or names that `nicbed list` shows), or on
    the points of a design axis: print and plot them side by side, with the knobs that differ. With
    --app: NAS kernels, and what o, g and L are worth to them."""
    from ..commands.compare import run_compare
    from ..commands.worth import run_worth

    check(options.layer or DEFAULT_LAYER, options.sim)
    if options.sim == "board":
        raise UserError("--sim board: a board carries one configuration, compare needs several; "
                        "try --sim uart, or bench on each")
    if programs is not None:
        if benches is not None or axes:
            raise UserError("--app: goes without --bench and --axis")
        run_worth(nics or ("default",), programs, options, size=size or "S")
        return
    if size is not None:
        raise UserError(f"--class {size}: goes with --app alone")
    run_compare(nics, benches, options, axes=axes)


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
@click.option("--seed", type=click.IntRange(0), metavar="N",
              help="Seed of random and lhs.  [default: 1]")
@click.option("--where", "constraints", multiple=True, metavar="CONDITION",
              help="Leave out points without it: 'via.window * 2 <= via.send_slots'.")
@click.option("--metric", "metrics", multiple=True, metavar="[NAME=]BENCH:FIGURE",
              help="A column, such as logp:o_s or g=logp:truth.g.  [default: all figures]")
@click.option("--pareto", "front", nargs=2, metavar="METRIC METRIC",
              help="Also plot the points that none beats in both, less being better.")
@workers_option("Points that are measured at the same time.")
@study_options
@gathered(SweepOptions, "asked")
def sweep(study: Path | None, asked: SweepOptions, options: RunOptions) -> None:
    """Measure benchmarks at many points of a design: the combinations of what --vary says, or what
    a study's file says. Points that are in the store are not measured again, so an interrupted
    sweep goes on where it was. Writes one table (CSV, Parquet, JSON) and its plot."""
    from ..commands.sweep import run_sweep

    check(options.layer or DEFAULT_LAYER, options.sim)
    if options.sim == "board":
        raise UserError("--sim board: a board carries one configuration, sweep needs several; try "
                        "--sim uart")
    run_sweep(study, asked, options)


@nicbed.command()
@click.argument("study", required=False, metavar="[SEARCH.toml]",
                type=click.Path(dir_okay=False, path_type=Path))
@click.option("--vary", multiple=True, metavar="KNOB=VALUES",
              help="Values of a knob to choose from: 256,1024, or 4:64:*2 (times 2 each), 4:64 "
                   "(all between). May be given again.")
@click.option("--minimise", multiple=True, metavar="[NAME=]BENCH:FIGURE",
              help="A figure that is to be small, such as logp:L or area:lut. May be given again.")
@click.option("--maximise", multiple=True, metavar="[NAME=]BENCH:FIGURE",
              help="A figure that is to be large. May be given again.")
@click.option("--where", "constraints", multiple=True, metavar="CONDITION",
              help="Only points with it: 'via.window * 2 <= via.send_slots', 'area.lut <= 8000'.")
@click.option("--trials", type=int, metavar="N", help="Points that are tried.  [default: 20]")
@click.option("--seed", type=click.IntRange(0), metavar="N",
              help="On which the choice of points depends.  [default: 1]")
@workers_option("Points that are measured at the same time. Changes no point.")
@study_options
@gathered(SearchOptions, "asked")
def optimise(study: Path | None, asked: SearchOptions, options: RunOptions) -> None:
    """Search for the points of a design that no other beats in all goals, such as latency, gap and
    area. The same seed gives the same points; those that are in the store are not measured again,
    so an interrupted search goes on where it was. Writes one table (CSV, Parquet, JSON) and its
    plot."""
    from ..commands.optimise import run_optimise

    check(options.layer or DEFAULT_LAYER, options.sim)
    if options.sim == "board":
        raise UserError("--sim board: a board carries one configuration, optimise needs several; "
                        "try --sim uart")
    run_optimise(study, asked, options)


@nicbed.command()
@click.argument("nic", required=False, default="default", metavar="[NIC]")
@click.option("--knobs", multiple=True, metavar="PATTERN",
              help="Only knobs whose names match, such as 'cpu.*'. May be given again.  [default: "
                   "all that matter]")
@click.option("--set", "overrides", multiple=True, metavar="KNOB=VALUE",
              help="Change a knob before all else. May be given again.")
@layer_option(DEFAULT_LAYER)
@workers_option("Changes that are measured at the same time.")
@FRESH
@OUT
@mode_options
def whatif(nic: str, knobs: tuple[str, ...], overrides: tuple[str, ...], layer: str, workers: int,
           fresh: bool, out: Path) -> None:
    """Say what each timing and cost knob of NIC does to o_s, o_r, g, L, RTT and bandwidth: halved,
    doubled and made free, one at a time; with elasticities, and with what the work of a round trip
    predicts. What is in the store is not measured again, so an interrupted run goes on where it
    was."""
    from ..commands.whatif import run_whatif

    run_whatif(nic, overrides=overrides, layer=layer, knobs=knobs, workers=workers, fresh=fresh,
               out=out)


@nicbed.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--set", "overrides", multiple=True, metavar="KNOB=VALUE",
              help="Change a knob on both sides. May be given again.")
@click.option("--layer", metavar="LAYER",
              help="Communication layer that traces a round trip: any but mpi, rpc and raw.  "
                   "[default: that of a result file, or am]")
@OUT
@mode_options
def why(first: str, second: str, overrides: tuple[str, ...], layer: str | None, out: Path) -> None:
    """Say why the figures of A and B differ: the difference of a round trip in cost items and
    stages, which add up to it, and of g by blocks. A and B are NIC descriptions (files, or names
    that `nicbed list` shows) or result files; with @REVISION behind it, such as default@HEAD~3, a
    revision of the project measures."""
    from ..commands.why import run_why

    run_why((first, second), overrides=overrides, layer=layer, out=out)
