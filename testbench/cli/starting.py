"""``nicbed new``: folders to begin with."""

from pathlib import Path

import click

from .group import nicbed


@nicbed.group()
def new() -> None:
    """Write a folder with a design of your own that runs as it is: change it from there."""


def _write(kind: str, name: str, verilog: bool = False) -> None:
    from ..commands.new import write_new

    write_new(kind, name, Path.cwd(), verilog=verilog)


@new.command()
@click.argument("name")
@click.option("--verilog", is_flag=True, help="Its logic is a module in Verilog.")
def nic(name: str, verilog: bool) -> None:
    """A NIC: a register to send, a ring to receive; with driver, description and test."""
    _write("nic", name, verilog)


@new.command()
@click.argument("name")
def layer(name: str) -> None:
    """A communication layer with its endpoint, to which benchmarks talk."""
    _write("layer", name)


@new.command()
@click.argument("name")
def bench(name: str) -> None:
    """A benchmark with typed parameters and results."""
    _write("bench", name)


@new.command()
@click.argument("name")
def firmware(name: str) -> None:
    """Firmware of the NIC processor, and a program that uses it."""
    _write("firmware", name)
