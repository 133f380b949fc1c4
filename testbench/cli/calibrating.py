"""``nicbed fit`` and ``reproduce``: descriptions of machines that exist."""

from pathlib import Path

import click

from ..errors import UserError
from .group import nicbed
from .options import OUT, mode_options


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
@OUT
@mode_options
def fit(nic: str, figures: Path | None, programs: bool, overrides: tuple[str, ...], write: bool,
        out: Path) -> None:
    """Choose knobs of a description (a file, or a name that `nicbed list` shows) by figures: those
    that its table [fit] names, within its bounds. Print the result, the residuals, and how sharply
    the figures fix each knob."""
    from ..commands.fit import run_fit

    run_fit(nic, figures, overrides=overrides, write=write, out=out, programs=programs)


@nicbed.command()
@click.argument("wanted", metavar="[STUDY[/TABLE] | FILE.toml[/TABLE]]", required=False)
@click.option("--all", "everything", is_flag=True,
              help="All studies that come with nicbed; writes reproduction.md, the page of the "
                   "documentation, too.")
@click.option("--long", is_flag=True,
              help="Also the tables that take many minutes, which are measured by name alone.")
@click.option("--intervals", is_flag=True,
              help="Say how sure the test figures are: an interval of each, by the ranges of what "
                   "nobody measured ([typical] of the descriptions).")
@click.option("--points", type=int, metavar="N",
              help="With --intervals: points of the Latin hypercube.  [default: 40]")
@click.option("--seed", type=click.IntRange(0), metavar="N",
              help="With --intervals: on which the points depend.  [default: 1]")
@OUT
@mode_options
def reproduce(wanted: str | None, everything: bool, long: bool, intervals: bool,
              points: int | None, seed: int | None, out: Path) -> None:
    """Measure what a published table shows on the machines' descriptions: print published, ours and
    error, redraw its plots. Without STUDY, list the studies and their tables. A study of your own
    is a file, ./my_study.toml. With --intervals: how sure the figures are."""
    from ..commands.intervals import POINTS, SEED, run_intervals
    from ..commands.reproduce import run_reproduce

    if intervals:
        if everything:
            raise UserError("reproduce --all --intervals: give one of them; intervals are of a "
                            "study")
        run_intervals(wanted, points=POINTS if points is None else points,
                      seed=SEED if seed is None else seed, out=out, long=long)
        return
    for name, given in (("--points", points), ("--seed", seed)):
        if given is not None:
            raise UserError(f"{name} {given}: goes with --intervals alone")
    run_reproduce(wanted, everything, out=out, long=long)
