"""docs/ as a site: MkDocs builds it without a warning, and lists are lists in it."""

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from nicbed.testbench.cli import nicbed

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))

FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
ITEM = re.compile(r"(?:[-*]|\d+\.) ")


def glued(text: str) -> list[str]:
    """First lines of lists that stand right under a paragraph: Markdown as MkDocs reads it takes
    them for a part of that paragraph."""
    found, before = [], ""
    for line in FENCED.sub("", text).splitlines():
        if ITEM.match(line) and before and before[0] not in " #" and not ITEM.match(before):
            found.append(line)
        before = line
    return found


def test_glued_lists_are_found():
    assert glued("Now:\n- one\n- two\n") == ["- one"]
    assert not glued("Now:\n\n- one\n  goes on\n- two\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lists_have_an_empty_line_above(page):
    assert not glued(page.read_text(encoding="utf-8"))


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """MkDocs over the project, into ``folder``. With --quiet, --strict would count no warnings."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT, env=dict(os.environ, NO_MKDOCS_2_WARNING="1"), capture_output=True, text=True,
        timeout=900)


def test_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs")
    run = build(tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    reference = (tmp_path / "reference" / "python.html").read_text(encoding="utf-8")
    assert "VipPostSend" in reference and ":class:" not in reference
    check_command_line((tmp_path / "reference" / "command-line.html").read_text(encoding="utf-8"))
    for page in tmp_path.rglob("*.html"):
        assert "fonts.googleapis" not in page.read_text(encoding="utf-8"), page


def check_command_line(page: str) -> None:
    """Every command and each of its options is on the page, with help and default."""
    sections = {found[1]: found[2] for found in
                re.finditer(r'<h2 id="([\w-]+)">(.*?)(?=<h2|</article>)', page, re.DOTALL)}
    commands = dict(nicbed.commands)
    for name, group in nicbed.commands.items():
        if isinstance(group, click.Group):
            commands |= {f"{name}-{part}": one for part, one in group.commands.items()}
    assert "store-prune" in commands and set(sections) == set(commands)
    for name, command in commands.items():
        text = " ".join(html.unescape(re.sub(r"<[^>]*>", "", sections[name])).split())
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert all(option in text for option in parameter.opts), (name, parameter.name)
                assert parameter.help, (name, parameter.name)
                told = parameter.help.split("  [default")[0].replace("`", "")
                assert " ".join(told.split()) in text, (name, parameter.name)
                if parameter.show_default and isinstance(parameter.default, (str, int)):
                    assert str(parameter.default) in text, (name, parameter.name)

