"""The netlist that ``--sim gates`` runs, written to a file with models of its cells:
``python -m nicbed.testbench.synth.gates_command --nic FILE --out FILE.v``.
"""

from pathlib import Path

import click

from ...layouts.doors import LAYERS
from .. import cli
from ..defaults import LAYER as DEFAULT_LAYER
from ..descriptions import load
from ..simulators.board import DIVISOR
from . import gates
from .flow.tools import need, tool_errors

__all__ = ["main"]


@click.command()
@click.option("--nic", default="default", metavar="FILE.toml", show_default=True)
@click.option("--set", "overrides", multiple=True, metavar="KNOB=VALUE")
@click.option("--layer", default=DEFAULT_LAYER, type=click.Choice(LAYERS.names()),
              show_default=True)
@click.option("--divisor", type=click.IntRange(2), default=DIVISOR, show_default=True,
              help="Clocks for each bit; by default those of --sim gates.")
@click.option("--out", required=True, metavar="FILE.v",
              type=click.Path(dir_okay=False, path_type=Path))
def main(nic: str, overrides: tuple[str, ...], layer: str, divisor: int, out: Path) -> None:
    """Write the netlist of the logic behind a board's pins, with models, and print its hash."""
    from ..commands.measure import check_places
    from ..commands.output import progress_bar
    from ..results.document import save

    description = load.for_layer(load.load(nic, overrides), layer, ours=False)
    need("yosys")
    check_places(out.parent, None)
    with progress_bar("gates") as tell, tool_errors():
        made = gates.board_gates(description, divisor=divisor, progress=tell)
    save(out, made.text.encode())
    print(f"{out}: netlist {made.digest}")


if __name__ == "__main__":
    cli.main(main, "python -m nicbed.testbench.synth.gates_command")
