"""``nicbed whatif``: each knob halved, doubled and made free, one at a time."""

from collections.abc import Sequence
from pathlib import Path

from ..results import document as files
from ..store import standard
from ..sweeps.executor import Local
from .measure import Plots, check_places
from .output import Terminal, finish, progress_bar

__all__ = ["run_whatif"]


def run_whatif(nic: str, *, overrides: Sequence[str], layer: str, knobs: Sequence[str],
               workers: int, fresh: bool, out: Path) -> None:
    """Measure all changes; print, plot and store what they do."""
    from ..results.tables import console
    from ..whatif import Question, ask
    from ..whatif.report import draw, lines

    question = Question.of(nic, overrides=overrides, layer=layer, patterns=knobs)
    check_places(out)
    plots = Plots()
    with progress_bar("whatif") as tell:
        document = ask(question, Local(workers, store=standard(), fresh=fresh,
                                       warn=Terminal().warn), tell)
    path = out / f"{files.stem(document)}.json"
    text = files.text(document)
    files.save(path, text.encode())
    plots.save(draw, document, path)

    def show() -> None:
        shown = console(pipe=132)
        for item in lines(document):
            shown.print(item)

    finish(text, show, path)
