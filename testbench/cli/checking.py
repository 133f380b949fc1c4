"""``nicbed check``: checks that a user's design keeps the rules."""

import click

from .group import nicbed


@nicbed.group()
def check() -> None:
    """Check what you have made against the rules that it must keep."""


@check.command()
@click.argument("nic", metavar="FILE|NAME")
@click.option("--set", "overrides", multiple=True, metavar="KNOB=VALUE",
              help="Change a knob, such as nic.mtu=256. May be given again.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, metavar="N",
              help="Seed of all that is random.")
@click.option("--quick", is_flag=True,
              help="Fewer lengths, rates and seeds, and no comparison with Icarus Verilog.")
def nic(nic: str, overrides: tuple[str, ...], seed: int, quick: bool) -> None:
    """Check the NIC of a description: the protocol of each of its ports, with everything around it
    stalled at random; its registers against their declaration; frames of every length, links at
    every rate, a reset in the middle; that it does the same asleep, and on another simulator.

    Prints a line for each rule, passed or failed with where and when, and how long the NIC takes.
    """
    from ..commands.check import check_nic

    check_nic(nic, overrides=overrides, seed=seed, quick=quick)
