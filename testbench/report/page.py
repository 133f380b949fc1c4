"""The page: the sections of result files in one document, with everything it needs inside."""

import json
from collections.abc import Sequence
from pathlib import Path

from .sections import section

__all__ = ["page"]


def page(paths: Sequence[Path], title: str = "") -> str:
    """A page of the results in ``paths``: result files, tables of sweeps, time lines.

    Raises
    ------
    UserError
        A file cannot be read, or is none of these.
    """
    from jinja2 import Environment, StrictUndefined
    from plotly.offline import get_plotlyjs

    sections = [section(path) for path in paths]
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True,
                              lstrip_blocks=True)
    figures = [plot.figure for one in sections for plot in one.plots if plot.figure is not None]
    return environment.from_string(_asset("page.html")).render(
        title=title or " · ".join(dict.fromkeys(one.title for one in sections)),
        sections=sections, style=_asset("page.css"), script=_asset("page.js"),
        plotly=get_plotlyjs() if figures else "",
        figures=json.dumps(figures, ensure_ascii=False).replace("</", "<\\/"))


def _asset(name: str) -> str:
    return (Path(__file__).parent / "assets" / name).read_text(encoding="utf-8")
