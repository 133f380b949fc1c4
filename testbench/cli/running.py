"""``nicbed bench``, ``app``, ``run``, ``profile`` and ``speed``: runs on one description."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ..commands.options import RunOptions
from ..defaults import LAYER as DEFAULT_LAYER
from ..errors import UserError
from .group import nicbed
from .options import (
    FRESH,
    LIMIT,
    check,
    check_port,
    layer_option,
    measure_options,
    target_options,
)


@nicbed.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("name", metavar="NAME | FILE.py")
@layer_option()
@measure_options
@FRESH
@click.option("--breakdown", is_flag=True, help="Print the life of a message by stage.")
@click.option("--full", is_flag=True,
              help="The whole grid, where a benchmark leaves out what takes long (vis, commtest).")
@click.pass_context
def bench(ctx: click.Context, name: str, options: RunOptions, breakdown: bool, full: bool) -> None:
    """Run microbenchmark NAME: print its table, draw its plots, write its result file.

    NAME is one that `nicbed list` shows, or the file of one of your own. A benchmark's parameters
    are options, too, behind its name: --sizes 64,1024.
    """
    from ..benches import get
    from ..commands.measure import run_bench

    texts = own_options(ctx, name)
    layer = options.layer or next(iter(get(name).layers))
    check(layer, options.sim)
    check_port(options)
    run_bench(name, replace(options, layer=layer), breakdown=breakdown, full=full, texts=texts)


def own_options(ctx: click.Context, name: str) -> dict[str, str]:
    """The options that the command does not have, which are the benchmark's own: texts by the names
    of its parameters."""
    left: list[str] = list(ctx.args)
    found: dict[str, str] = {}
    if name.startswith("-"):
        raise click.NoSuchOption(name, ctx=ctx)
    while left:
        option, equals, text = left.pop(0).partition("=")
        if not option.startswith("--"):
            if option.startswith("-") and len(option) > 1:
                raise click.NoSuchOption(option, ctx=ctx)
            raise click.UsageError(f"Got unexpected extra argument ({option})", ctx)
        if not equals:
            if not left or left[0].startswith("--"):
                raise click.NoSuchOption(option, ctx=ctx)
            text = left.pop(0)
        found[option.removeprefix("--").replace("-", "_")] = text
    return found


class _Program(click.Command):
    """Leaves what comes after -- to the program."""

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
              help="Of a sort: sm, two keys a message, or lg, in bulk.  [default: lg]  Of con: "
                   "comm, in three dimensions, or comp, in two.  [default: comm]")
@click.option("--keys", type=int, metavar="N", help="Of a sort: keys a process.  [default: 2048]")
@click.option("--passes", type=int, metavar="N", help="Of radix-sort: passes.  [default: 3]")
@click.option("--blocks", type=int, metavar="N",
              help="Of mm: blocks in a row of a matrix.  [default: 4]")
@click.option("--block", type=int, metavar="N",
              help="Of mm: doubles in a row of a block.  [default: 16]")
@click.option("--points", type=int, metavar="N",
              help="Of fft: points along each axis of the cube.  [default: 32]")
@click.option("--side", type=int, metavar="N",
              help="Of con: nodes along each axis of a process's part.  [default: 8, of comp 32]")
@click.option("--vertices", type=int, metavar="N",
              help="Of em3d: E and H vertices a process.  [default: 20]")
@click.option("--degree", type=int, metavar="N",
              help="Of em3d: edges a vertex.  [default: 20]")
@click.option("--remote", type=int, metavar="PERCENT",
              help="Of em3d: edges that lead to other processes.  [default: 40]")
@click.option("--steps", type=int, metavar="N", help="Of em3d: steps.  [default: 1]")
@click.option("--mapping", metavar="HOW",
              help="Of em3d: the blocks of a node with eight CPUs are 4 x 2 x 1 (naive) or 2 x 2 x "
                   "2 (good).  [default: naive]")
@click.option("--layout", metavar="LAYOUT",
              help="Of fft, con, em3d: nodes and CPUs of the processes: now-8, smp, now-32, 4x8.")
@click.option("--seed", type=int, metavar="N", help="Seed of the data.  [default: 1]")
@click.option("--class", "class_", metavar="CLASS",
              help="Of a NAS kernel: its size, S, W or A.  [default: S]")
@click.option("--compute", metavar="HOW",
              help="Of a NAS kernel: do the arithmetic (whole), or charge alone what it takes "
                   "(charged).  [default: whole]  Of a program of MPI: charge the CPU time that it "
                   "takes on this computer (measured).")
@click.option("--iterations", type=int, metavar="K",
              help="Of a NAS kernel: K timed iterations; the whole run's time follows by their "
                   "slope.  [default: all]")
@click.option("--layer", metavar="LAYER",
              help="Layer of the program; fft, con and em3d have am and am2.  [am, with --layout "
                   "am2, of a NAS kernel mpi]")
@FRESH
@measure_options
@click.pass_context
def app(ctx: click.Context, names: tuple[str, ...], cflags: str, options: RunOptions,
        **given: Any) -> None:
    """Run program NAME: over Split-C mm, sample-sort, radix-sort, fft, con or em3d; over MPI a NAS
    kernel, is, ep, cg, mg, ft, lu, sp or bt. Check its answer; print where its time went by
    process, and its messages; draw a plot, write its result file.

    Or run a program of MPI as it was written: FILE.py, for mpi4py, FILE.c, FILE.cpp, several, or
    their folder. What comes after -- are its arguments."""
    from ..commands.app import run_app
    from ..commands.program import is_program, run_program
    from ..testbed.mpi_program import MEASURED

    name = next(iter(names))
    if is_program(name):
        check("mpi", options.sim)
        check_port(options)
        compute = given.pop("compute") if given["compute"] == MEASURED else None
        wrong = [key.rstrip("_") for key, value in given.items() if value is not None]
        if wrong:
            raise UserError(f"--{wrong[0]}: is for programs that come with nicbed")
        if options.layer not in (None, "mpi"):
            raise UserError(f"--layer {options.layer}: programs of MPI run over mpi")
        run_program(names, ctx.meta.get(ARGUMENTS, ()), options, flags=cflags, compute=compute)
        return
    if len(names) > 1 or cflags or ARGUMENTS in ctx.meta:
        raise UserError(f"{name}: several files, --cflags, and arguments after -- are for "
                        "programs of MPI")

    check(options.layer or DEFAULT_LAYER, options.sim)
    check_port(options)
    run_app(name, {key.rstrip("_"): value for key, value in given.items() if value is not None},
            options)


@nicbed.command(context_settings={"ignore_unknown_options": True})
@click.argument("file", metavar="FILE.py")
@layer_option(DEFAULT_LAYER)
@click.option("--compute", metavar="HOW",
              help="Of a program of MPI: charge the CPU time that it takes on this computer "
                   "(measured).")
@measure_options
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(file: str, options: RunOptions, compute: str | None, arguments: tuple[str, ...]) -> None:
    """Run your own experiment: FILE.py defines `async def program(node)`, run on every node, or
    `async def measure(lab)` for several runs. The file gets ARGUMENTS as `arguments`. With --layer
    mpi it may also be a program for mpi4py, which `nicbed app` runs, too."""
    from ..commands.measure import run_experiment
    from ..commands.program import run_program
    from ..testbed.experiment import defined

    check(options.layer or DEFAULT_LAYER, options.sim)
    check_port(options)
    if options.layer == "mpi" and not defined(Path(file)):
        run_program([file], arguments, options, compute=compute)
        return
    if compute is not None:
        raise UserError(f"--compute {compute}: is for programs of MPI (--layer mpi)")
    run_experiment(Path(file), arguments, options)


@nicbed.command()
@layer_option(DEFAULT_LAYER)
@target_options()
def speed(options: RunOptions) -> None:
    """Measure how fast the simulation runs, against the bare loop over the same netlist."""
    from ..commands.measure import run_speed

    check(options.layer or DEFAULT_LAYER, options.sim)
    run_speed(options)


@nicbed.command()
@layer_option(DEFAULT_LAYER)
@click.option("--size", type=click.IntRange(4, 32768), default=4, metavar="BYTES",
              show_default=True, help="Bytes of a message.")
@LIMIT
@target_options()
def profile(size: int, options: RunOptions) -> None:
    """Show the cycles of the NIC's processor for each message, by function and source line."""
    from ..commands.measure import run_profile

    check(options.layer or DEFAULT_LAYER, options.sim)
    run_profile(options, size)
