"""Hooks for MkDocs: where the docstrings are, their roles, which Markdown does not know, and the
reference of the command line."""

import re
import tempfile
from pathlib import Path
from typing import Any

import click
from mkdocs.plugins import event_priority
from nicbed.testbench.cli import nicbed

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("__init__.py", "host", "layouts", "testbench")

_ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod|py:\w+):<code>[~.]?([^<]*)</code>")
_DEFAULT = re.compile(r"\s*\[default: (.*)\]$")
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


def _parameter(parameter: click.Parameter, context: click.Context) -> str:
    """A row of a command's table: names and value, default, help text."""
    name = parameter.make_metavar(context)
    text, default = "", ""
    if isinstance(parameter, click.Option):
        name = ", ".join(parameter.opts) + ("" if parameter.is_flag else f" {name}")
        text = parameter.help or ""
        if parameter.show_default and isinstance(parameter.default, (str, int)):
            default = f"`{parameter.default}`"
        elif found := _DEFAULT.search(text):
            text, default = text[:found.start()], found[1]
    return f"| `{name.replace('|', '&#124;')}` | {default} | {text.replace('|', '&#124;')} |"


def _commands() -> list[tuple[str, click.Command]]:
    """Every command with its name; of a group itself and its commands."""
    found = []
    for name, command in nicbed.commands.items():
        found.append((name, command))
        if isinstance(command, click.Group):
            found += [(f"{name} {part}", one) for part, one in command.commands.items()]
    return found


def command_line() -> str:
    """Markdown of every command: usage, what it does, arguments and options with their default."""
    lines = []
    for name, command in _commands():
        context = click.Context(command, info_name=f"nicbed {name}",
                                parent=None, **command.context_settings)
        lines += [f"## {name}", "", " ".join((command.help or "").split()), "",
                  f"    nicbed {name} {' '.join(command.collect_usage_pieces(context))}", ""]
        options = [one for one in command.params if isinstance(one, click.Option)]
        if options:
            lines += ["| option | default | meaning |", "| --- | --- | --- |",
                      *(_parameter(one, context) for one in options), ""]
    return "\n".join(lines)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page of the command line gets its commands."""
    return markdown.replace("<!-- commands -->", command_line())


def on_page_content(html: str, **_: Any) -> str:
    """``:class:`Port``` is shown as ``Port``."""
    return _ROLE.sub(r"<code>\1</code>", html)
