"""``nicbed store`` and ``gate``: stored results, and accepted figures."""

from pathlib import Path

import click

from .group import Commands, nicbed
from .options import FRESH, MODES, NIC, layer_option, mode_options

_ONLY = click.option("--only", "kinds", multiple=True,
                     type=click.Choice(["results", "builds"]),
                     help="Results, or built simulators and firmware, alone.  [default: both]")


@nicbed.group(cls=Commands)
def store() -> None:
    """Look after what is kept of results and built simulators. NICBED_STORE chooses the results'
    folder, or `none`; NICBED_CACHE that of the simulators."""


@store.command("list")
@_ONLY
@MODES[-1]
def store_list(kinds: tuple[str, ...]) -> None:
    """Show what is kept: what it is, its size, when it was last used."""
    from ..commands.store import run_list

    run_list(kinds)


@store.command()
@click.option("--age", "older", metavar="AGE", help="Remove what was not used for AGE: 30d, 12h.")
@click.option("--size", "larger", metavar="SIZE",
              help="Remove what was used longest ago, until SIZE is left: 500MB, 2GB.")
@_ONLY
@MODES[-1]
def prune(older: str | None, larger: str | None, kinds: tuple[str, ...]) -> None:
    """Remove results and built simulators by age and size. Nothing is lost but time."""
    from ..commands.store import run_prune

    run_prune(kinds, older, larger)


@store.command()
@MODES[-1]
def verify() -> None:
    """Check that each result is as it was kept."""
    from ..commands.store import run_verify

    run_verify()


@nicbed.group(cls=Commands)
def gate() -> None:
    """Hold figures to accepted values, to the last digit: for CI. A gate file (default:
    nicbed-gate.toml) says what is measured on which descriptions."""


_GATE = click.argument("file", default="nicbed-gate.toml", metavar="[FILE]",
                       type=click.Path(dir_okay=False, path_type=Path))


@gate.command("init")
@_GATE
@NIC
@click.option("--bench", "benches", default="logp,rtt", metavar="NAME[,NAME]", show_default=True,
              help="Benchmarks whose figures are held to.")
@click.option("--set", "overrides", multiple=True, metavar="KNOB=VALUE",
              help="Change a knob, such as link.latency=12. May be given again.")
@click.option("--nodes", type=int, metavar="N", help="Nodes on the fabric.")
@layer_option()
@mode_options
def gate_init(file: Path, nic: str, benches: str, overrides: tuple[str, ...], nodes: int | None,
              layer: str | None) -> None:
    """Write a first gate file, with the values of now."""
    from ..commands.gate import run_init

    run_init(file, nic=nic, benches=benches, overrides=overrides, nodes=nodes, layer=layer)


@gate.command("check")
@_GATE
@click.option("--junit", "junit_to", metavar="FILE",
              type=click.Path(dir_okay=False, path_type=Path),
              help="Write a JUnit XML report: a test case for each figure.")
@click.option("--summary", "markdown_to", metavar="FILE",
              type=click.Path(dir_okay=False, path_type=Path),
              help="Write a summary for code review, in Markdown.")
@FRESH
@mode_options
def gate_check(file: Path, junit_to: Path | None, markdown_to: Path | None, fresh: bool) -> None:
    """Measure, and print what is not as it was accepted, by how much, and which parts of a round
    trip moved. Exit code 1 if something moved."""
    from ..commands.gate import run_check

    run_check(file, junit_to=junit_to, markdown_to=markdown_to, fresh=fresh)


@gate.command("accept")
@_GATE
@click.option("--reason", required=True, metavar="TEXT",
              help="One line that says why the new values are right; it is kept in the file.")
@mode_options
def gate_accept(file: Path, reason: str) -> None:
    """Take the values of now, and print what they were."""
    from ..commands.gate import run_accept

    run_accept(file, reason)
