"""README.md and the tutorials show what commands print. ``--update`` rewrites them.

A block that begins with ``$ ./nicbed …`` holds the command and its standard output. A block
whose first line is ``# NAME.py``, or of C ``/* NAME.c */``, is a file that the commands behind it
find; they find ``examples/``, too. A line ``…`` stands for output that the page leaves out.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.labs.rows import more

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/tutorials/first-measurement.md", "docs/tutorials/experiment.md",
         "docs/how-to/split-c.md", "docs/tutorials/mpi.md",
         *(more(page, id=page) for page in ("docs/how-to/smp.md", "docs/how-to/nics.md",
                                            "docs/how-to/nas.md", "docs/how-to/why.md",
                                            "docs/how-to/report.md", "docs/how-to/calibrating.md")))
UPDATE = "run: ./nicbed test -k printed --update"

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"(?:# |/\* )(\w+\.(?:py|toml|c))(?: \*/)?\n")
PROMPT = "$ ./nicbed "
LEFT_OUT = "…"
RESULT = re.compile(r"results/[\w-]+\.json")


def printed(command: str, folder: Path) -> str:
    """The standard output of ``nicbed command`` in a pipe, without spaces at the ends of lines."""
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    run = subprocess.run([sys.executable, "-m", "nicbed.testbench.cli", *shlex.split(command)],
                         cwd=folder, env=environment, capture_output=True, text=True,
                         timeout=1800)
    assert run.returncode == 0, run.stderr
    return "\n".join(line.rstrip() for line in run.stdout.splitlines()) + "\n"


def shortened(shown: str, output: str) -> str:
    """``output`` without what ``shown`` leaves out: as many lines before it and behind it."""
    lines, before = output.splitlines(), shown.splitlines()
    if LEFT_OUT not in before:
        return output
    begin = before.index(LEFT_OUT)
    end = len(lines) - (len(before) - begin - 1)
    assert begin < end, "the page leaves nothing out"
    return "\n".join([*lines[:begin], LEFT_OUT, *lines[end:]]) + "\n"


def executed(text: str, folder: Path) -> str:
    """The page ``text`` with what its commands print, its files laid in ``folder``. A result file
    that has another name now has it in the commands behind, too."""
    names: dict[str, str] = {}
    if not (folder / "examples").exists():
        (folder / "examples").symlink_to(ROOT / "examples")

    def block(found: re.Match[str]) -> str:
        language, content = found.groups()
        if name := FILE.match(content):
            (folder / name[1]).write_text(content, encoding="utf-8")
        if not content.startswith(PROMPT):
            return found[0]
        command, _, shown = content.partition("\n")
        command = RESULT.sub(lambda found: names.get(found[0], found[0]), command)
        output = shortened(shown, printed(command.removeprefix(PROMPT), folder))
        names.update(zip(RESULT.findall(shown), RESULT.findall(output), strict=False))
        return f"```{language}\n{command}\n{output}```"

    return BLOCK.sub(block, text)


@pytest.mark.parametrize("page", PAGES)
def test_page_shows_what_commands_print(request, tmp_path, page):
    path = ROOT / page
    shown = path.read_text(encoding="utf-8")
    assert PROMPT in shown
    found = executed(shown, tmp_path)
    if request.config.getoption("--update"):
        path.write_text(found, encoding="utf-8")
        return
    assert shown == found, UPDATE


def test_a_page_that_shows_something_else_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.printed", lambda command, folder: f"{command} in cycles\n")
    page = "Text\n\n```\n$ ./nicbed bench rtt\nbench rtt in miles\n```\n\n```c\nint a;\n```\n"
    assert executed(page, tmp_path) == page.replace("miles", "cycles")


def test_a_result_file_of_another_name_is_found_by_the_commands_behind(tmp_path, monkeypatch):
    def printed(command, folder):
        return "results/rtt-2.json\n" if command == "bench rtt" else f"{command.split()[-1]}: 5\n"

    monkeypatch.setattr(f"{__name__}.printed", printed)
    page = ("```\n$ ./nicbed bench rtt\nresults/rtt-1.json\n```\n"
            "```\n$ ./nicbed report results/rtt-1.json\nresults/rtt-1.json: 5\n```\n")
    assert executed(page, tmp_path) == page.replace("rtt-1", "rtt-2")


def test_output_is_left_out_where_the_page_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.printed", lambda command, folder: "a\nb\nc\nd\n")
    page = "```\n$ ./nicbed bench rtt\na\n…\nd\n```\n"
    assert executed(page, tmp_path) == page
    assert executed(page.replace("d\n", "e\n"), tmp_path) == page
