"""``nicbed list``, ``doctor`` and ``report``: list everything, check the machine, and put results
on a page."""

from pathlib import Path

import click

from ..commands.output import MODE, Mode
from .group import nicbed
from .options import MODES


@nicbed.command("list")
@click.option("--nic", metavar="FILE.toml",
              help="Show the knobs of what this NIC description names, too.")
@MODES[-1]
def list_(nic: str | None) -> None:
    """Show benchmarks, programs, what is plugged in and where it is from (NIC designs, layers,
    cores, topologies, studies, boards), NIC descriptions, and knobs with unit, default and
    range."""
    if MODE.get() is Mode.JSON:
        from ..commands.measure import listed

        print(listed(nic))
        return
    from ..commands.listing import show

    show(nic)


@nicbed.command()
@click.option("--no-build", is_flag=True, help="Build and run no toys.")
@MODES[-1]
def doctor(no_build: bool) -> None:
    """Say what is there and what is missing on this machine, which versions and which caches, and
    whether each simulator builds and runs a toy: for a bug report. Exit code 1 if nicbed cannot
    work here."""
    from ..commands.doctor import run_doctor

    run_doctor(not no_build)


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
@MODES[1]
def report(files: tuple[Path, ...], to: Path | None, title: str, form: str | None) -> None:
    """Put results on one page for a browser: result files, tables of sweeps (.csv), time lines
    (.pftrace). Plots answer to the mouse, tables sort; the page is one file without a network."""
    from ..commands.report import run_export, run_report

    if form is not None:
        run_export(files, form, to)
        return
    run_report(files, to or Path("report.html"), title=title)
