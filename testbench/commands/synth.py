"""``nicbed synth``: a NIC description on a board."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..descriptions import load
from ..errors import UserError
from ..synth.boards import board as find_board
from ..synth.clocks import clock_divisor, clocks, parse_clock
from ..synth.flow.tools import Progress, need, tool_errors, tool_version

if TYPE_CHECKING:
    from ...rtl.boards.devices.board import Board
    from ..synth.flow.netlist import Netlist
    from ..synth.plan import Plan

__all__ = ["run_synth"]


def run_synth(board: str, *, nic: str, overrides: Sequence[str], layer: str, clock: str | None,
              seed: int, seeds: int = 1, out: Path, program: bool, area_only: bool = False
              ) -> None:
    """Synthesise a description for ``board``; write the bitstream and its report: the best of
    ``seeds`` placings, from ``seed`` on. With ``area_only``, print the area and write nothing."""
    chosen = find_board(board)
    need("yosys", *([] if area_only else ["nextpnr", "ecppack"]))
    if program:
        from ..synth.program import try_loader

        try_loader()
    description = load.for_layer(load.load(nic, overrides), layer, ours=False)
    clock_mhz = parse_clock(clock) if clock else chosen.clock_mhz

    from ..results import document as files
    from ..results.tables import console
    from ..synth import report
    from .measure import check_places
    from .output import progress_bar

    check_places(out)
    title = f"Area on the {chosen.title}"
    if area_only:
        with progress_bar("synth") as tell, tool_errors():
            _, _, made = _synthesise(chosen, description, clock_mhz, tell)
        console().print(report.area_table(made.area, title))
        return
    with progress_bar("synth") as tell, tool_errors():
        made = _make(chosen, description, clock_mhz, range(seed, seed + seeds), tell)
    document, area, bitstream = made["document"], made["area"], made["bitstream"]
    path = out / f"{chosen.name}-{document['identity'][:10]}.json"
    files.save(path, files.text(document).encode())

    shown = console()
    shown.print(report.area_table(area, title))
    if seeds > 1:
        shown.print(report.seeds_table(document["seeds"], document["seed"]))
    shown.print(f"fmax {document['fmax_mhz']:.1f} MHz, asked {document['clock_mhz']:g} MHz")
    if document["fmax_mhz"] < clock_mhz:
        path.with_suffix(".bit").unlink(missing_ok=True)
        print(path, flush=True)
        raise UserError(report.misses_clock(chosen.title, clock_mhz, document["fmax_mhz"],
                                            made["paths"], clocks(chosen)),
                        status=1)
    files.save(path.with_suffix(".bit"), bitstream.read_bytes())
    print(path, path.with_suffix(".bit"), sep="\n", flush=True)
    if program:
        from ..synth.program import program as send

        send(chosen, path.with_suffix(".bit"))


def _synthesise(board: "Board", description: Any, clock_mhz: Fraction, tell: Progress
                ) -> tuple[int, "Plan", "Netlist"]:
    """The divisor of the line's clock, the design to place, and its netlist."""
    from ..synth.flow.netlist import netlist
    from ..synth.plan import board_core, on_board

    divisor = clock_divisor(board, clock_mhz)
    tell("converting", 0, 1000)
    plan = on_board(board, board_core(description, divisor), clock_mhz)
    return divisor, plan, netlist(plan.text, plan.cores, pads=True, progress=tell)


def _make(board: "Board", description: Any, clock_mhz: Fraction, seeds: Sequence[int],
          tell: Progress) -> dict[str, Any]:
    """Do all steps; return their results."""
    from ..synth import report
    from ..synth.flow.placement import DoesNotFit, place
    from ..synth.flow.routing import DoesNotRoute
    from ..synth.flow.timing import clock_paths
    from ..synth.identity import identity
    from ..synth.plan import FRAMES
    from ..synth.seeds import best_of

    divisor, plan, made = _synthesise(board, description, clock_mhz, tell)
    try:
        best = best_of(seeds, lambda seed, progress, alive: place(
            made, constraints=plan.constraints, device=plan.device, clock_mhz=clock_mhz, seed=seed,
            progress=progress, alive=alive), tell)
    except DoesNotFit as error:
        raise UserError(report.too_large(board.title, error.over, made.area), status=1) from None
    except DoesNotRoute as stuck:
        raise UserError(report.cannot_be_routed(board.title, stuck, made.area),
                        status=1) from None
    paths = clock_paths(best.placed.report, made.area)
    document = report.document(
        board=board.name, config=description.model_dump(mode="json"),
        identity=identity(description).hex(), clock_mhz=clock_mhz,
        best=best, found=made.area, paths=paths, frames=FRAMES,
        baud=clock_mhz * 1_000_000 / divisor,
        versions={name: tool_version(name) for name in ("yosys", "nextpnr", "boards")})
    return {"document": document, "area": made.area, "paths": paths,
            "bitstream": best.placed.bitstream}
