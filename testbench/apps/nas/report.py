"""Tables and picture of a kernel's run."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...benches.common.headline import Headline
from ...results.tables import amount, table
from .timing import KINDS

__all__ = ["FIGURES", "draw", "headline", "tables"]

FIGURES = ("time", "messages")


def tables(document: Mapping[str, Any]) -> list[Any]:
    """Verification and time; shares by rank; messages by call."""
    results, parameters = document["results"], document["parameters"]
    verified = results["verification"]
    processes = results["processes"]
    what = f"{document['benchmark'].upper()}, class {parameters['class']}"
    channel = document["config"]["mpi"]["channel"]
    found: list[Any] = [
        f"{what}, {len(processes)} processes, MPI over {channel}",
        f"VERIFICATION {verified['verdict']}: {verified['detail']}", _time(results)]
    if parameters["compute"] == "charged":
        found.append("computation is charged by the number of data, and not done"
                     if verified["verdict"] == "NOT PERFORMED" else
                     "computation is done, although it was to be charged alone: data decide the "
                     "messages")
    ranks = [str(rank) for rank in range(len(processes))]
    rows = [(kind, *(f"{100 * one[kind] / (sum(one.values()) or 1):.1f} %" for one in processes))
            for kind in KINDS]
    found.append(table("Shares of the time by rank", ["", *ranks], rows))
    found.append(_messages(results.get("slope", results)["messages"],
                           f", extrapolated to {results['of']} iterations" if "slope" in results
                           else ""))
    return found


def _time(results: Mapping[str, Any]) -> str:
    """The time of the run; of one that is not whole, what the whole one would take, first."""
    done, of = results["iterations"], results["of"]
    if "slope" not in results:
        return f"time: {_long(results)}, {done} of {of} iterations"
    return (f"time: {_long(results['slope'])}, extrapolated from {done} of {of} iterations, which "
            f"took {_long(results)}")


def _long(one: Mapping[str, Any]) -> str:
    return f"{one['seconds']:.6f} s of target ({amount(one['cycles'])} cycles)"


def _messages(rows: Sequence[Mapping[str, Any]], of: str) -> Any:
    messages = [(one["call"], amount(one["messages"]), amount(one["bytes"]), _lengths(one))
                for one in rows]
    count, total = (sum(one[key] for one in rows) for key in ("messages", "bytes"))
    messages.append(("all", amount(count), amount(total), ""))
    return table(f"Messages of all processes in the timed part{of}",
                 ["call", "messages", "bytes", "bytes each"], messages)


def headline(document: Mapping[str, Any]) -> list[Headline]:
    """The whole run's time and messages; by the slope where not all iterations ran."""
    whole = document["results"].get("slope", document["results"])
    time, messages = FIGURES
    return [Headline(time, whole["cycles"]),
            Headline(messages, sum(one["messages"] for one in whole["messages"]), messages)]


def _lengths(one: Mapping[str, Any]) -> str:
    if one["least"] == one["most"]:
        return amount(one["least"])
    return f"{amount(one['least'])} to {amount(one['most'])}"


def draw(document: Mapping[str, Any], figure: Any) -> None:
    """A time line for each rank, and the communication matrix."""
    from ...results.plots import PALETTE

    colours = dict(zip(KINDS, (PALETTE[0], PALETTE[1], "#d9d9d9"), strict=True))
    results, timeline = document["results"], document["points"]["timeline"]
    ranks = len(timeline)
    figure.set_size_inches(10, 1.8 + 0.45 * ranks)
    left, right = figure.subplots(1, 2, width_ratios=(3, 1))
    stretches = len(timeline[0])
    width = results["seconds"] * 1000 / stretches
    edges = np.arange(stretches + 1) * width
    for rank, shares in enumerate(timeline):
        below = np.full(stretches + 1, rank - 0.4)
        heights_of = 0.8 * np.array([*shares, shares[-1]], float).T
        for kind, heights in zip(KINDS, heights_of, strict=True):
            left.fill_between(edges, below, below + heights, step="post", linewidth=0,
                              color=colours[kind], label=kind if rank == 0 else None)
            below = below + heights
    left.set_yticks(range(ranks))
    left.set_ylim(ranks - 0.4, -1.1)
    left.set_ylabel("rank")
    left.set_xlabel("ms")
    left.set_xlim(0, stretches * width)
    left.grid(visible=False)
    left.legend(loc="upper right", ncols=3)
    left.set_title(f"{document['benchmark'].upper()}, class {document['parameters']['class']}: "
                   "shares of the time")
    matrix = np.zeros((ranks, ranks))
    for rank, sent in enumerate(document["points"]["sent"]):
        for one in sent:
            matrix[rank, one["to"]] += one["bytes"] * one["messages"]
    right.imshow(matrix, cmap="Blues", vmin=0)
    unit, name = next(((size, name) for size, name in ((1e6, "MB"), (1e3, "KB"))
                       if matrix.max() >= size), (1, "B"))
    for rank, row in enumerate(matrix):
        for other, value in enumerate(row):
            right.text(other, rank, f"{value / unit:.3g}", ha="center", va="center", fontsize=8,
                       color="white" if value > matrix.max() / 2 else "#2b2b2b")
    right.set_xticks(range(ranks))
    right.set_yticks(range(ranks))
    right.set_xlabel("to rank")
    right.set_ylabel("from rank")
    right.grid(visible=False)
    right.set_title(f"{name} sent")
