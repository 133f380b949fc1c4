"""``nicbed synth`` and ``test``: bitstreams, and nicbed's own tests."""

import sys
from pathlib import Path

import click

from ..backends import SIMS
from ..commands.options import RunOptions
from ..defaults import LAYER as DEFAULT_LAYER
from ..errors import UserError
from .group import nicbed
from .options import NIC, check, gathered, layer_option


@nicbed.command()
@click.option("--board", required=True, metavar="BOARD | FILE.py",
              help="Board: ecpix5 or ulx3s, or the file of one of your own.")
@NIC
@click.option("--set", "overrides", multiple=True, metavar="KNOB=VALUE",
              help="Change a knob, such as via.vis=64. May be given again.")
@layer_option(DEFAULT_LAYER)
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
@gathered(RunOptions, "options")
def synth(board: str, options: RunOptions, clock: str | None, seed: int, seeds: int, program: bool,
          area_only: bool) -> None:
    """Synthesise a NIC description for an FPGA board: bitstream, area by block, fmax."""
    from ..commands.synth import run_synth

    check(options.layer or DEFAULT_LAYER, SIMS[0])
    if program and area_only:
        raise UserError("--area makes no bitstream: leave out --program")
    run_synth(board, options, clock=clock, seeds=range(seed, seed + seeds), program=program,
              area_only=area_only)


@nicbed.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def test(arguments: tuple[str, ...]) -> None:
    """Run the tests. --full includes long tests; --durations prints the 30 that took most
    CPU time, and CPU minutes beside wall time. ARGUMENTS go to pytest."""
    from ..commands.measure import run_tests

    sys.exit(run_tests(arguments))
