"""Tables and plot of a program's run."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..benches.common.headline import Headline
from ..results.tables import amount, table

__all__ = ["draw", "headline", "tables"]

COLUMNS = 8
"""Most processes that have a column each; of more, the table has least, mean and most."""


def _milli(cycles: float, clock_mhz: float) -> str:
    return f"{cycles / clock_mhz / 1000:,.3f}"


def _columns(values: Sequence[float], clock_mhz: float) -> list[str]:
    if len(values) > COLUMNS:
        values = [min(values), sum(values) / len(values), max(values)]
    return [_short(value / clock_mhz / 1000) for value in values]


def _short(milliseconds: float) -> str:
    """At most six characters up to 100 s, so that all columns fit in a pipe."""
    digits = 3 if milliseconds < 99.9995 else 1 if milliseconds < 999.95 else 0
    return f"{milliseconds:,.{digits}f}"


def tables(document: Mapping[str, Any]) -> list[Any]:
    """Answer and time; phases by process; messages by kind."""
    results, clock = document["results"], document["clock_mhz"]
    processes = results["processes"]
    found: list[Any] = [
        f"answer: {results['answer']}",
        f"time: {_milli(results['cycles'], clock)} ms ({amount(results['cycles'])} cycles) on "
        f"{len(processes)} {'processes' if 'traffic' in results else 'nodes'}"]
    heads = ([str(number) for number in range(len(processes))] if len(processes) <= COLUMNS
             else ["least", "mean", "most"])
    rows = [(phase["name"], phase["kind"], *_columns(phase["cycles"], clock))
            for phase in results["phases"]]
    for title, kind, part in (("all computation", "computation", "cycles"),
                              ("  of it messages", "computation", "messages"),
                              ("all communication", "communication", "cycles"),
                              ("  of it messages", "communication", "messages"),
                              ("  of it waiting", "communication", "waiting")):
        rows.append((title, kind if part == "cycles" else "",
                     *_columns([one[kind][part] for one in processes], clock)))
    found.append(table("Phases (ms) by process", ["phase", "kind", *heads], rows, left=2))
    messages = [(kind, amount(one["messages"]), amount(one["bytes"]),
                 amount(one["bytes"] / one["messages"], 1) if one["messages"] else "-",
                 amount(one["local"])) for kind, one in results["messages"].items()]
    whole = [sum(one[key] for one in results["messages"].values())
             for key in ("messages", "bytes", "local")]
    messages.append(("all", amount(whole[0]), amount(whole[1]),
                     amount(whole[1] / whole[0], 1) if whole[0] else "-", amount(whole[2])))
    found.append(table("Messages of all processes, replies not counted",
                       ["kind", "messages", "bytes", "bytes each", "local"], messages))
    if "traffic" in results:
        found.append(_traffic_table(results["traffic"], heads))
    return found


def _traffic_table(traffic: Sequence[Mapping[str, int]], heads: Sequence[str]) -> Any:
    """Messages by process, off its node and within it."""
    off, within = ([one[where] for one in traffic] for where in ("off", "within"))
    local = [100 * one["within"] / whole if (whole := one["off"] + one["within"]) else 0.0
             for one in traffic]
    whole = sum(off) + sum(within)
    rows = []
    for name, values, digits, every in (
            ("off its node", off, 0, sum(off) / len(off)),
            ("within its node", within, 0, sum(within) / len(within)),
            ("of them within (%)", local, 1, 100 * sum(within) / whole if whole else 0.0)):
        shown = values if len(values) <= COLUMNS else [
            min(values), sum(values) / len(values), max(values)]
        rows.append((name, *(amount(value, digits) for value in shown), amount(every, 1)))
    return table("Messages by process, replies and collective calls not counted",
                 ["messages", *heads, "a process"], rows)


def headline(document: Mapping[str, Any]) -> list[Headline]:
    """The whole time, each phase's mean over the processes, and the messages."""
    results = document["results"]
    phases = [Headline(phase["name"], sum(phase["cycles"]) / len(phase["cycles"]))
              for phase in results["phases"]]
    messages = sum(one["messages"] for one in results["messages"].values())
    return [Headline("time", results["cycles"]), *phases,
            Headline("messages", messages, "messages")]


def draw(document: Mapping[str, Any], figure: Any) -> None:
    """A stacked bar for each process: computation, messages in it, communication, waiting."""
    from ..results.plots import PALETTE

    clock, processes = document["clock_mhz"], document["results"]["processes"]
    if "traffic" in document["results"]:
        axes, *more = figure.subplots(1, 3, width_ratios=[5, 3, 2])
        _draw_traffic(document["results"]["traffic"], more[0])
        _draw_spread(document["results"]["phases"], clock, more[1])
    else:
        axes = figure.add_subplot()
    places = range(len(processes))
    computation, communication = ([one[kind] for one in processes]
                                  for kind in ("computation", "communication"))
    parts = [("computation", PALETTE[0], [one["cycles"] - one["messages"] for one in computation]),
             ("messages meanwhile", "#e9a3ab", [one["messages"] for one in computation]),
             ("communication", PALETTE[1],
              [one["cycles"] - one["waiting"] for one in communication]),
             ("waiting", "#d9d9d9", [one["waiting"] for one in communication])]
    below = [0.0] * len(processes)
    for name, colour, cycles in parts:
        heights = [one / clock / 1000 for one in cycles]
        axes.bar(places, heights, 0.7, bottom=below, label=name, color=colour)
        below = [low + height for low, height in zip(below, heights, strict=True)]
    axes.set_xticks(list(places))
    axes.set_xlabel("process")
    axes.set_ylabel("ms")
    axes.set_ylim(0, 1.2 * max(below))
    axes.grid(axis="x", visible=False)
    axes.legend(loc="upper right", ncols=2 if "traffic" in document["results"] else 4)
    chosen = ", ".join(f"{name} {value}" for name, value in document["parameters"].items()
                       if name != "seed")
    axes.set_title(f"{document['benchmark']}: {chosen}")


def _draw_traffic(traffic: Sequence[Mapping[str, int]], axes: Any) -> None:
    """A stacked bar for each process: its messages off its node, and within it."""
    from ..results.plots import PALETTE

    places = range(len(traffic))
    off, within = ([one[where] for one in traffic] for where in ("off", "within"))
    axes.bar(places, off, 0.7, label="off its node", color=PALETTE[0])
    axes.bar(places, within, 0.7, bottom=off, label="within it", color=PALETTE[1])
    axes.set_xlabel("process")
    axes.set_ylabel("messages")
    axes.set_ylim(0, 1.25 * max(1, *(one["off"] + one["within"] for one in traffic)))
    axes.grid(axis="x", visible=False)
    axes.legend(loc="upper right")


def _draw_spread(phases: Sequence[Mapping[str, Any]], clock_mhz: float, axes: Any) -> None:
    """A box of the processes' times outside barriers: from the quickest to the slowest."""
    each = zip(*(phase["cycles"] for phase in phases if phase["name"] != "barrier"), strict=True)
    axes.boxplot([sum(one) / clock_mhz / 1000 for one in each], whis=(0, 100), widths=0.5)
    axes.set_ylim(bottom=0)
    axes.set_xticks([1], ["processes"])
    axes.set_ylabel("ms outside barriers")
    axes.grid(axis="x", visible=False)
