"""``nicbed report``: results on one page for a browser, or as another simulator's input."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from ..errors import UserError, nearest
from ..wording import counted
from .output import MODE, Mode

__all__ = ["run_export", "run_report"]


def run_report(files: Sequence[Path], to: Path, *, title: str) -> None:
    """Write the page of ``files`` to ``to`` and print where it is."""
    for package in ("plotly", "jinja2"):
        if find_spec(package) is None:
            raise UserError(f"report needs {package}: pip install 'nicbed[lab]'")
    from ..report import page
    from ..results.document import check_folder, save

    check_folder(to.parent)
    save(to, page(files, title).encode())
    if MODE.get() is not Mode.QUIET:
        print(f"{counted(len(files), 'result')} on one page, which opens in a "
              "browser and needs no network")
    print(to, flush=True)


def run_export(files: Sequence[Path], form: str, to: Path | None) -> None:
    """Write LogGP of ``files`` in ``form`` to ``to``, or print it."""
    from ..exports import FORMATS, parameters, written

    if form not in FORMATS:
        raise UserError(f"--export {form}: no such format{nearest(form, list(FORMATS))}")
    text = written(form, parameters(files))
    if to is None:
        print(text, end="", flush=True)
        return
    from ..results.document import save

    save(to, text.encode())
    print(to, flush=True)
