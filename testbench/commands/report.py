"""``nicbed report``: results on one page for a browser."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from ..errors import UserError
from .output import MODE, Mode

__all__ = ["run_report"]


def run_report(files: Sequence[Path], to: Path, *, title: str) -> None:
    """Write the page of ``files`` to ``to`` and print where it is."""
    for package in ("plotly", "jinja2"):
        if find_spec(package) is None:
            raise UserError(f"report needs {package}: pip install 'nicbed[lab]'")
    from ..page import page
    from ..report.document import check_folder, save

    check_folder(to.parent)
    save(to, page(files, title).encode())
    if MODE.get() is not Mode.QUIET:
        print(f"{len(files)} result{'' if len(files) == 1 else 's'} on one page, which opens in a "
              "browser and needs no network")
    print(to, flush=True)
