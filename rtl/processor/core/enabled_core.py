"""Adds a clock enable to a core whose Verilog has none."""

import re
from collections.abc import Iterator

from amaranth.hdl import Instance, Signal

__all__ = ["SUFFIX", "checked_step", "core_instance", "with_enable"]

SUFFIX = "_enabled"
"""Suffix of the names of modules that :func:`with_enable` makes."""

_HIDDEN = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_MODULE = re.compile(r"^[ \t]*module\s+(\w+)\b(.*?\)\s*;)(.*?)\bendmodule\b[^\n]*\n",
                     re.MULTILINE | re.DOTALL)
_PORT = re.compile(r"\binput\s+(?:wire\s+)?(clk|i_clk)\b")
_EDGE = re.compile(r"\balways\s*@\s*\(\s*posedge\s+(clk|i_clk)\s*\)")
_CONNECTION = re.compile(r"\.\s*(?:clk|i_clk)\s*\(\s*(clk|i_clk)\s*\)")
_CLOCK = re.compile(r"\b(?:clk|i_clk)\b")
_FOREIGN = re.compile(r"\b(?:negedge|always_ff|always_latch|always_comb|clk_en)\b")


def with_enable(text: str, top: str) -> str:
    """Verilog ``text`` of module ``top`` with one more input, ``clk_en``. At clock edges with
    ``clk_en`` low nothing changes; with it high, the module behaves as before.

    Every ``always @(posedge clk) S`` becomes ``always @(posedge clk) if (!clk_en) ; else S``, so
    registers and memories, written and read, wait alike. (An ``if`` without its own ``else`` could
    take the next one of S's surroundings.) ``top`` and the modules below it get SUFFIX behind their
    names; other modules are left out.

    Other forms are refused: edges of signals other than the module's one clock, and uses of a clock
    other than for edges and for the clocks of instances. Latches look like logic here.
    tests/rtl/processor/core/test_enabled_core.py proves with yosys that the cores have none, and
    that the behaviour described above holds for the published versions that pyproject.toml names.

    Raises
    ------
    ValueError
        There is no module ``top``, or a module uses its clock in another way.
    """
    # Matches in comments and strings do not count; positions stay the same.
    seen = _HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    modules = {found[1]: found for found in _MODULE.finditer(seen)}
    if top not in modules:
        raise ValueError(f"the source has no module {top}")
    kept = _below(modules, top)
    edits: list[tuple[int, int, str]] = []
    for name, found in modules.items():
        edits += _edits(found, kept) if name in kept else [(found.start(), found.end(), "")]
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _names(modules: set[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\.)\b(?:{'|'.join(map(re.escape, sorted(modules)))})\b")


def _below(modules: dict[str, re.Match[str]], top: str) -> set[str]:
    """``top`` and all modules below it."""
    name = _names(set(modules))
    kept, left = set(), [top]
    while left:
        module = left.pop()
        if module not in kept:
            kept.add(module)
            left += name.findall(modules[module][3])
    return kept


def _edits(module: re.Match[str], kept: set[str]) -> Iterator[tuple[int, int, str]]:
    """Edits of the text: begin, end, new text."""
    name, text, begin = module[1], module[0], module.start()
    ports = list(_PORT.finditer(module[2]))
    edges, connections = list(_EDGE.finditer(text)), list(_CONNECTION.finditer(text))
    used = len(_CLOCK.findall(text)) - len(ports) - len(edges)
    clocks = {found[1] for found in (*ports, *edges, *connections)}
    if (len(ports) > 1 or len(clocks) != len(ports) or used != 2 * len(connections)
            or len(re.findall(r"\bposedge\b", text)) != len(edges) or _FOREIGN.search(text)):
        raise ValueError(f"module {name} does not use one clock, at its rising edges only")
    for found in _names(kept).finditer(text):
        yield begin + found.end(), begin + found.end(), SUFFIX
    for found in ports:
        yield (module.start(2) + found.start(),) * 2 + ("input wire clk_en, ",)
    for found in edges:
        yield (begin + found.end(),) * 2 + (" if (!clk_en) ; else",)
    for found in connections:
        yield (begin + found.start(),) * 2 + (".clk_en(clk_en), ",)


def checked_step(step: Signal | None) -> Signal | None:
    """``step``.

    Raises
    ------
    TypeError
        It is neither a signal nor None.
    ValueError
        It is wider than a bit.
    """
    if step is not None and not isinstance(step, Signal):
        raise TypeError(f"step must be a Signal or None, not {step!r}")
    if step is not None and len(step) != 1:
        raise ValueError(f"step must be 1 bit wide, not {len(step)}")
    return step


def core_instance(module: str, *, edge: Signal, step: Signal | None, **ports: object) -> Instance:
    """An instance of core ``module``: with ``step`` of the one with a clock enable, which is
    enabled in the cycles with ``edge`` and ``step``."""
    if step is None:
        return Instance(module, **ports)
    return Instance(module + SUFFIX, i_clk_en=edge & step, **ports)
