"""Tables for readers: the content of a result file, on a terminal or in a pipe."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["amount", "checks", "console", "lives", "micro", "percent", "stages", "table"]

PIPE_WIDTH = 110


def console(*, stderr: bool = False, pipe: int = PIPE_WIDTH) -> "Console":
    """A console with the width of the terminal, or ``pipe`` columns in a pipe."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else pipe
    return Console(file=stream, width=width, highlight=False, soft_wrap=False)


def amount(value: float | None, digits: int = 2) -> str:
    """A number of cycles or bytes, without unnecessary zeros; "-" for None."""
    if value is None:
        return "-"
    shown = f"{value:,.{digits}f}"
    shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
    return "0" if shown == "-0" else shown


def micro(cycles: float | None, clock_mhz: float) -> str:
    """Cycles as microseconds."""
    return "-" if cycles is None else f"{cycles / clock_mhz:,.3f}"


def percent(value: float | None) -> str:
    """A share or ratio as per cent, with its sign."""
    return "-" if value is None else f"{100 * value:+.2f} %"


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *,
          left: int = 1, caption: str | None = None) -> "Table":
    """A table whose first ``left`` columns are text and the others figures."""
    from rich import box
    from rich.table import Table

    made = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD,
                 pad_edge=False, min_width=len(title), caption=caption, caption_justify="left")
    for index, column in enumerate(columns):
        made.add_column(column, justify="left" if index < left else "right",
                        no_wrap=left == 1 or index < len(columns) - 1, overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def stages(found: Sequence[Mapping[str, Any]], clock_mhz: float, title: str) -> "Table":
    """The life of a message by stage, and its sum."""
    total = sum(stage["cycles"] for stage in found)
    rows = [(stage["stage"], amount(stage["cycles"], 3), micro(stage["cycles"], clock_mhz),
             f"{100 * stage['cycles'] / total:.1f} %" if total else "-") for stage in found]
    rows.append(("sum", amount(total, 3), micro(total, clock_mhz), ""))
    return table(title, ["stage", "cycles", "µs", "share"], rows)


def lives(found: Mapping[str, Sequence[Mapping[str, Any]]], most: int = 6) -> "Table":
    """Lives of messages side by side, and their sums. Of more than ``most`` lives only some, evenly
    spaced."""
    titles = list(found)
    titles = titles[::max(1, -(-len(titles) // most))]
    each = [{stage["stage"]: stage["cycles"] for stage in found[title]} for title in titles]
    # Lives with different stages have them in the same order.
    every: list[str] = []
    for life in each:
        at = 0
        for name in life:
            if name in every:
                at = every.index(name) + 1
            else:
                every.insert(at, name)
                at += 1
    rows = [(name, *(amount(life.get(name)) for life in each)) for name in every]
    rows.append(("sum", *(amount(sum(life.values())) for life in each)))
    columns = ["\n".join(title.rsplit(", ", 1)) for title in titles]
    return table("Mean life of a message (cycles)", ["stage", *columns], rows)


def checks(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """One line for all checks that hold, and one for each failed check."""
    failed = [check for check in found if not check["ok"]]
    lines = [f"[bold red]check failed:[/] {check['check']}: {check['detail']}" for check in failed]
    if found and not failed:
        lines.append("checks: " + ("the one holds" if len(found) == 1 else
                                   f"all {len(found)} hold"))
    return lines
