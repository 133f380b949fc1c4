"""The report of a check: a line for each rule, and the work of the NIC's ports."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...host.nic.kinds import Frames
from ...layouts.description import Description
from ...rtl.node.nic_rules import RULES as OF_PORTS
from .bench import Outcome
from .pair import Pair
from .scenarios import RULES, Scenario

__all__ = ["Finding", "findings", "latencies", "throughputs"]

PASSED, FAILED, NOT_CHECKED = "passed", "failed", "not checked"


@dataclass(frozen=True)
class Finding:
    """The result of a rule: "passed", "failed" or "not checked", and why."""

    rule: str
    verdict: str
    text: str

    @property
    def failed(self) -> bool:
        return self.verdict == FAILED

    def __str__(self) -> str:
        return f"{self.verdict:12}{self.rule:16}{self.text}"


def findings(pair: Pair, description: Description, ran: Sequence[tuple[Scenario, Outcome]],
             compared: Outcome | None, icarus: str) -> list[Finding]:
    """A finding for each rule. ``compared``: what :data:`~.scenarios.COMPARED` did on Icarus;
    ``icarus``: why it did not run."""
    broken: dict[str, str] = {}
    for scenario, outcome in ran:
        for one in outcome.broken:
            broken.setdefault(one.rule, f"{one}  ({scenario.title}, seed {scenario.how.seed})")
    by_title = {scenario.title: outcome for scenario, outcome in ran}
    missing = _missing(description)
    frames = by_title.get("frames")
    if frames is None or frames.broken:
        for rule in ("sleep", "simulators"):
            missing.setdefault(rule, "rule delivery must hold first")
    else:
        asleep = by_title["frames, asleep"]
        if "sleep" not in missing and (text := _difference(frames, asleep, "awake", "asleep")):
            broken["sleep"] = text
        if compared is None:
            missing.setdefault("simulators", icarus)
        elif text := _difference(by_title["frames, short"], compared, "Verilator", "Icarus"):
            broken["simulators"] = text
    found = []
    names = {name for name, _ in pair.rules}
    for rule, text in {**RULES, **OF_PORTS}.items():
        if rule in broken:
            found.append(Finding(rule, FAILED, f"{broken[rule]}; the rule: {text}"))
        elif rule in missing or (rule in OF_PORTS and rule not in names):
            found.append(Finding(rule, NOT_CHECKED, missing.get(rule, "it has no such port")))
        else:
            found.append(Finding(rule, PASSED, text))
    return found


def _missing(description: Description) -> dict[str, str]:
    """Rules that cannot be checked, and why."""
    found: dict[str, str] = {}
    design = description.design
    declared = design.registers_of(description)
    for kind in ("rw", "ro", "w1c"):
        if not any(one.access.value == kind and not one.acts for one in declared):
            found[f"register {kind}"] = f"it declares no register of kind {kind}"
    if not declared:
        found |= dict.fromkeys(("register reset", "register width"), "it declares no register")
    if Frames not in design.offered(description):
        found |= dict.fromkeys(("driver", "delivery", "ends", "reset", "sleep", "simulators"),
                               "it has no driver of kind Frames under this description")
    if not design.sleeps:
        found |= dict.fromkeys(("sleep", "idle"), "it never sleeps (sleeps = False)")
    return found


def _difference(one: Outcome, other: Outcome, first: str, second: str) -> str:
    """The first transfer in which two runs differ, in words; "" if there is none."""
    if other.broken and not one.broken:
        return f"{second}: {other.broken[0]}"
    for number, (ours, theirs) in enumerate(zip(one.logs, other.logs, strict=True)):
        for left, right in zip([*ours, None], [*theirs, None], strict=False):
            if left != right:
                return f"NIC {number}: {first} {_transfer(left)}, {second} {_transfer(right)}"
    return ""


def _transfer(transfer: tuple[int, str, int] | None) -> str:
    if transfer is None:
        return "has ended"
    cycle, port, value = transfer
    return f"has {value:#x} at {port} in cycle {cycle}"


def latencies(outcome: Outcome) -> list[tuple[str, str]]:
    """The steps of one short frame, and their cycles."""
    sender, receiver = outcome.spans
    write = sender["pio.write"][2]
    tx, rx = sender["link.tx"], receiver["link.rx"]
    found = [("write to first flit on link.tx", tx[1] - write),
             ("first to last flit on link.tx", tx[2] - tx[1])]
    found[:0] = [(f"write to first request on {port.removesuffix('.request')}", span[1] - write)
                 for port, span in sender.items() if port.endswith(".request")]
    found += [(f"last flit on link.rx to {end} on {port.removesuffix('.request')}",
               span[at] - rx[2]) for port, span in receiver.items()
              for suffix, at, end in ((".request", 1, "first request"), (".write", 2, "last word"))
              if port.startswith("dma") and port.endswith(suffix)]
    return [(name.replace(".write", ""), str(cycles)) for name, cycles in found]


def throughputs(pair: Pair, outcome: Outcome) -> list[tuple[str, str, str]]:
    """Of many long frames: each port, what moved, and bytes a cycle from the first to the last."""
    widths = {"link.tx": pair.side.link_width, "link.rx": pair.side.link_width}
    for number in range(pair.side.dma):
        widths |= {f"dma[{number}].{part}": pair.side.width for part in ("read", "write")}
    rows = []
    for number, spans in enumerate(outcome.spans):
        for port, (count, first, last) in sorted(spans.items()):
            if port in widths:
                rows.append((f"NIC {number}, {port}", str(count),
                             f"{count * widths[port] / (last - first + 1):.2f}"))
    return rows
