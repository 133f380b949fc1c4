"""Each decision is a file of one form with a number of its own, and the index lists it."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "decisions"
HOLD = sorted(FOLDER.glob("[0-9]*.md"))
SUPERSEDED = sorted((FOLDER / "superseded").glob("*.md"))
LONGEST = 15

FORM = ["Status", "Context", "Decision", "Consequences"]


def check(name: str, text: str) -> None:
    """A decision's title has its number, its four parts come in order, and it is short."""
    title, _, body = text.partition("\n")
    assert re.fullmatch(rf"# {int(name[:3])}\. .+", title), f"the title of {name} is {title!r}"
    assert re.findall(r"^\*\*(\w+)\.\*\* ", body, re.MULTILINE) == FORM, name
    lines = [line for line in body.splitlines() if line]
    assert len(lines) <= LONGEST, f"{name} has {len(lines)} lines, of at most {LONGEST}"


@pytest.mark.parametrize("page", HOLD, ids=lambda page: page.stem)
def test_decision_has_the_form(page):
    check(page.name, page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", SUPERSEDED, ids=lambda page: page.stem)
def test_superseded_decision_names_one_that_holds(page):
    text = page.read_text(encoding="utf-8")
    assert re.match(rf"# {int(page.name[:3])}\. .+\n\n\*\*Status\.\*\* ", text)
    status = text.split("\n\n")[1]
    assert set(re.findall(r"\(\.\./([^)]+)\)", status)) & {one.name for one in HOLD}, status


def test_every_decision_is_in_the_index_and_numbers_are_unique():
    linked = re.findall(r"\]\(([\w/.-]+\.md)\)", (FOLDER / "index.md").read_text(encoding="utf-8"))
    found = [str(page.relative_to(FOLDER)) for page in HOLD + SUPERSEDED]
    assert not set(found) - set(linked), "the index of docs/decisions lacks these"
    numbers = [page.name[:3] for page in HOLD + SUPERSEDED]
    assert len(numbers) == len(set(numbers))


def test_a_decision_without_the_form_is_found():
    good = "# 7. A title\n\n" + "\n\n".join(f"**{part}.** Words." for part in FORM) + "\n"
    check("007-a-title.md", good)
    for bad in (good.replace("# 7", "# 8"), good.replace("**Context.** ", ""),
                good + "line\n" * 15):
        with pytest.raises(AssertionError):
            check("007-a-title.md", bad)
