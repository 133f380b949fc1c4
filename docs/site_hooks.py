"""What MkDocs calls: where the docstrings are, and their roles, which Markdown does not know."""

import re
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.plugins import event_priority

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("__init__.py", "host", "layouts", "testbench")

_ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod|py:\w+):<code>[~.]?([^<]*)</code>")
_package = tempfile.TemporaryDirectory()


@event_priority(100)  # before mkdocstrings reads its paths
def on_config(config: Any) -> Any:
    """The package's folders lie at the root; here they lie in a folder that is called nicbed."""
    package = Path(_package.name) / "nicbed"
    package.mkdir(exist_ok=True)
    for part in PARTS:
        if (ROOT / part).exists() and not (package / part).exists():
            (package / part).symlink_to(ROOT / part)
    config["plugins"]["mkdocstrings"].config["handlers"]["python"]["paths"] = [_package.name]
    return config


def on_page_content(html: str, **_: Any) -> str:
    """``:class:`Port``` is shown as ``Port``."""
    return _ROLE.sub(r"<code>\1</code>", html)
