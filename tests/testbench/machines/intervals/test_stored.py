"""The intervals that come with nicbed, and their part of docs/explanation/reproduction.md.
``--update`` rewrites that part and the picture; ``--full`` measures some points again."""

import json

import pytest
from nicbed.testbench.machines import studies
from nicbed.testbench.machines.intervals.drawing import draw
from nicbed.testbench.machines.intervals.experiment import sampled
from nicbed.testbench.machines.intervals.families import families
from nicbed.testbench.machines.intervals.result import plain_family
from nicbed.testbench.machines.intervals.section import HEADLINE, IMAGE, lines, replaced
from nicbed.testbench.machines.intervals.stored import FOLDER, identity, rows, stored
from nicbed.testbench.machines.page import PAGE
from nicbed.testbench.results import plots
from nicbed.testbench.results.document import plain

IMAGES = PAGE.parents[1] / "images"
UPDATE = "run: ./nicbed test -k intervals --update"
DOCUMENTS = stored(studies.chosen(None, long=True))
KNOWN = {name: studies.study(name) for name in studies.names()}
IDS = ["+".join(document["tables"]) for document in DOCUMENTS]
AGAIN = 2
"""Points of a family that are measured again."""


def chosen(document):
    """What the document's command measured."""
    return studies.chosen(document["command"].split()[2], long=True)


def test_every_file_is_of_a_table():
    assert len(DOCUMENTS) == len(list(FOLDER.iterdir())) > 0


@pytest.mark.parametrize("document", DOCUMENTS, ids=IDS)
def test_intervals_are_of_these_figures_and_descriptions(document):
    [(_, tables)] = chosen(document)
    assert document["of"] == identity(tables), (
        f"figures or descriptions have changed: run {document['command']}, and put its result "
        f"file into {FOLDER}")


@pytest.mark.parametrize("document", DOCUMENTS, ids=IDS)
def test_a_figure_outside_has_a_mechanism_that_the_model_lacks(document):
    [(_, [table])] = chosen(document)
    for one in rows(document):
        if one.inside is False:
            assert table.figure(one.machine, one.name).lacks, (one.machine, one.name)


def test_the_page_has_them(request):
    page = PAGE.read_text(encoding="utf-8")
    section = lines(DOCUMENTS, KNOWN, "../images/")
    if request.config.getoption("--update"):
        PAGE.write_text(replaced(page, section), encoding="utf-8")
        every = [one for document in DOCUMENTS for one in rows(document)]
        drawn = plots.render(lambda document, figure: draw(every, figure), {})
        (IMAGES / f"{IMAGE}.png").write_bytes(drawn[".png"])
        return
    assert HEADLINE in page and replaced(page, section) == page, UPDATE


@pytest.mark.full
@pytest.mark.parametrize("document", DOCUMENTS, ids=IDS)
def test_points_are_measured_again(document):
    points, seed = (int(document["command"].split()[index]) for index in (5, 7))
    for family in families(chosen(document)):
        again = plain(plain_family(sampled(family, points, seed, first=AGAIN)))
        was = document["families"][family.name]
        assert json.loads(json.dumps(again["samples"])) == was["samples"][:AGAIN]
