"""``nicbed check``: checks that a user's design keeps the rules."""

import sys
from collections.abc import Sequence

from ..descriptions import load
from ..errors import UserError

__all__ = ["check_nic"]


def check_nic(nic: str, *, overrides: Sequence[str], seed: int, quick: bool) -> None:
    """Print a line for each rule of a NIC, and a table of its ports' times.

    Raises
    ------
    UserError
        A rule is broken, or the NIC cannot be built.
    """
    description = load.load(nic, overrides).with_(
        {"fabric.nodes": 2, "node.cpus": 1, "node.nics": 1})

    from ..check import report
    from ..check.scenarios import COMPARED, scenarios
    from ..check.simulator import Simulator, has_icarus
    from ..results.tables import console, table
    from .output import progress_bar

    with progress_bar("check") as tell:
        tell("converting", 0, 1)
        simulator = Simulator(description)
        todo = scenarios(description, seed, quick)
        outcomes = simulator.run("verilator", todo, tell)
        ran = list(zip(todo, outcomes, strict=True))
        compared, why = None, "left out by --quick" if quick else "Icarus Verilog is not installed"
        chosen = [one for one in todo if one.title == COMPARED]
        if chosen and has_icarus() and not quick and not any(out.broken for out in outcomes):
            [compared] = simulator.run("icarus", chosen, tell)
    found = report.findings(simulator.pair, description, ran, compared, why)
    for one in found:
        print(one)
    out = console()
    by_kind = {one.kind: outcome for one, outcome in ran}
    if "latency" in by_kind and not by_kind["latency"].broken:
        out.print(table("A frame of 8 bytes, nothing in the way", ["step", "cycles"],
                        report.latencies(by_kind["latency"])))
    if "stream" in by_kind and not by_kind["stream"].broken:
        out.print(table("Frames of nic.mtu bytes, nothing in the way",
                        ["port", "transfers", "bytes a cycle"],
                        report.throughputs(simulator.pair, by_kind["stream"])))
    sys.stdout.flush()
    failed = [one.rule for one in found if one.failed]
    name = description.design.name
    if failed:
        raise UserError(f"{name} breaks {len(failed)} of {len(found)} rules: {', '.join(failed)}",
                        status=1)
    passed = sum(one.verdict == report.PASSED for one in found)
    print(f"{name} keeps all rules that were checked: {passed} of {len(found)}")
