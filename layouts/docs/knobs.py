"""Makes docs/reference/knobs.md from the description: ``python -m nicbed.layouts.docs.knobs``.

Without an argument it writes the page; with ``-`` it prints it.
"""

import sys

from ..description import Kind, knobs
from .page import command, page, place, table

__all__ = ["PAGE", "markdown"]

PAGE = place("knobs")

_KIND = {
    Kind.STRUCTURE: "a change builds a simulator of its own",
    Kind.TIMING: "a register of the target; a change rebuilds nothing",
    Kind.COST: "read by host programs; a change rebuilds nothing",
}


def markdown() -> str:
    """The page."""
    lines = [
        "What a NIC description may set, and `--set SECTION.KNOB=VALUE`. The defaults are those of "
        "the NIC `default`. How to use them: [Change a NIC](../how-to/change-a-nic.md).", "",
        "Kinds: " + "; ".join(f"*{kind.value}*: {text}" for kind, text in _KIND.items()) + ".", "",
    ]
    section = ""
    rows: list[tuple[str, ...]] = []
    heads = ("knob", "default", "range", "unit", "kind", "meaning")
    for knob in knobs():
        if (name := knob.name.partition(".")[0]) != section:
            lines += table(heads, rows) if rows else []
            lines += [f"## {name}", ""]
            section, rows = name, []
        default = str(knob.default)
        if isinstance(knob.default, bool):
            default = default.lower()
        rows.append((f"`{knob.name}`", default,
                     knob.bounds.replace("|", ", "), knob.unit, knob.kind.value, knob.doc))
    return page("knobs", "Knobs", [*lines, *table(heads, rows)])


if __name__ == "__main__":
    sys.exit(command("knobs", markdown(), sys.argv[1:]))
